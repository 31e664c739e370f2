import { checkNumber } from '../../core/check-number.ts'
import { getRunKey, type DurableRunOptions, type RunAddress, type RunStatus } from './contract.ts'
import type { RunState } from '../state/run-state.ts'
import { createJournalReader, type JournalEvent } from './journal-events.ts'
import { createPieceReader, holdLiveReply, type LivePiece } from './live-reply.ts'
import { createUnknownRunError } from './local-engine.ts'

/**
 * An event of a durable run, with where to go on after it.
 *
 * @example
 * ```ts
 * const toSse = ({ cursor, ...event }: RunEvent): string => `id: ${cursor}\ndata: ${JSON.stringify(event)}\n\n`
 * ```
 */
export type RunEvent = (JournalEvent | LivePiece) & {
  /** Pass it as `after` to go on behind this event. Pieces of a reply have that of the event before the reply. */
  readonly cursor: number
}

/**
 * Options of `events()` of a run.
 *
 * @example
 * ```ts
 * const options: RunEventsOptions = { after: 17 }
 * for await (const event of run.events(options)) console.log(event.type, event.cursor)
 * ```
 */
export interface RunEventsOptions {
  /** The cursor of the last event that was received. Default 0: from the beginning. */
  readonly after?: number
  /** Ends the reading, not the run. */
  readonly signal?: AbortSignal
}

const FIRST_LOOK_MS = 20
const LONGEST_LOOK_MS = 1000

/**
 * Follows a run from any machine, from its beginning or from a cursor, until it ends or waits for a person. The journal
 * says what was done; the process that works on the run adds the pieces of the reply that the model is writing.
 */
export function followRun(
  options: Pick<DurableRunOptions, 'engine' | 'store'>,
  address: RunAddress,
  { after = 0, signal, throwEnd }: RunEventsOptions & { throwEnd(status: RunStatus): void },
): AsyncIterable<RunEvent> {
  checkNumber('after', after, { code: 'run-options' })
  return {
    [Symbol.asyncIterator]() {
      const left = new AbortController()
      const events = follow(options, address, { after, left, signal, throwEnd })
      return {
        async next() {
          const result = await events.next()
          signal?.throwIfAborted()
          return result
        },
        return() {
          left.abort()
          return events.return(undefined)
        },
      }
    },
  }
}

interface Following {
  readonly after: number
  /** Aborts when the reader leaves. */
  readonly left: AbortController
  readonly signal: AbortSignal | undefined
  throwEnd(status: RunStatus): void
}

async function* follow(
  { engine, store }: Pick<DurableRunOptions, 'engine' | 'store'>,
  address: RunAddress,
  { after, left, signal, throwEnd }: Following,
): AsyncGenerator<RunEvent, void, undefined> {
  const { reply, release } = holdLiveReply(engine, address)
  const reader = createJournalReader()
  const pieces = createPieceReader(reply)
  const alarm = createAlarm()
  const stopListening = reply.listen(alarm.ring)
  const leave = (): void => left.abort()
  signal?.addEventListener('abort', leave)
  if (signal?.aborted) leave()
  left.signal.addEventListener('abort', alarm.ring)
  let cursor = after
  try {
    for (let pause = FIRST_LOOK_MS; !left.signal.aborted; pause = Math.min(pause * 1.5, LONGEST_LOOK_MS)) {
      // Whatever was written before the run ended is in the journal that is read after its status.
      const status = await engine.getStatus(address)
      const { steps } = reply
      for (const step of reader.read(await store.load(getRunKey(address)))) {
        if (step.sequence <= after || step.events.length === 0) continue
        for (const piece of pieces.finish(step)) yield { ...piece, cursor }
        // A reader that leaves between two events of one entry gets both again.
        for (const event of step.events.slice(0, -1)) yield { ...event, cursor }
        cursor = step.sequence
        for (const event of step.events.slice(-1)) yield { ...event, cursor }
        pause = FIRST_LOOK_MS
      }
      const known = status ?? describeEnd(address, reader.state.status)
      if (known.status !== 'active') {
        throwEnd(known)
        return
      }
      alarm.set(pause)
      const isWaiting = (): boolean => !left.signal.aborted && !alarm.isOver && steps === reply.steps
      while (isWaiting()) {
        for (const piece of pieces.read(reader.state.turns)) yield { ...piece, cursor }
        if (isWaiting()) await alarm.wait()
      }
      if (steps !== reply.steps) pause = FIRST_LOOK_MS
    }
  } finally {
    alarm.clear()
    stopListening()
    signal?.removeEventListener('abort', leave)
    release()
  }
}

/** Says how a run has ended that its engine does not know: one of an earlier process. */
function describeEnd(address: RunAddress, status: RunState['status']): RunStatus {
  const { id } = address
  if (status === 'new' || status === 'running') throw createUnknownRunError(address)
  if (status === 'cancelled' || status === 'waiting') return { id, status }
  return { id, status: 'done', outcome: status }
}

interface Alarm {
  /** Whether the time that was set is over. */
  readonly isOver: boolean
  ring(): void
  /** Rings in so many milliseconds, and not at the time that was set before. */
  set(ms: number): void
  wait(): Promise<void>
  clear(): void
}

function createAlarm(): Alarm {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  let wake = (): void => undefined
  return {
    get isOver() {
      return isOver
    },
    ring: () => wake(),
    set(ms) {
      clearTimeout(timer)
      isOver = false
      timer = setTimeout(() => {
        isOver = true
        wake()
      }, ms)
    },
    wait: () => new Promise((resolve) => (wake = resolve)),
    clear: () => clearTimeout(timer),
  }
}
