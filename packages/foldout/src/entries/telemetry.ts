/**
 * What runs did and cost: recordings, counters, advice and simulation.
 *
 * @module foldout/telemetry
 */

export { advise, type Advice, type AdvicePrice, type AdviseOptions } from '../telemetry/advise.ts'
export { compareDelegating, type DelegateTerms, type SectionUse } from '../core/price/delegate.ts'
export type { RefoldProposal } from '../telemetry/advise-refold.ts'
export { createCounters, type Counters } from '../telemetry/counters.ts'
export { toSimulationSteps } from '../telemetry/simulation-steps.ts'
export { createRecorder, type Recorder } from '../telemetry/recorder.ts'
export type { RecorderOptions } from '../telemetry/run-draft.ts'
export {
  readRecording,
  type RecordedAhead,
  type RecordedFold,
  type RecordedOpening,
  type RecordedReadBack,
  type RecordedRender,
  type RecordedRequest,
  type RecordedRestart,
  type RecordedRun,
  type RecordedToolCall,
  type Recording,
} from '../telemetry/recording.ts'
export type { OpeningOutcome } from '../telemetry/openings.ts'
export type { Saving } from '../telemetry/replay.ts'
export type { RunListener } from '../telemetry/runs.ts'
export {
  measurePrompt,
  type MeasureOptions,
  type PromptCosts,
  type SectionCost,
  type ToolCost,
} from '../telemetry/section-costs.ts'
export type { Bill, CacheOptions, Charge } from '../telemetry/simulate/cache.ts'
export { simulate } from '../telemetry/simulate/simulate.ts'
export {
  type SimulatedAdapter,
  type SimulatedCall,
  type SimulatedRequest,
  type SimulatedRun,
  type SimulatedNeed,
  type SimulatedTalk,
  type Simulation,
  type SimulationOptions,
  type SimulationStep,
} from '../telemetry/simulate/contract.ts'
export { findPromptCache } from '../adapters/cache/known-caches.ts'
export type { PromptCache } from '../core/price/prompt-cache.ts'
export { priceUsage, type UsageRates } from '../adapters/usage/price-usage.ts'
export { tune, type Tuned } from '../telemetry/tune/tune.ts'
export type { TuneOptions } from '../telemetry/tune/candidates.ts'
