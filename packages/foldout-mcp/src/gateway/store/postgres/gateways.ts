import { randomUUID } from 'node:crypto'
import { ignore } from 'foldout/promises'
import { CONNECT_TIMEOUT_MS, GONE_MS, SILENT_MS } from './limits.ts'
import type { GatewayRegister, GatewayStatus } from '../contract/gateway-store.ts'
import type { Changes } from './changes.ts'
import { toText, type SharedDatabase } from './database.ts'
import type { Line } from './line.ts'

/** The first part of a UUID. */
const MARK_LENGTH = 8

/** The key of the lock that a gateway holds. */
const getKey = (name: string): string => `hashtextextended('foldout:gateway:' || ${name}::text, 0)`

/**
 * Each gateway has a row, and holds a lock on its own connection. The database frees the lock when that connection
 * ends, however the gateway ended. A pooler may keep it longer; then the row tells how long ago the gateway last reported.
 */
export function createGatewayRows(database: SharedDatabase, line: Line, changes: Changes): GatewayRegister {
  const table = `${database.schema}.gateways`
  const names = new Set<string>()
  const mark = randomUUID().slice(0, MARK_LENGTH)
  return {
    mark,
    async join({ host, pid, version, url }) {
      const name = `${mark}${randomUUID().slice(MARK_LENGTH)}`
      names.add(name)
      const isOld = `seen_at < now() - interval '${GONE_MS} milliseconds'`
      await database.run('be written', `DELETE FROM ${table} WHERE ${isOld}`)
      await new Promise<void>((resolve) => {
        line.whenOpen(async (client) => {
          await client.query(`SELECT pg_try_advisory_lock(${getKey('$1')})`, [name])
          resolve()
        })
        setTimeout(resolve, CONNECT_TIMEOUT_MS).unref()
      })
      const values = [name, toText(host), pid, toText(version), url === undefined ? null : toText(url)]
      const sql = `INSERT INTO ${table} (name, host, pid, version, url) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (name) DO UPDATE SET seen_at = now()`
      await database.run('be written', sql, values)
      changes.everyPoll(async () => names.has(name) && database.ask('be written', sql, values))
    },
    async leave() {
      const left = [...names]
      names.clear()
      if (left.length > 0)
        await ignore(
          database.ask('be written', `DELETE FROM ${table} WHERE name = ANY($1::uuid[])`, [left]),
          'a gateway that does not report itself disappears',
        )
    },
    async list() {
      const { rows } = await database.run(
        'be read',
        `SELECT name, host, pid, version, url, started_at, extract(epoch FROM now() - seen_at) * 1000 AS silent_ms,
           EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
             AND ((classid::bigint << 32) | objid::bigint) = ${getKey('name')}) AS is_locked
         FROM ${table} ORDER BY started_at, name`,
      )
      return (rows as readonly GatewayRow[]).map(toStatus)
    },
  }
}

interface GatewayRow {
  readonly name: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly url: string | null
  readonly started_at: Date
  readonly silent_ms: string
  readonly is_locked: boolean
}

function toStatus({ name, host, pid, version, url, ...row }: GatewayRow): GatewayStatus {
  const silentMs = Math.max(0, Math.round(Number(row.silent_ms)))
  return {
    name,
    host,
    pid,
    version,
    url: url ?? undefined,
    state: getState(row.is_locked, silentMs),
    startedAt: row.started_at.toISOString(),
    silentMs,
  }
}

function getState(isLocked: boolean, silentMs: number): GatewayStatus['state'] {
  if (!isLocked) return 'gone'
  if (silentMs > SILENT_MS) return 'silent'
  return 'alive'
}
