import { UsageError } from '../../config/config.ts'
import type { AuditEntry, AuditFilter, AuditStore } from '../../policy/audit/audit-store.ts'
import { toText, type SharedDatabase } from './database.ts'

/** Longer names are cut in the searched columns. The entry itself keeps them in full. */
const MAX_COLUMN = 500

/** Keeps one row per call, with the searchable fields in columns. */
export function createAuditRows(database: SharedDatabase, gateway: string): AuditStore {
  const table = `${database.schema}.gateway_audit`
  return {
    async append(batch, lines) {
      const rows = lines.map(toRow)
      const pick = (field: keyof AuditRow): readonly (string | null)[] => rows.map((row) => row[field] ?? null)
      await database.run(
        'be written',
        `INSERT INTO ${table} (gateway, batch, place, at, client, "user", preset, tool, outcome, entry)
         SELECT $1, $2, given.place, given.at, given.client, given."user", given.preset, given.tool, given.outcome, given.entry
         FROM unnest($3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
           WITH ORDINALITY AS given(at, client, "user", preset, tool, outcome, entry, place)
         ON CONFLICT (batch, place) DO NOTHING`,
        [
          gateway,
          batch,
          pick('at'),
          pick('client'),
          pick('user'),
          pick('preset'),
          pick('tool'),
          pick('outcome'),
          lines,
        ],
      )
    },
    async search(filter) {
      const { where, values } = writeConditions(filter)
      const { rows } = await database.run(
        'be read',
        `SELECT id, entry FROM ${table} WHERE ${where} ORDER BY id DESC LIMIT ${filter.limit + 1}`,
        values,
      )
      const found = rows as readonly { readonly id: string; readonly entry: string }[]
      const page = found.slice(0, filter.limit)
      return {
        entries: page.map(({ entry }) => JSON.parse(entry) as AuditEntry),
        next: found.length > filter.limit ? page.at(-1)?.id : undefined,
      }
    },
    async prune(keepDays) {
      await database.ask('be written', `DELETE FROM ${table} WHERE at < now() - make_interval(days => $1)`, [keepDays])
    },
  }
}

interface AuditRow {
  readonly at: string
  readonly client: string | undefined
  readonly user: string | undefined
  readonly preset: string | undefined
  readonly tool: string | undefined
  readonly outcome: string | undefined
}

function toRow(line: string): AuditRow {
  const { at, client, preset, tool, outcome } = JSON.parse(line) as AuditEntry
  const cut = (text: string | undefined): string | undefined => {
    if (text === undefined) return undefined
    return toText(text.slice(0, MAX_COLUMN))
  }
  return {
    at,
    client: cut(client?.name),
    user: cut(client?.user),
    preset: cut(preset),
    tool: cut(tool),
    outcome: cut(outcome),
  }
}

function writeConditions(filter: AuditFilter): { readonly where: string; readonly values: readonly unknown[] } {
  const values: unknown[] = []
  const add = (condition: (parameter: string) => string, value: unknown): string => condition(`$${values.push(value)}`)
  const conditions = [
    ...(filter.since ? [add((value) => `at >= ${value}`, filter.since)] : []),
    ...(filter.until ? [add((value) => `at < ${value}`, filter.until)] : []),
    ...(filter.tool === undefined ? [] : [add((value) => `tool LIKE ${value}`, toLike(filter.tool))]),
    ...(filter.user === undefined ? [] : [add((value) => `"user" LIKE ${value}`, toLike(filter.user))]),
    ...(filter.client === undefined ? [] : [add((value) => `client ILIKE ${value}`, toLike(filter.client))]),
    ...(filter.outcome === undefined ? [] : [add((value) => `outcome = ${value}`, filter.outcome)]),
    ...(filter.after === undefined ? [] : [add((value) => `id < ${value}::bigint`, readCursor(filter.after))]),
  ]
  return { where: conditions.length === 0 ? 'true' : conditions.join(' AND '), values }
}

function readCursor(after: string): string {
  if (/^\d{1,18}$/.test(after)) return after
  throw new UsageError(`'${after}' is not the end of a page of this audit log.`)
}

/** Converts one of our patterns to a PostgreSQL pattern. */
function toLike(pattern: string): string {
  return toText(pattern)
    .replaceAll(/[\\%_]/g, (character) => `\\${character}`)
    .replaceAll('*', '%')
}
