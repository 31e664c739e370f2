/**
 * For agents and gateways that outgrow one machine: sessions in PostgreSQL, and durable runs on DBOS.
 *
 * @module foldout-fleet
 */

export { createPostgresStore } from '../sessions/postgres-store.ts'
export { isPostgresAway, openPostgres } from '../sessions/database.ts'
export type {
  PostgresAnswer,
  PostgresClient,
  PostgresDatabase,
  PostgresPool,
  PostgresStoreOptions,
  PostgresTables,
} from '../sessions/database.ts'
export { createDbosEngine, type DbosEngine, type DbosEngineOptions, type FleetEvent } from '../runs/dbos-engine.ts'
export {
  openFleet,
  type Fleet,
  type FleetApproval,
  type FleetLookOptions,
  type FleetOptions,
  type FleetPicture,
  type FleetQueue,
  type FleetRun,
} from '../runs/fleet.ts'
export type { FleetMachine, FleetTakeover } from '../runs/fleet-tables.ts'
export type { DbosEnqueueOptions, DbosFilter, DbosQueueLimits, DbosSdk, DbosWorkflow } from '../runs/sdk.ts'
/** The driver of this package, for programs that open connections of their own. */
export { default as pg } from 'pg'
