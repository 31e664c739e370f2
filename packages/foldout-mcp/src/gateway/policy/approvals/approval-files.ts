import { isCode } from 'foldout-shared/error-codes'
import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { ignore } from 'foldout/promises'
import { UsageError } from '../../config/config.ts'
import { number, object, read as readShape, string } from '../../../shared/shapes.ts'
import { createFile, readJson, replaceFile, takeFile } from '../../../shared/files.ts'
import { APPROVAL_MS, MAX_APPROVALS, MAX_APPROVALS_EACH } from './limits.ts'
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

/** How often expired calls are looked for if too many seem to wait. Each of them has to be read. */
const TIDY_MS = 1_000

/** The name of a waiting call's file also says who asked, so that calls can be counted without reading them. */
const WAITING = /^([0-9a-f]{16})-([0-9a-f]{16})\.json$/

/** Keeps one file per call. Rounds of modern clients are kept in memory: without a database, a client has one gateway. */
export function createApprovalFiles(folder: string, now: () => number = Date.now): ApprovalStore {
  let tidiedAt = -Infinity
  const getWaiting = (id: string, asker: string): string => join(folder, `${id}-${asker}.json`)
  const getApproved = (id: string): string => join(folder, `${id}.approved`)
  const getDenied = (id: string): string => join(folder, `${id}.denied`)

  /** Ignores and removes a file that is damaged or has expired. */
  async function read(file: string): Promise<WaitingCall | undefined> {
    const { data } = readShape(schema, await ignore(readJson(file, MAX_FILE_BYTES), 'a damaged file is removed below'))
    if (data && data.expiresAt > now()) return data
    await ignore(rm(file, { force: true }), 'it stays without effect')
    return undefined
  }
  async function list(): Promise<readonly WaitingCall[]> {
    const names = await listNames()
    const calls = await Promise.all(
      names.map(async (name) => {
        const isWaiting = WAITING.test(name)
        if (!isWaiting && !APPROVAL_ID.test(name.replace(/\.(?:approved|denied)$/, ''))) return undefined
        const call = await read(join(folder, name))
        return isWaiting ? call : undefined
      }),
    )
    return calls.filter((call) => call !== undefined).sort((one, other) => one.expiresAt - other.expiresAt)
  }
  async function listNames(): Promise<readonly string[]> {
    return readdir(folder).catch(() => [])
  }
  /** Whether one more call of a caller may wait. */
  async function hasRoom(asker: string): Promise<boolean> {
    if (isBelowLimits(await listNames(), asker)) return true
    // Some may have expired.
    if (Math.abs(now() - tidiedAt) < TIDY_MS) return false
    tidiedAt = now()
    await list()
    return isBelowLimits(await listNames(), asker)
  }

  /** Replaces a waiting call with the user's decision. */
  async function decide(id: string, getDecided: (id: string) => string): Promise<WaitingCall> {
    if (!APPROVAL_ID.test(id)) throw new UsageError(describeUnknown(id))
    const name = (await listNames()).find((one) => WAITING.exec(one)?.[1] === id)
    const file = join(folder, name ?? '')
    const call = name === undefined ? undefined : await read(file)
    // The process that removes the file makes the decision.
    if (!call || !(await takeFile(file).catch(refuseReadOnly))) throw new UsageError(describeUnknown(id))
    await replaceFile(getDecided(id), JSON.stringify({ ...call, expiresAt: now() + APPROVAL_MS }))
    return call
  }

  return {
    // Client ids are unique only within one run of a gateway.
    scope: randomUUID(),
    list,
    approve: (id) => decide(id, getApproved),
    deny: (id) => decide(id, getDenied),
    async ask(call, asker) {
      try {
        if (await read(getWaiting(call.id, asker))) return 'waiting'
        if ((await read(getDenied(call.id)))?.binding === call.binding) return 'denied'
        if (!(await hasRoom(asker))) return 'too-many'
        const times = { askedAt: new Date(now()).toISOString(), expiresAt: now() + APPROVAL_MS }
        await createFile(getWaiting(call.id, asker), JSON.stringify({ ...call, ...times }))
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
    ...createRounds(now),
  }
}

/** Whether the files are fewer than may wait in all, and for one caller. */
function isBelowLimits(names: readonly string[], asker: string): boolean {
  const askers = names.flatMap((name) => WAITING.exec(name)?.[2] ?? [])
  return askers.length < MAX_APPROVALS && askers.filter((one) => one === asker).length < MAX_APPROVALS_EACH
}

/** Keeps the rounds of modern clients in memory. */
function createRounds(now: () => number): Pick<ApprovalStore, 'beginRound' | 'takeRound'> {
  const rounds = new Map<string, { readonly round: Round; readonly asker: string; readonly expiresAt: number }>()
  return {
    async beginRound(round, asker) {
      const at = now()
      let own = 0
      for (const [state, other] of rounds) {
        if (other.expiresAt <= at) rounds.delete(state)
        else if (other.asker === asker) own++
      }
      if (rounds.size >= MAX_APPROVALS || own >= MAX_APPROVALS_EACH) return undefined
      const state = `${ROUND_STATE}${randomUUID()}`
      rounds.set(state, { round, asker, expiresAt: at + APPROVAL_MS })
      return state
    },
    async takeRound(state) {
      const found = rounds.get(state)
      rounds.delete(state)
      return found && found.expiresAt > now() ? found.round : undefined
    },
  }
}

function refuseReadOnly(error: unknown): never {
  const reason = isCode(error, 'EACCES') ? 'its folder is read-only' : (error as Error).message
  throw new Error(`The decision cannot be saved: ${reason}.`)
}
