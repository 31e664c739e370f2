import { writeSync } from 'node:fs'
import Database from 'libsql'
import { defineLog } from '../../log.ts'
import { defineSlice } from '../../slice.ts'
import { openSession, type KeptSession } from '../open-session.ts'
import { createLibsqlStore } from './libsql-store.ts'

/** One event. The events of a group are dispatched in one tick. */
export interface Step {
  /** The position in the log, from 1. */
  readonly n: number
  readonly group: number
  readonly groupSize: number
  /** Whether the state keeps the event: false if its transaction was abandoned or a restore undid it. */
  readonly stays: boolean
  readonly padding: string
}

export interface Digest {
  readonly count: number
  readonly hash: number
}

export const digested = (digest: Digest, n: number): Digest => ({
  count: digest.count + 1,
  hash: (digest.hash * 31 + n) % 1_000_000_007,
})

export const NO_STEPS: Digest = { count: 0, hash: 7 }

export const digest = defineSlice({
  name: 'digest',
  initial: NO_STEPS,
  reducers: { stepped: (state, payload: Step) => digested(state, payload.n) },
})
export const steps = defineLog({ name: 'steps', of: [digest.events.stepped] })

/** The events that a process finds in the file before it writes. */
export interface Report {
  readonly integrity: unknown
  readonly digest: Digest
  readonly steps: readonly Step[]
}

export async function reportOn(path: string): Promise<Report> {
  const store = await createLibsqlStore({ path })
  const session = await openSession({ store, id: 'killed', slices: [digest, steps] })
  const database = new Database(path)
  const integrity = database.pragma('integrity_check')
  database.close()
  await store.close()
  return {
    integrity,
    digest: session.get(digest),
    steps: [...session.get(steps)].map(({ payload }) => ({ ...payload, padding: '' })),
  }
}

/** A small generator of random numbers below a limit (mulberry32). */
export function randomFrom(seed: number): (below: number) => number {
  let a = seed
  return (below) => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** Dispatches a group of events in one of the ways a session offers. */
function dispatchGroup(session: KeptSession, random: (below: number) => number): void {
  const first = session.get(steps).length + 1
  const size = 1 + random(5)
  const group = (stays: boolean) =>
    Array.from({ length: size }, (_, i) =>
      digest.events.stepped({ n: first + i, group: first, groupSize: size, stays, padding: 'x'.repeat(random(3000)) }),
    )
  const way = random(10)
  if (way < 5) {
    for (const event of group(true)) session.dispatch(event)
  } else if (way < 9) {
    const transaction = session.begin()
    for (const event of group(way < 7)) transaction.session.dispatch(event)
    if (way < 7) transaction.commit()
    else transaction.abandon()
  } else {
    const before = session.snapshot()
    for (const event of group(false)) session.dispatch(event)
    session.restore(before)
  }
}

/** Writes to the file until it is killed, and prints the number of the last event that the store has acknowledged. */
async function work(path: string, seed: number): Promise<never> {
  const say = (line: unknown): void => void writeSync(1, `${JSON.stringify(line)}\n`)
  say(await reportOn(path))
  const random = randomFrom(seed)
  const store = await createLibsqlStore({ path })
  const session = await openSession({ store, id: 'killed', slices: [digest, steps] })
  for (;;) {
    dispatchGroup(session, random)
    const upTo = session.get(steps).length
    // Because not every write is awaited, several groups are in flight when the process is killed.
    if (random(3) === 0) {
      await session.saved()
      say(upTo)
    }
    if (random(12) === 0) {
      await session.compact()
      say(upTo)
    }
  }
}

const [, script, path, seed] = process.argv
if (script === import.meta.filename && path && seed) await work(path, Number(seed))
