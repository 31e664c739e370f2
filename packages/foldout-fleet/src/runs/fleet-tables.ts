import { FoldoutError } from 'foldout'
import pg, { type Pool } from 'pg'
import { getErrorMessage } from '../error-message.ts'
import { getLockKey } from './machine.ts'

/**
 * A machine of a fleet.
 *
 * @example
 * ```ts
 * const describe = ({ name, isAlive, runs }: FleetMachine): string => `${name}: ${isAlive ? `${runs} runs` : 'dead'}`
 * ```
 */
export interface FleetMachine {
  readonly name: string
  /** Whether it holds its lock. The runs of one that does not are taken over by others, if there are any. */
  readonly isAlive: boolean
  /** The `applicationVersion` of its DBOS; absent if it joined with an older version of Foldout. */
  readonly version?: string
  readonly joinedAt?: string
  /** How many pieces of work it does at the moment. */
  readonly runs: number
}

/**
 * A takeover: a machine has died, and another one has its runs.
 *
 * @example
 * ```ts
 * const describe = ({ machine, by, runs }: FleetTakeover): string => `${by} took ${runs} runs of ${machine} over`
 * ```
 */
export interface FleetTakeover {
  /** The machine that died. */
  readonly machine: string
  /** The machine that took its runs over. */
  readonly by: string
  readonly runs: number
  /** By the clock of the database. */
  readonly at: string
}

export interface FleetTables {
  /** Whether anything has run in this database. */
  readonly hasRuns: boolean
  readonly hasSessions: boolean
  listMachines(): Promise<readonly Omit<FleetMachine, 'runs'>[]>
  listTakeovers(): Promise<readonly FleetTakeover[]>
  close(): Promise<void>
}

export interface FleetTablesOptions {
  readonly connectionString: string
  readonly schema: string
  readonly dbosSchema: string
}

const SHOWN_TAKEOVERS = 20
const CONNECT_TIMEOUT_MS = 10_000

/** Opens the tables of a fleet to read them. They may not exist if no machine has joined yet. */
export async function openFleetTables({
  connectionString,
  schema,
  dbosSchema,
}: FleetTablesOptions): Promise<FleetTables> {
  const pool: Pool = new pg.Pool({ connectionString, max: 2, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  pool.on('error', () => undefined)
  const read = async <Row extends object>(sql: string, values: unknown[] = []): Promise<readonly Row[]> => {
    try {
      return (await pool.query<Row>(sql, values)).rows
    } catch (error) {
      throw new FoldoutError('store-failed', `The fleet could not be read: ${getErrorMessage(error)}.`, {
        cause: error,
      })
    }
  }
  const names = {
    machines: `${quote(schema)}.machines`,
    takeovers: `${quote(schema)}.takeovers`,
    sessions: `${quote(schema)}.sessions`,
    runs: `${quote(dbosSchema)}.workflow_status`,
  }
  try {
    const sql = `SELECT ${Object.keys(names)
      .map((name, i) => `to_regclass($${i + 1}) IS NOT NULL AS ${name}`)
      .join(', ')}`
    const [known] = await read<Record<keyof typeof names, boolean>>(sql, Object.values(names))
    return {
      hasRuns: known?.runs ?? false,
      hasSessions: known?.sessions ?? false,
      listMachines: async () => {
        if (known?.machines) return (await read<MachineRow>(writeMachines(names.machines))).map(toMachine)
        return []
      },
      listTakeovers: async () => {
        if (known?.takeovers) return (await read<TakeoverRow>(writeTakeovers(names.takeovers))).map(toTakeover)
        return []
      },
      close: () => pool.end(),
    }
  } catch (error) {
    await pool.end()
    throw error
  }
}

/** Checks the lock without taking it. Rows of an older version have only a name. */
function writeMachines(table: string): string {
  return `SELECT machine.name, to_jsonb(machine) AS row, EXISTS (
      SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND ((classid::bigint << 32) | objid::bigint) = ${getLockKey('machine.name')}
    ) AS alive FROM ${table} AS machine ORDER BY machine.name`
}

function writeTakeovers(table: string): string {
  return `SELECT machine, by, runs, at FROM ${table} ORDER BY id DESC LIMIT ${SHOWN_TAKEOVERS}`
}

interface MachineRow {
  readonly name: string
  readonly row: { readonly version?: string | null; readonly joined_at?: string | null }
  readonly alive: boolean
}
interface TakeoverRow {
  readonly machine: string
  readonly by: string
  readonly runs: number
  readonly at: Date
}

function toMachine({ name, row, alive }: MachineRow): Omit<FleetMachine, 'runs'> {
  const { version, joined_at: joinedAt } = row
  return {
    name,
    isAlive: alive,
    ...(typeof version === 'string' && { version }),
    ...(typeof joinedAt === 'string' && { joinedAt: new Date(joinedAt).toISOString() }),
  }
}

function toTakeover({ at, ...row }: TakeoverRow): FleetTakeover {
  return { ...row, at: at.toISOString() }
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
