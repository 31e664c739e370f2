import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { SessionStore, StoredEvent } from 'foldout/session'
import { startMachine } from './machine.ts'

export interface KillOptions {
  readonly url: string
  readonly effects: string
  readonly store: SessionStore
  /** How many machines to kill. */
  readonly kills: number
  /** How many runs are in progress at a time. */
  readonly runs: number
  /** At which point the next machine dies, from 1. */
  pickPoint(kill: number): number
  log(line: string): void
}

export interface KillReport {
  readonly kills: number
  readonly runs: number
  readonly acknowledged: number
  readonly calls: number
  /** What went wrong; empty if all is well. */
  readonly faults: readonly string[]
}

const INPUT = 'change look+change change+look look'

/** Kills machines one after the other, each at a different point, and checks what they leave behind. */
export async function killMachines(options: KillOptions): Promise<KillReport> {
  const { url, effects, store, log } = options
  const acknowledged = new Map<string, string>()
  const ids: string[] = []
  const open = new Set<string>()
  let kills = 0
  const refill = (): void => {
    while (open.size < options.runs) {
      const id = `run-${ids.length}`
      ids.push(id)
      open.add(id)
    }
  }
  for (let life = 0; kills < options.kills || open.size > 0; life++) {
    const isLast = kills >= options.kills
    if (!isLast) refill()
    const killAt = isLast ? Number.MAX_SAFE_INTEGER : options.pickPoint(kills)
    const machine = startMachine({ url, effects, machine: `machine-${life}`, killAt, scanMs: 100 })
    machine.order('start', { ids: [...open], input: INPUT })
    const look = async (): Promise<void> => {
      if ((await settle(store, open)) > 0) return
      if (isLast) machine.kill('SIGTERM')
      else {
        // Nothing is left to do, so the point will not be reached: add more runs.
        refill()
        machine.order('start', { ids: [...open], input: INPUT })
      }
    }
    const watch = setInterval(() => void look(), 250)
    if ((await machine.ended) === 'SIGKILL') kills += 1
    clearInterval(watch)
    await settle(store, open)
    for (const line of machine.lines) {
      const [what, id, sequence, hash] = line.split(' ')
      if (what === 'ack') acknowledged.set(`${id} ${sequence}`, hash ?? '')
      if (what === 'failed') log(line)
    }
    if (life % 25 === 0) log(`${kills} kills, ${ids.length - open.size} of ${ids.length} runs ended`)
  }
  const faults: string[] = []
  const conversations = new Map<string, string>()
  let calls = 0
  for (const id of ids) {
    const events = (await store.load(`chores/${id}`))?.events ?? []
    const begun = events.find(({ event }) => event.type === 'run/started')?.event.payload as { id: string } | undefined
    conversations.set(id, begun?.id ?? '')
    calls += events.filter(({ event }) => event.type === 'run/called').length
    faults.push(...findFaults(id, events, acknowledged))
  }
  faults.push(...findRepeated(effects, conversations))
  return { kills, runs: ids.length, acknowledged: acknowledged.size, calls, faults }
}

/** Removes runs that have ended from those in progress. */
async function settle(store: SessionStore, open: Set<string>): Promise<number> {
  await Promise.all(
    [...open].map(async (id) => {
      const events = (await store.load(`chores/${id}`).catch(() => undefined))?.events ?? []
      if (events.some(({ event }) => event.type === 'run/completed')) open.delete(id)
    }),
  )
  return open.size
}

/** What is wrong with a journal: a missing acknowledged event, or a call with two results. */
function findFaults(id: string, events: readonly StoredEvent[], acknowledged: ReadonlyMap<string, string>): string[] {
  const faults: string[] = []
  const known = new Map(events.map(({ sequence, event }) => [`${id} ${sequence}`, hashPayload(event.payload)]))
  for (const [key, hash] of acknowledged) {
    if (key.startsWith(`${id} `) && known.get(key) !== hash) faults.push(`${key} was acknowledged and is lost`)
  }
  const results = events.filter(({ event }) => event.type === 'run/called')
  const callIds = results.map(({ event }) => (event.payload as { result: { callId: string } }).result.callId)
  if (new Set(callIds).size !== callIds.length) faults.push(`${id} has two results for one call`)
  if (callIds.length !== 6) faults.push(`${id} has ${callIds.length} results of 6`)
  return faults
}

/** Calls that took effect twice, or ran again after they were completed. Read-only calls may be repeated. */
function findRepeated(effects: string, conversations: ReadonlyMap<string, string>): string[] {
  const lines = existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n') : []
  const seen = new Set<string>()
  const completed = new Set<string>()
  const faults: string[] = []
  for (const line of lines) {
    const [what = '', first = '', callId] = line.split(' ')
    if (what === 'completed') {
      completed.add(`${conversations.get(first)}/${callId}`)
      continue
    }
    if (completed.has(first)) faults.push(`${line} ran again after it was completed`)
    if (what !== 'look' && seen.has(line)) faults.push(`${line} took effect twice`)
    seen.add(line)
  }
  return faults
}

function hashPayload(payload: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(payload ?? null))
    .digest('hex')
    .slice(0, 16)
}
