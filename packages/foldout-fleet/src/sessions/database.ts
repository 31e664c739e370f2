import { getErrorCode } from 'foldout-shared/error-codes'
import { FoldoutError } from 'foldout'
import { checkNumbers } from 'foldout/durable'
import pg from 'pg'
import { getErrorMessage } from '../error-message.ts'

/**
 * The result of a statement.
 *
 * @example
 * ```ts
 * const { rows }: PostgresAnswer = await pool.query('SELECT 1 AS one')
 * ```
 */
export interface PostgresAnswer {
  readonly rows: readonly unknown[]
  readonly rowCount: number | null
}

/**
 * A connection of a {@link PostgresPool}.
 *
 * @example
 * ```ts
 * const client: PostgresClient = await pool.connect()
 * client.release()
 * ```
 */
export interface PostgresClient {
  query(sql: string, values?: unknown[]): Promise<PostgresAnswer>
  release(error?: Error | boolean): void
  on?(event: 'error', listener: (error: Error) => void): unknown
  off?(event: 'error', listener: (error: Error) => void): unknown
}

/**
 * The parts of a connection pool that a store needs. A `Pool` of the package `pg` has them.
 *
 * @example
 * ```ts
 * const pool: PostgresPool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
 * ```
 */
export interface PostgresPool {
  query(sql: string, values?: unknown[]): Promise<PostgresAnswer>
  connect(): Promise<PostgresClient>
}

/**
 * Options of {@link createPostgresStore}.
 *
 * @example
 * ```ts
 * const options: PostgresStoreOptions = { pool: new pg.Pool({ connectionString: process.env.DATABASE_URL }), schema: 'agents' }
 * ```
 */
export interface PostgresStoreOptions {
  /** The connections to use. They stay open when the store is closed. */
  readonly pool?: PostgresPool
  /** Where the database is, if there is no `pool`. The store then has connections of its own. */
  readonly connectionString?: string
  /** The schema of the tables, which is created if it does not exist. Default `'foldout'`. */
  readonly schema?: string
  /** How long a statement is tried again while the database cannot be reached, in milliseconds. Default 30,000. */
  readonly retryMs?: number
}

/**
 * Tables that {@link openPostgres} creates or updates.
 *
 * @example
 * ```ts
 * const tables: PostgresTables = {
 *   title: 'notes',
 *   versionTable: 'notes_version',
 *   version: 1,
 *   listStatements: (schema) => [`CREATE TABLE IF NOT EXISTS ${schema}.notes (id text PRIMARY KEY, note text)`],
 * }
 * ```
 */
export interface PostgresTables {
  /** What the tables hold, for messages, such as `session store`. */
  readonly title: string
  /** The table that has the version of the tables. It is created too. */
  readonly versionTable: string
  readonly version: number
  /** The statements that create the tables, or update those of any earlier version. They run in one transaction. */
  listStatements(schema: string): readonly string[]
}

/**
 * A database that is reached again after it was away for a while.
 *
 * @example
 * ```ts
 * const count = async ({ schema, run }: PostgresDatabase) => (await run('be read', `SELECT FROM ${schema}.notes`)).rowCount
 * ```
 */
export interface PostgresDatabase {
  /** The name of the schema, quoted. */
  readonly schema: string
  /**
   * Runs one statement. The statement may be tried again after it has run, so it must be repeatable. `what` completes
   * the sentence "The notes could not …". Without `patienceMs`, the database is awaited for as long as `retryMs` says.
   */
  run(what: string, sql: string, values?: readonly unknown[], patienceMs?: number): Promise<PostgresAnswer>
  /** Runs several statements as one transaction. It is tried again as a whole. */
  inTransaction<Result>(
    what: string,
    job: (client: PostgresClient) => Promise<Result>,
    patienceMs?: number,
  ): Promise<Result>
  close(): Promise<void>
}

const DEFAULT_RETRY_MS = 30_000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1000
/** "FLDT": migrations of all schemas of a database wait for one another. */
const MIGRATION_LOCK = 0x46_4c_44_54

/**
 * Connects to a database and creates or updates tables there, which several processes may do at once. Statements wait while the
 * database is away, such as during a restart. It works behind pgbouncer in transaction mode.
 *
 * @example
 * ```ts
 * const database = await openPostgres(
 *   { connectionString: process.env.DATABASE_URL ?? '' },
 *   {
 *     title: 'notes',
 *     versionTable: 'notes_version',
 *     version: 1,
 *     listStatements: (schema) => [`CREATE TABLE IF NOT EXISTS ${schema}.notes (id text PRIMARY KEY, note text)`],
 *   },
 * )
 * await database.run('be written', `INSERT INTO ${database.schema}.notes VALUES ($1, $2) ON CONFLICT DO NOTHING`, ['1', 'Hello.'])
 * await database.close()
 * ```
 */
export async function openPostgres(options: PostgresStoreOptions, tables: PostgresTables): Promise<PostgresDatabase> {
  checkNumbers({ retryMs: options.retryMs }, { code: 'session-invalid' })
  const schema = quoteName(options.schema ?? 'foldout', tables)
  const { pool, close } = await openPool(options, tables)
  const patience = options.retryMs ?? DEFAULT_RETRY_MS
  let isOpen = true
  const attempt = <T>(what: string, patienceMs: number, job: () => Promise<T>): Promise<T> => {
    if (!isOpen) throw new FoldoutError('store-closed', `The ${tables.title} in PostgreSQL is closed. Open it again.`)
    return withRetries(`The ${tables.title} in PostgreSQL could not ${what}`, patienceMs, job)
  }
  const database: PostgresDatabase = {
    schema,
    run: (what, sql, values = [], patienceMs = patience) =>
      attempt(what, patienceMs, () => pool.query(sql, values as unknown[])),
    inTransaction: (what, job, patienceMs = patience) => attempt(what, patienceMs, () => runTransaction(pool, job)),
    async close() {
      if (!isOpen) return
      isOpen = false
      await close()
    },
  }
  try {
    await migrate(database, tables)
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

async function openPool(
  options: PostgresStoreOptions,
  { title }: PostgresTables,
): Promise<{ pool: PostgresPool; close(): Promise<void> }> {
  if (options.pool) return { pool: options.pool, close: async () => undefined }
  if (options.connectionString === undefined) {
    throw new FoldoutError(
      'store-failed',
      `The ${title} has no database. Pass a pool of the package pg, or a connectionString.`,
    )
  }
  const pool = new pg.Pool({ connectionString: options.connectionString })
  // A connection that is lost while nobody uses it is replaced when one is needed.
  pool.on('error', () => undefined)
  return { pool: pool as unknown as PostgresPool, close: () => pool.end() }
}

async function runTransaction<Result>(
  pool: PostgresPool,
  job: (client: PostgresClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  let broken: Error | undefined
  // Without a listener, a connection that is lost between two statements would end the process.
  const note = (error: Error): void => void (broken = error)
  client.on?.('error', note)
  try {
    await client.query('BEGIN')
    const result = await job(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: unknown) => {
      if (failure instanceof Error) broken = failure
      else broken = new Error(String(failure))
    })
    throw error
  } finally {
    client.off?.('error', note)
    client.release(broken)
  }
}

/** Creates the tables. The lock belongs to the transaction, so it also works behind a pooler that shares connections. */
async function migrate(database: PostgresDatabase, tables: PostgresTables): Promise<void> {
  const { schema } = database
  // Usually there is nothing to do, and a user who may not create tables must not need to.
  const version = await readVersion((sql, values) => database.run('be opened', sql, values), schema, tables)
  if (version === tables.version) return
  refuseLater(schema, version, tables)
  const versions = `${schema}.${tables.versionTable}`
  await database.inTransaction('be prepared', async (client) => {
    await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
    // A later version may have held the lock, and must not be overwritten.
    const version = await readVersion((sql, values) => client.query(sql, values), schema, tables)
    if (version === tables.version) return
    refuseLater(schema, version, tables)
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
    for (const sql of tables.listStatements(schema)) await client.query(sql)
    await client.query(`CREATE TABLE IF NOT EXISTS ${versions} (version integer NOT NULL PRIMARY KEY)`)
    await client.query(`INSERT INTO ${versions} VALUES ($1) ON CONFLICT DO NOTHING`, [tables.version])
  })
}

async function readVersion(
  query: PostgresPool['query'],
  schema: string,
  { versionTable }: PostgresTables,
): Promise<number> {
  const table = `${schema}.${versionTable}`
  const { rows } = await query(`SELECT to_regclass($1) IS NOT NULL AS known`, [table])
  const [found] = rows as readonly { readonly known: boolean }[]
  if (!found?.known) return 0
  const answer = await query(`SELECT max(version) AS version FROM ${table}`)
  const [row] = answer.rows as readonly { readonly version: number | null }[]
  return row?.version ?? 0
}

function refuseLater(schema: string, version: number, tables: PostgresTables): void {
  if (version <= tables.version) return
  throw new FoldoutError(
    'store-version',
    `The ${tables.title} in the PostgreSQL schema ${schema} has version ${version}; this version of Foldout reads up to version ${tables.version}. Update foldout. Nothing was changed.`,
  )
}

function quoteName(name: string, { title }: PostgresTables): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(name)) return `"${name}"`
  throw new FoldoutError(
    'store-failed',
    `'${name}' cannot be the schema of a ${title}. Use up to 63 lower-case letters, digits and underscores.`,
  )
}

/** Runs a job until it succeeds, fails for a reason that will not go away, or the database has been away for too long. */
async function withRetries<T>(what: string, patience: number, job: () => Promise<T>): Promise<T> {
  let waited = 0
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await job()
    } catch (error) {
      if (error instanceof FoldoutError) throw error
      if (!isPostgresAway(error) || waited >= patience) throw toStoreError(what, error)
      await new Promise((resolve) => setTimeout(resolve, pause))
      waited += pause
    }
  }
}

function toStoreError(what: string, error: unknown): FoldoutError {
  return new FoldoutError('store-failed', `${what}: ${getErrorMessage(error)}.`, { cause: error })
}

/**
 * Errors of the network; of a server that was shut down, has crashed or is starting; of a pooler that lost its server; and of
 * two transactions that waited for each other, of which this one was chosen to be repeated.
 */
const AWAY =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|57P0[1235]|08...|53...|40001|40P01)$/

/**
 * Whether an error means that the database is away, rather than that a statement is wrong.
 *
 * @example
 * ```ts
 * const advice = (error: unknown) => (isPostgresAway(error) ? 'Try again later.' : 'Check the statement.')
 * ```
 */
export function isPostgresAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isPostgresAway)
  if (error instanceof FoldoutError && error.code === 'store-failed') return isPostgresAway(error.cause)
  const code = getErrorCode(error) ?? ''
  if (AWAY.test(code)) return true
  // The package pg has no codes for connections that end.
  return (
    code === '' &&
    /connection (terminated|ended|closed)|timeout (exceeded|expired)|not queryable/i.test(getErrorMessage(error))
  )
}
