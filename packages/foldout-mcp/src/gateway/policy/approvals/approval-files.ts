import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { UsageError } from '../../config/config.ts'
import { number, object, read as readShape, string } from '../../shapes.ts'
import { createFile, isCode, readJson, replaceFile, takeFile } from '../files.ts'
import { APPROVAL_MS, MAX_APPROVALS } from '../limits.ts'
import {
  APPROVAL_ID,
  describeUnknown,
  ROUND_STATE,
  type ApprovalStore,
  type Round,
  type WaitingCall,
} from './approval-store.ts'

const schema = object({
  id: string,
  binding: string,
  client: v.optional(string),
  user: v.optional(string),
  preset: string,
  tool: string,
  arguments: string,
  reason: v.optional(string),
  askedAt: string,
  expiresAt: number,
})

const MAX_FILE_BYTES = 1_048_576

/** Keeps one file per call. Rounds of modern clients are kept in memory: without a database, a client has one gateway. */
export function createApprovalFiles(folder: string, now: () => number = Date.now): ApprovalStore {
  const rounds = new Map<string, Round & { readonly expiresAt: number }>()
  const getWaiting = (id: string): string => join(folder, `${id}.json`)
  const getApproved = (id: string): string => join(folder, `${id}.approved`)
  const getDenied = (id: string): string => join(folder, `${id}.denied`)

  /** Ignores and removes a file that is damaged or has expired. */
  async function read(file: string): Promise<WaitingCall | undefined> {
    const { data } = readShape(schema, await readJson(file, MAX_FILE_BYTES).catch(() => undefined))
    if (data && data.expiresAt > now()) return data
    await rm(file, { force: true }).catch(() => undefined)
    return undefined
  }
  async function list(): Promise<readonly WaitingCall[]> {
    const names = await readdir(folder).catch(() => [])
    const ids = names.flatMap((name) => {
      const id = name.replace(/\.(?:json|approved|denied)$/, '')
      return name !== id && APPROVAL_ID.test(id) ? [{ name, isWaiting: name.endsWith('.json') }] : []
    })
    const calls = await Promise.all(
      ids.map(async ({ name, isWaiting }) => {
        const call = await read(join(folder, name))
        return isWaiting ? call : undefined
      }),
    )
    return calls.filter((call) => call !== undefined).sort((one, other) => one.expiresAt - other.expiresAt)
  }

  /** Replaces a waiting call with the user's decision. */
  async function decide(id: string, getDecided: (id: string) => string): Promise<WaitingCall> {
    if (!APPROVAL_ID.test(id)) throw new UsageError(describeUnknown(id))
    const call = await read(getWaiting(id))
    // The process that removes the file makes the decision.
    if (!call || !(await takeFile(getWaiting(id)).catch(refuseReadOnly))) throw new UsageError(describeUnknown(id))
    await replaceFile(getDecided(id), JSON.stringify({ ...call, expiresAt: now() + APPROVAL_MS }))
    return call
  }

  return {
    // Client ids are unique only within one run of a gateway.
    scope: randomUUID(),
    list,
    approve: (id) => decide(id, getApproved),
    deny: (id) => decide(id, getDenied),
    async ask(call) {
      try {
        if (await read(getWaiting(call.id))) return 'waiting'
        if ((await read(getDenied(call.id)))?.binding === call.binding) return 'denied'
        if ((await list()).length >= MAX_APPROVALS) return 'not-noted'
        const times = { askedAt: new Date(now()).toISOString(), expiresAt: now() + APPROVAL_MS }
        await createFile(getWaiting(call.id), JSON.stringify({ ...call, ...times }))
        return 'waiting'
      } catch {
        // The disk may be full. The call is refused anyway.
        return 'not-noted'
      }
    },
    async use(id, binding) {
      try {
        const call = await read(getApproved(id))
        return call?.binding === binding && (await takeFile(getApproved(id)))
      } catch {
        return false
      }
    },
    async beginRound(round) {
      const at = now()
      for (const [state, { expiresAt }] of rounds) if (expiresAt <= at) rounds.delete(state)
      if (rounds.size >= MAX_APPROVALS) return undefined
      const state = `${ROUND_STATE}${randomUUID()}`
      rounds.set(state, { ...round, expiresAt: at + APPROVAL_MS })
      return state
    },
    async takeRound(state) {
      const { expiresAt = 0, ...round } = rounds.get(state) ?? { binding: '' }
      rounds.delete(state)
      return expiresAt > now() ? round : undefined
    },
  }
}

function refuseReadOnly(error: unknown): never {
  const reason = isCode(error, 'EACCES') ? 'its folder is read-only' : (error as Error).message
  throw new Error(`The decision cannot be saved: ${reason}.`)
}
