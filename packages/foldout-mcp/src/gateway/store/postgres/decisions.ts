import { randomUUID } from 'node:crypto'
import { ignore } from 'foldout/promises'
import { UsageError } from '../../config/config.ts'
import {
  APPROVAL_ID,
  describeUnknown,
  ROUND_STATE,
  type ApprovalStore,
  type Asked,
  type Round,
  type UnapprovedCall,
  type WaitingCall,
} from '../../policy/approvals/approval-store.ts'
import { APPROVAL_MS, MAX_APPROVALS, MAX_APPROVALS_EACH } from '../../policy/approvals/limits.ts'
import type { QuotaStore } from '../../policy/quotas/quota-store.ts'
import type { SharedDatabase } from './database.ts'

const LASTS = `interval '${APPROVAL_MS} milliseconds'`
const WAITS = 'approved_at IS NULL AND denied_at IS NULL AND expires_at > now()'
const COLUMNS = `call, asked_at, extract(epoch FROM expires_at - now()) * 1000 AS left_ms`

/** Whether there are few enough rows, also of one asker. */
function hasRoom(rows: string, asker: string): string {
  return `(SELECT count(*) < ${MAX_APPROVALS} AND count(*) FILTER (WHERE asker = ${asker}) < ${MAX_APPROVALS_EACH} FROM ${rows})`
}

/** Keeps one row per call that waits or is approved. Times come from the database. */
export function createApprovalRows(database: SharedDatabase): ApprovalStore {
  const table = `${database.schema}.gateway_approvals`

  async function findAsked(binding: string): Promise<Asked> {
    const { rows } = await database.run(
      'be read',
      `SELECT denied_at IS NOT NULL AS is_denied FROM ${table}
       WHERE binding = $1 AND used_by IS NULL AND expires_at > now()`,
      [binding],
    )
    const [row] = rows as readonly { readonly is_denied: boolean }[]
    if (!row) return 'too-many'
    if (row.is_denied) return 'denied'
    return 'waiting'
  }
  /** Replaces a waiting call with the user's decision. */
  async function decide(id: string, column: 'approved_at' | 'denied_at'): Promise<WaitingCall> {
    if (!APPROVAL_ID.test(id)) throw new UsageError(describeUnknown(id))
    const { rows } = await database.run(
      'be written',
      `UPDATE ${table} SET ${column} = now(), expires_at = now() + ${LASTS}
       WHERE id = $1 AND ${WAITS} RETURNING ${COLUMNS}`,
      [id],
    )
    const [row] = rows as readonly CallRow[]
    if (!row) throw new UsageError(describeUnknown(id))
    return toWaiting(row)
  }
  return {
    // A client may reach any gateway, and is the same client everywhere.
    scope: 'shared',
    async ask(call, asker) {
      try {
        const { rowCount } = await database.run(
          'be written',
          `INSERT INTO ${table} AS known (binding, id, call, asker, expires_at)
           SELECT $1, $2, $3, $4, now() + ${LASTS}
           WHERE ${hasRoom(`${table} WHERE ${WAITS}`, '$4')}
           ON CONFLICT (binding) DO UPDATE SET call = excluded.call, asker = excluded.asker, asked_at = now(), expires_at = excluded.expires_at,
             approved_at = NULL, denied_at = NULL, used_by = NULL
           WHERE known.expires_at <= now() OR known.used_by IS NOT NULL`,
          [call.binding, call.id, JSON.stringify(call), asker],
        )
        if (rowCount === 1) return 'waiting'
        return await findAsked(call.binding)
      } catch {
        // The store has reported that it is unreachable. The call is refused anyway.
        return 'not-noted'
      }
    },
    async use(id, binding) {
      try {
        // Under a unique name, so that a repeated statement recognizes its own earlier success.
        const { rowCount } = await database.run(
          'be written',
          `UPDATE ${table} SET used_by = $3 WHERE binding = $1 AND id = $2 AND approved_at IS NOT NULL
           AND ((used_by IS NULL AND expires_at > now()) OR used_by = $3)`,
          [binding, id, randomUUID()],
        )
        return rowCount === 1
      } catch {
        return false
      }
    },
    async list() {
      const { rows } = await database.run(
        'be read',
        `SELECT ${COLUMNS} FROM ${table} WHERE ${WAITS} ORDER BY expires_at, binding`,
      )
      return (rows as readonly CallRow[]).map(toWaiting)
    },
    approve: (id) => decide(id, 'approved_at'),
    deny: (id) => decide(id, 'denied_at'),
    ...createRoundRows(database),
  }
}

/** Keeps one row per question that a modern client was asked. */
function createRoundRows(database: SharedDatabase): Pick<ApprovalStore, 'beginRound' | 'takeRound'> {
  const rounds = `${database.schema}.gateway_rounds`
  return {
    async beginRound(round, asker) {
      const state = `${ROUND_STATE}${randomUUID()}`
      try {
        const { rowCount } = await database.run(
          'be written',
          `INSERT INTO ${rounds} (state, round, asker, expires_at)
           SELECT $1, $2, $3, now() + ${LASTS}
           WHERE ${hasRoom(`${rounds} WHERE taken_by IS NULL AND expires_at > now()`, '$3')}
           ON CONFLICT (state) DO UPDATE SET round = excluded.round`,
          [state, JSON.stringify(round), asker],
        )
        if (rowCount === 1) return state
        return undefined
      } catch {
        return undefined
      }
    },
    async takeRound(state) {
      const { rows } = await database.run(
        'be written',
        `UPDATE ${rounds} SET taken_by = $2
         WHERE state = $1 AND ((taken_by IS NULL AND expires_at > now()) OR taken_by = $2) RETURNING round`,
        [state, randomUUID()],
      )
      const [row] = rows as readonly { readonly round: string }[]
      return row && (JSON.parse(row.round) as Round)
    },
  }
}

interface CallRow {
  readonly call: string
  readonly asked_at: Date
  readonly left_ms: string
}

function toWaiting({ call, asked_at: askedAt, left_ms: leftMs }: CallRow): WaitingCall {
  const kept = JSON.parse(call) as UnapprovedCall
  return { ...kept, askedAt: askedAt.toISOString(), expiresAt: Math.round(Date.now() + Number(leftMs)) }
}

/** The share of a bucket that one gateway may hold in advance: four gateways hold a hundredth. */
const AHEAD = 400
const MOST_AHEAD = 1_000

/** Keeps one row per bucket that is not full. The statement that takes tokens locks the row; refills follow the database's clock. */
export function createQuotaRows(database: SharedDatabase): QuotaStore {
  const table = `${database.schema}.gateway_quotas`
  const now = 'statement_timestamp()'
  const available = `LEAST($2::float8, known.tokens
    + GREATEST(0, extract(epoch FROM ${now} - known.updated_at)::float8) * $3::float8)`
  const getGranted = (tokens: string): string => `LEAST($4::float8, floor(${tokens}))`
  const getFullAt = (tokens: string): string =>
    `${now} + make_interval(secs => ($2::float8 - ${tokens} + ${getGranted(tokens)}) / $3::float8)`
  const take = `
    INSERT INTO ${table} AS known (key, tokens, granted, updated_at, full_at)
    VALUES ($1, $2::float8 - ${getGranted('$2::float8')}, ${getGranted('$2::float8')}, ${now}, ${getFullAt('$2::float8')})
    ON CONFLICT (key) DO UPDATE SET
      tokens = ${available} - ${getGranted(available)},
      granted = ${getGranted(available)},
      updated_at = GREATEST(known.updated_at, ${now}),
      full_at = ${getFullAt(available)}
    RETURNING granted, tokens`
  return {
    getAhead: (capacity) => Math.min(MOST_AHEAD, Math.floor(capacity / AHEAD)),
    async take({ key, capacity, refillMs }, wanted) {
      const rate = (capacity / refillMs) * 1_000
      // If it runs twice because a response was lost, tokens are lost, but no extra call is allowed.
      const { rows } = await database.run('be written', take, [key, capacity, rate, wanted])
      const [row] = rows as readonly { readonly granted: number; readonly tokens: number }[]
      const { granted = 0, tokens = 0 } = row ?? {}
      return { granted, waitMs: tokens >= 1 ? 0 : ((1 - tokens) / rate) * 1_000 }
    },
    async giveBack({ key, capacity }, tokens) {
      const statement = `UPDATE ${table} SET tokens = LEAST($2::float8, tokens + $3::float8) WHERE key = $1`
      await ignore(
        database.ask('be written', statement, [key, capacity, tokens]),
        'tokens that are lost allow no extra call',
      )
    },
  }
}
