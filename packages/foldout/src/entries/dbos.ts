/**
 * Durable runs on DBOS and PostgreSQL.
 *
 * @module foldout/dbos
 */

export {
  createDbosEngine,
  type DbosEngine,
  type DbosEngineOptions,
  type FleetEvent,
} from '../agent/engines/dbos/dbos-engine.ts'
export {
  openFleet,
  type Fleet,
  type FleetApproval,
  type FleetLookOptions,
  type FleetOptions,
  type FleetPicture,
  type FleetQueue,
  type FleetRun,
} from '../agent/engines/dbos/fleet.ts'
export type { FleetMachine, FleetTakeover } from '../agent/engines/dbos/fleet-tables.ts'
export type {
  DbosEnqueueOptions,
  DbosFilter,
  DbosQueueLimits,
  DbosSdk,
  DbosWorkflow,
} from '../agent/engines/dbos/sdk.ts'
export { createLocalEngine } from '../agent/engines/local-engine.ts'
export {
  defineRun,
  getRun,
  startRun,
  type DurablePrompt,
  type DurableResult,
  type DurableRun,
  type DurableRunOptions,
  type RunHandle,
  type StartedRunOptions,
} from '../agent/engines/durable-run.ts'
export type {
  RunAddress,
  RunEnd,
  RunEngine,
  RunFlow,
  RunPage,
  RunSignal,
  RunStartOptions,
  RunStatus,
  RunWork,
} from '../agent/engines/contract.ts'
