import { NO_USAGE } from '../../adapters/contract.ts'
import { checkNumber } from '../../core/check-number.ts'
import type { AgentEvent } from '../events.ts'
import { getRunKey, type DurableRunOptions, type RunAddress, type RunStatus } from './contract.ts'
import type { RunState } from '../state/run-state.ts'
import { createJournalReader, type JournalEvent, type JournalStep } from './journal-events.ts'
import { holdLiveReply, type LiveReply, type ReplyPiece } from './live-reply.ts'
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
 * const options: RunEventsOptions = { after: Number(request.headers.get('last-event-id') ?? 0) }
 * for await (const event of run.events(options)) console.log(event.type)
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
      const leave = (): void => left.abort()
      signal?.addEventListener('abort', leave, { once: true })
      const events = follow(options, address, { after, left: left.signal, throwEnd })
      const end = (): void => signal?.removeEventListener('abort', leave)
      if (signal?.aborted) leave()
      return {
        async next() {
          const result = await events.next()
          if (result.done) end()
          if (signal?.aborted) throw signal.reason
          return result
        },
        async return() {
          leave()
          end()
          return events.return(undefined)
        },
      }
    },
  }
}

interface Following {
  readonly after: number
  readonly left: AbortSignal
  throwEnd(status: RunStatus): void
}

async function* follow(
  { engine, store }: Pick<DurableRunOptions, 'engine' | 'store'>,
  address: RunAddress,
  { after, left, throwEnd }: Following,
): AsyncGenerator<RunEvent, void, undefined> {
  const { reply, release } = holdLiveReply(engine, address)
  const reader = createJournalReader()
  const pieces = createPieces(reply)
  const alarm = createAlarm()
  const stopListening = reply.listen(alarm.ring)
  left.addEventListener('abort', alarm.ring, { once: true })
  let cursor = after
  try {
    for (let pause = FIRST_LOOK_MS; !left.aborted; pause = Math.min(pause * 1.5, LONGEST_LOOK_MS)) {
      // Whatever was written before the run ended is in the journal that is read after its status.
      const status = await engine.getStatus(address)
      const { steps } = reply
      for (const step of reader.read(await store.load(getRunKey(address)))) {
        if (step.sequence <= after || step.events.length === 0) continue
        for (const piece of pieces.finish(step)) yield { ...piece, cursor }
        // Whoever leaves between two events of one entry gets both again.
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
      const isDue = alarm.set(pause)
      while (!left.aborted && !isDue() && steps === reply.steps) {
        for (const piece of pieces.take(reader.state.turns)) yield { ...piece, cursor }
        if (!left.aborted && !isDue() && steps === reply.steps) await alarm.wait()
      }
      if (steps !== reply.steps) pause = FIRST_LOOK_MS
    }
  } finally {
    alarm.clear()
    stopListening()
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

/** A piece of a reply, or that the pieces so far do not count. */
type LivePiece = ReplyPiece | Extract<AgentEvent, { readonly type: 'reply/lost' }>

const LOST: LivePiece = { type: 'reply/lost', usage: NO_USAGE }

interface Pieces {
  /** Reads the pieces that were not read yet, of a reply that is not in the journal yet. */
  take(turns: number): Iterable<LivePiece>
  /** Reads what is left of a reply before it is read from the journal. */
  finish(step: JournalStep): Iterable<LivePiece>
}

/** Reads the pieces of replies. If a reply begins again, or is not as it began, its pieces are taken back first. */
function createPieces(reply: LiveReply): Pieces {
  let attempt = reply.attempt
  let read = 0
  let text = ''
  function* begin(): Iterable<LivePiece> {
    if (text !== '') yield LOST
    ;[attempt, read, text] = [reply.attempt, 0, '']
  }
  function* take(turns: number): Iterable<LivePiece> {
    if (attempt !== reply.attempt) yield* begin()
    while (attempt === reply.attempt && read < reply.pieces.length) {
      const piece = reply.pieces[read++]
      if (!piece || piece.reply <= turns) continue
      if (piece.type === 'text/delta') text += piece.text
      yield piece
    }
  }
  return {
    take,
    *finish({ before, events }) {
      const said = events.find(({ type }) => type === 'reply/received')
      if (said?.type !== 'reply/received') return
      if (attempt === reply.attempt) yield* take(before.turns)
      // Another machine may have written it, or the rest of it came while nobody read.
      if (text !== '' && said.message.text !== text.toWellFormed()) yield LOST
      text = ''
    },
  }
}

/** Ends a wait when it rings or its time is over. */
function createAlarm() {
  let timer: ReturnType<typeof setTimeout> | undefined
  let wake = (): void => undefined
  const ring = (): void => wake()
  const clear = (): void => clearTimeout(timer)
  return {
    ring,
    clear,
    /** Rings in so many milliseconds, and not at the time that was set before. */
    set(ms: number): () => boolean {
      let isOver = false
      clear()
      timer = setTimeout(() => {
        isOver = true
        ring()
      }, ms)
      return () => isOver
    },
    wait: () => new Promise<void>((resolve) => (wake = resolve)),
  }
}
