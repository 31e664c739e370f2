/**
 * Runs that continue when their process or machine dies, on an engine: here, or `foldout-fleet` for several machines.
 *
 * @module foldout/durable
 */

export { createLocalEngine, createUnknownRunError, findRunWork, toRunStatus } from '../agent/engines/local-engine.ts'
export {
  defineRun,
  getRun,
  startRun,
  type DurableResult,
  type DurableRun,
  type RunHandle,
  type StartedRunOptions,
} from '../agent/engines/durable-run.ts'
export type { DurablePrompt, DurableRunOptions } from '../agent/engines/contract.ts'
export {
  getRunKey,
  type RunAddress,
  type RunEnd,
  type RunEngine,
  type RunFlow,
  type RunPage,
  type RunSignal,
  type RunStartOptions,
  type RunStatus,
  type RunWork,
} from '../agent/engines/contract.ts'
export type { RunEvent, RunEventsOptions } from '../agent/engines/run-events.ts'
export { checkNumbers, type NumberRule } from '../core/check-number.ts'
export { listWaitingApprovals } from '../agent/engines/waiting-approvals.ts'
