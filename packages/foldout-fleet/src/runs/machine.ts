import { FoldoutError } from 'foldout'
import pg, { type Client } from 'pg'
import { ignore } from 'foldout/promises'
import { getErrorMessage } from '../error-message.ts'

export interface MachineOptions {
  /** The name of this machine, which no other one has. */
  readonly name: string
  /** A connection to the server itself: a pooler that shares connections would lose the lock. */
  readonly connectionString: string
  readonly schema: string
  /** The version of the program, for those who look at the fleet. */
  readonly version: string
  /** How long a machine may be silent before the server closes its connection, in milliseconds. */
  readonly silenceMs: number
  /** How often to look for machines that have died. */
  readonly scanMs: number
  /** Lists the machines that have runs under way. One that died while it started may have no other trace. */
  listOwners(): Promise<readonly string[]>
  /** Takes over the runs of a dead machine, while its name stays locked. Returns how many runs there were. */
  takeOver(name: string): Promise<number>
  warn(message: string): void
}

export interface Machine {
  leave(): Promise<void>
}

const RECONNECT_MS = 200
/** Machines that never joined are checked once in this many scans. */
const SCANS_A_ROUND = 5
/** A machine that was killed and started again waits until the server has noticed. */
const MOST_LOCK_ATTEMPTS = 50

/**
 * Joins a fleet. A machine is alive as long as it holds a session-level advisory lock, on its own connection: the
 * server frees the lock when the connection ends, however the machine died, and closes the connection of a machine that
 * is silent for too long. A machine that obtains the lock of another one takes over its runs. No clocks are compared.
 */
export async function joinFleet(options: MachineOptions): Promise<Machine> {
  const { name, version, schema, scanMs, silenceMs, warn } = options
  const hasLeft = new AbortController()
  const suspects = new Set<string>()
  let client: Client | undefined
  let timer: NodeJS.Timeout | undefined

  async function connect(): Promise<void> {
    const opened = await openClient(options)
    opened.on('error', () => undefined)
    opened.once('end', () => void reconnect(opened))
    await opened.query(`SET idle_session_timeout = ${silenceMs}`)
    await lockOwnName(opened, options, hasLeft.signal)
    await opened.query(
      `INSERT INTO ${schema}.machines (name, version, joined_at) VALUES ($1, $2, now())
      ON CONFLICT (name) DO UPDATE SET version = excluded.version, joined_at = excluded.joined_at`,
      [name, version],
    )
    client = opened
    // Looking at the others is also a sign of life.
    timer = setInterval(() => void scanOnce(opened), Math.min(scanMs, silenceMs / 4))
  }
  async function reconnect(lost: Client): Promise<void> {
    if (client === lost) {
      client = undefined
      clearInterval(timer)
      // The server may have been restarted: machines that it forgot get time to come back.
      suspects.clear()
    } else return
    while (!hasLeft.signal.aborted && !client) {
      try {
        await connect()
      } catch (error) {
        if (error instanceof FoldoutError) warn(error.message)
        await sleep(RECONNECT_MS)
      }
    }
  }
  let isScanning = false
  let scans = 0
  async function scanOnce(own: Client): Promise<void> {
    if (isScanning) return
    isScanning = true
    try {
      if (scans++ % SCANS_A_ROUND === 0) await addOwners(own, options)
      await scan(own, options, suspects)
    } catch (error) {
      if (!hasLeft.signal.aborted && client === own) warn(`Other machines cannot be checked: ${getErrorMessage(error)}`)
    } finally {
      isScanning = false
    }
  }

  await prepareTable(options)
  await connect()
  return {
    async leave() {
      hasLeft.abort()
      clearInterval(timer)
      const own = client
      client = undefined
      if (!own) return
      await ignore(own.query(`DELETE FROM ${schema}.machines WHERE name = $1`, [name]), 'its entry expires by itself')
      await ignore(own.end(), 'the connection is lost already')
    },
  }
}

async function openClient({ connectionString }: Pick<MachineOptions, 'connectionString'>): Promise<Client> {
  const client = new pg.Client({ connectionString, keepAlive: true })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** Runs a job while no other machine does. The lock ends with its connection. */
export async function inTurn(connectionString: string, job: () => Promise<void>): Promise<void> {
  const client = await openClient({ connectionString })
  try {
    // Polls, because a statement that waits for the lock would block the concurrent index builds of DBOS.
    for (;;) {
      const sql = `SELECT pg_try_advisory_lock(${hashName('foldout:launch')}) AS locked`
      const { rows } = await client.query<{ locked: boolean }>(sql)
      if (rows[0]?.locked) break
      await sleep(RECONNECT_MS)
    }
    await job()
  } finally {
    await ignore(client.end(), 'the connection is lost already')
  }
}

async function prepareTable(options: MachineOptions): Promise<void> {
  const client = await openClient(options)
  try {
    const { rows } = await client.query<{ known: boolean }>('SELECT to_regclass($1) IS NOT NULL AS known', [
      `${options.schema}.takeovers`,
    ])
    if (rows[0]?.known) return
    // Two machines may begin at once.
    await client.query('BEGIN')
    await client.query(`SELECT pg_advisory_xact_lock(${hashName('foldout:machines')})`)
    for (const sql of listTables(options.schema)) await client.query(sql)
    await client.query('COMMIT')
  } finally {
    await client.end()
  }
}

/** The last table to be created shows that all exist. */
function listTables(schema: string): readonly string[] {
  return [
    `CREATE SCHEMA IF NOT EXISTS ${schema}`,
    `CREATE TABLE IF NOT EXISTS ${schema}.machines (name text NOT NULL PRIMARY KEY)`,
    `ALTER TABLE ${schema}.machines ADD COLUMN IF NOT EXISTS version text, ADD COLUMN IF NOT EXISTS joined_at timestamptz`,
    `CREATE TABLE IF NOT EXISTS ${schema}.takeovers (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      machine text NOT NULL,
      by text NOT NULL,
      runs integer NOT NULL,
      at timestamptz NOT NULL DEFAULT now()
    )`,
  ]
}

async function lockOwnName(client: Client, { name }: MachineOptions, signal: AbortSignal): Promise<void> {
  for (let attempt = 0; attempt < MOST_LOCK_ATTEMPTS && !signal.aborted; attempt++) {
    const { rows } = await client.query<{ locked: boolean }>(`SELECT pg_try_advisory_lock(${LOCK}) AS locked`, [name])
    if (rows[0]?.locked) return
    await sleep(RECONNECT_MS)
  }
  await client.end()
  throw new FoldoutError(
    'engine-invalid',
    `Another process runs as the machine '${name}'. Give each process its own executorID in DBOS.setConfig().`,
  )
}

async function addOwners(client: Client, { schema, listOwners }: MachineOptions): Promise<void> {
  const owners = await listOwners()
  if (owners.length === 0) return
  await client.query(`INSERT INTO ${schema}.machines (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`, [owners])
}

/**
 * Checks all other machines. A machine whose lock is free twice in a row is dead; after one time, it may be
 * reconnecting.
 */
async function scan(client: Client, options: MachineOptions, suspects: Set<string>): Promise<void> {
  const { schema, name, takeOver } = options
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM ${schema}.machines WHERE name <> $1 AND pg_try_advisory_lock(${LOCK.replace('$1', 'name')})`,
    [name],
  )
  const free = new Set(rows.map((row) => row.name))
  try {
    for (const dead of free) {
      if (!suspects.has(dead)) continue
      const runs = await takeOver(dead)
      await client.query(`DELETE FROM ${schema}.machines WHERE name = $1`, [dead])
      await noteTakeover(client, schema, [dead, name, runs])
      free.delete(dead)
      await client.query(`SELECT pg_advisory_unlock(${LOCK})`, [dead])
    }
  } finally {
    suspects.clear()
    for (const one of free) {
      suspects.add(one)
      await client.query(`SELECT pg_advisory_unlock(${LOCK})`, [one])
    }
  }
}

/** Records a takeover for views of the fleet; the oldest records are dropped. */
async function noteTakeover(client: Client, schema: string, takeover: [string, string, number]): Promise<void> {
  await client.query(`INSERT INTO ${schema}.takeovers (machine, by, runs) VALUES ($1, $2, $3)`, takeover)
  await client.query(
    `DELETE FROM ${schema}.takeovers WHERE id <= (SELECT max(id) FROM ${schema}.takeovers) - ${KEPT_TAKEOVERS}`,
  )
}

const KEPT_TAKEOVERS = 1000

/** Returns the SQL expression for a machine's lock key. */
export function getLockKey(name: string): string {
  return hashName('foldout:machine:', name)
}

const LOCK = getLockKey('$1')

function hashName(prefix: string, parameter?: string): string {
  if (parameter === undefined) return `hashtextextended('${prefix}', 0)`
  return `hashtextextended('${prefix}' || ${parameter}::text, 0)`
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
