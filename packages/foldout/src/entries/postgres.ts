/**
 * Sessions in PostgreSQL for several machines, and other data that is stored there.
 *
 * @module foldout/postgres
 */

export { createPostgresStore } from '../session/stores/postgres/postgres-store.ts'
export { isPostgresAway, openPostgres } from '../session/stores/postgres/database.ts'
export type {
  PostgresAnswer,
  PostgresClient,
  PostgresDatabase,
  PostgresPool,
  PostgresStoreOptions,
  PostgresTables,
} from '../session/stores/postgres/database.ts'
