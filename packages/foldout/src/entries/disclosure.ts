/**
 * Building blocks for your own disclosure strategy or your own loop.
 *
 * @module foldout/disclosure
 */

export type {
  DisclosureStrategy,
  DisclosureView,
  FoldedSection,
  OpeningCall,
  OpeningRequest,
  StrategyOptions,
} from '../disclosure/strategy.ts'
export { planOpening, resolveKeys, type OpeningPlan, type ResolvedKeys } from '../disclosure/engine.ts'
export { answerByRestart, answerInPlace } from '../disclosure/tools.ts'
export { applyOpening, chooseAnswer, describeOpened, getNewTools, type OpeningAnswer } from '../disclosure/opening.ts'
export { describeFoldedTool, describeUnknownTool, type HintSource } from '../disclosure/hints.ts'
export type { Opening } from '../tools/result.ts'
export type { Expansion } from '../agent/policy.ts'
export type { ContextFilesOptions } from '../disclosure/strategies/context-files.ts'
