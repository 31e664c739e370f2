import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ignore } from 'foldout/promises'
import type { CallInput, CallResult } from 'foldout/catalog'
import type { SessionStore, StoredEvent } from 'foldout/session'
import { HELD_MS, HELD_POLL_MS, LONGEST_HELD_POLL_MS, TAKEN_MS } from './limits.ts'
import { createErrorResult, getErrorMessage } from '../../../shared/errors.ts'

/** An answer that reached a different gateway than the one that holds its call. */
export interface HeldAnswer {
  /** The owner of the call, and the tool it called. */
  readonly key: string
  readonly input: CallInput
}

/** Passes clients' answers on to the gateway that holds their call. */
export interface HeldPost {
  /** Registers a call held here, and continues it if its answer reaches another gateway. Returns a function that stops that. */
  expect(state: string, goOn: (answer: HeldAnswer) => Promise<CallResult>): Promise<() => void>
  /** Gives an answer to the gateway that holds the call, and waits for the outcome; undefined if no gateway holds it. */
  deliver(state: string, answer: HeldAnswer, signal: AbortSignal | undefined): Promise<CallResult | undefined>
}

const ASKED = 'held/asked'
const ANSWERED = 'held/answered'
const TAKEN = 'held/taken'
const ENDED = 'held/ended'

/**
 * A held call is a journal of four events in the store that gateways share: asked, answered, taken, ended. The number of an event
 * is used once, so that the first of several answers counts.
 */
export function createHeldPost(openSessions: () => Promise<SessionStore>): HeldPost {
  let opened: Promise<SessionStore> | undefined
  const open = (): Promise<SessionStore> => {
    opened ??= openSessions()
    opened.catch(() => (opened = undefined))
    return opened
  }
  const append = async (store: SessionStore, id: string, sequence: number, type: string, payload: unknown = null) =>
    store.append(id, [{ sequence, event: { type, payload }, scope: 'all' }])

  return {
    async expect(state, goOn) {
      const id = toId(state)
      const stop = new AbortController()
      const store = await open()
      await append(store, id, 1, ASKED)
      const watched = watch(store, id, stop.signal, async (answer) => {
        await append(store, id, 3, TAKEN)
        const result = await goOn(answer as HeldAnswer).catch(toFailure)
        // The result may not be valid JSON, but another gateway is waiting for an outcome.
        await append(store, id, 4, ENDED, result).catch((error: unknown) =>
          append(store, id, 4, ENDED, toFailure(error)),
        )
      })
      void ignore(watched, 'the gateway that passed the answer on says so')
      return () => {
        stop.abort()
        // After the answer, the gateway that passed it on reads the result and removes it.
        void ignore(
          find(store, id, ANSWERED).then((found) => (found ? undefined : store.delete(id))),
          'the store removes what is old',
        )
      }
    },
    async deliver(state, answer, signal) {
      const id = toId(state)
      const store = await open()
      if (!(await find(store, id, ASKED))) return undefined
      try {
        await append(store, id, 2, ANSWERED, answer)
      } catch {
        return undefined
      }
      try {
        const isTaken = await poll(store, id, TAKEN, { signal, withinMs: TAKEN_MS })
        const ended = isTaken && (await poll(store, id, ENDED, { signal, withinMs: HELD_MS }))
        if (ended) return ended.event.payload as CallResult
        return undefined
      } finally {
        await ignore(store.delete(id), 'the store removes what is old')
      }
    },
  }
}

/** Waits until a held call is answered elsewhere. */
async function watch(
  store: SessionStore,
  id: string,
  signal: AbortSignal,
  onAnswer: (answer: unknown) => Promise<void>,
): Promise<void> {
  const answered = await poll(store, id, ANSWERED, { signal, withinMs: HELD_MS })
  if (answered && !signal.aborted) await onAnswer(answered.event.payload)
}

async function poll(
  store: SessionStore,
  id: string,
  type: string,
  { signal, withinMs }: { readonly signal: AbortSignal | undefined; readonly withinMs: number },
): Promise<StoredEvent | undefined> {
  const start = performance.now()
  for (
    let pause = HELD_POLL_MS;
    performance.now() - start < withinMs;
    pause = Math.min(pause * 1.1, LONGEST_HELD_POLL_MS)
  ) {
    if (signal?.aborted) return undefined
    const found = await find(store, id, type)
    if (found) return found
    await ignore(sleep(pause, undefined, signal ? { signal } : {}), 'the signal ends the wait')
  }
  return undefined
}

async function find(store: SessionStore, id: string, type: string): Promise<StoredEvent | undefined> {
  return (await store.load(id))?.events.find(({ event }) => event.type === type)
}

/** The state is the client's secret, which readers of the store must not learn. */
function toId(state: string): string {
  return `held/${createHash('sha256').update(state).digest('hex')}`
}

function toFailure(error: unknown): CallResult {
  return createErrorResult(getErrorMessage(error))
}
