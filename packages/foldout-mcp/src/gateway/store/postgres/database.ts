import type { PoolConfig } from 'pg'
import {
  isPostgresAway,
  openPostgres,
  pg,
  type PostgresAnswer,
  type PostgresClient,
  type PostgresDatabase,
  type PostgresPool,
} from 'foldout-fleet'
import { ignore } from 'foldout/promises'
import { UsageError } from '../../config/config.ts'
import {
  AWAY_PAUSE_MS,
  CONNECT_TIMEOUT_MS,
  DECISION_PATIENCE_MS,
  MAX_CONNECTIONS,
  OPEN_PATIENCE_MS,
  STATEMENT_TIMEOUT_MS,
} from './limits.ts'
import { TABLES } from './tables.ts'

/** The database that gateways share. Reports when it becomes unreachable and when it is back. */
export interface SharedDatabase {
  /** The name of the schema, quoted. */
  readonly schema: string
  readonly pool: PostgresPool
  /** Runs a statement, and waits a moment if the database is unreachable. It may run twice. */
  run(what: string, sql: string, values?: readonly unknown[]): Promise<PostgresAnswer>
  /** The same without waiting, for callers that can do without the answer. */
  ask(what: string, sql: string, values?: readonly unknown[]): Promise<PostgresAnswer>
  /** Runs several statements as one transaction, once. */
  inTransaction<Result>(what: string, job: (client: PostgresClient) => Promise<Result>): Promise<Result>
  /** Settings for a connection outside the pool. */
  readonly settings: PoolConfig
  close(): Promise<void>
}

export interface DatabaseOptions {
  readonly url: string
  readonly schema: string | undefined
  /** How long to wait for an unreachable database, at the start and for decisions. */
  readonly patienceMs?: number | undefined
  onProblem(message: string): void
}

/**
 * Connects to the database, and creates the tables if they do not exist.
 *
 * @throws UsageError if it cannot be used, or an error if it is unreachable. Neither contains the URL, which has a password in it.
 */
export async function openSharedDatabase(options: DatabaseOptions): Promise<SharedDatabase> {
  const { url, schema, patienceMs, onProblem } = options
  const settings: PoolConfig = {
    connectionString: url,
    application_name: 'foldout',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
  }
  const pool = new pg.Pool({ ...settings, max: MAX_CONNECTIONS })
  // A connection lost while idle is replaced when one is needed.
  pool.on('error', () => undefined)
  const shared = pool as unknown as PostgresPool
  try {
    const database = await openPostgres(
      { pool: shared, retryMs: patienceMs ?? OPEN_PATIENCE_MS, ...(schema !== undefined && { schema }) },
      TABLES,
    )
    const watched = watchAvailability(database, patienceMs ?? DECISION_PATIENCE_MS, onProblem)
    const close = async (): Promise<void> => {
      await database.close()
      await pool.end()
    }
    return { schema: database.schema, pool: shared, settings, ...watched, close }
  } catch (error) {
    await ignore(pool.end(), 'the first error is the one to tell')
    const message = `The store cannot be used. ${(error as Error).message}`
    // Nothing is wrong with the command or the configuration if the database is only unreachable.
    if (isPostgresAway(error)) throw new Error(message, { cause: error })
    throw new UsageError(message)
  }
}

function watchAvailability(
  database: PostgresDatabase,
  patienceMs: number,
  onProblem: (message: string) => void,
): Pick<SharedDatabase, 'run' | 'ask' | 'inTransaction'> {
  let awaySince: number | undefined
  let failedAt = -Infinity
  let lastError: unknown
  const isAway = (): boolean => Date.now() - failedAt < AWAY_PAUSE_MS
  const watch = async <Result>(job: () => Promise<Result>): Promise<Result> => {
    try {
      const result = await job()
      if (awaySince !== undefined) {
        onProblem(`The store is back after ${Math.ceil((Date.now() - awaySince) / 1_000)} s.`)
        awaySince = undefined
      }
      failedAt = -Infinity
      return result
    } catch (error) {
      if (!isPostgresAway(error)) throw error
      failedAt = Date.now()
      lastError = error
      if (awaySince === undefined)
        onProblem(
          `The store is unreachable. Calls that need an approval or have a quota are refused until it is back; other calls keep working. ${(error as Error).message}`,
        )
      awaySince ??= failedAt
      throw error
    }
  }
  return {
    // The first caller waits for an unreachable database. Those right after it try once.
    run: (what, sql, values) => watch(() => database.run(what, sql, values, isAway() ? 0 : patienceMs)),
    async ask(what, sql, values) {
      // Otherwise every call would wait for its own connection attempt to fail.
      if (isAway()) throw lastError
      return watch(() => database.run(what, sql, values, 0))
    },
    inTransaction: (what, job) => watch(() => database.inTransaction(what, job, 0)),
  }
}

/** Removes what PostgreSQL cannot store: null characters and lone surrogates. */
export function toText(text: string): string {
  return text.replaceAll(/\0|\p{Surrogate}/gu, '\uFFFD')
}
