import { ignore, isThenable } from '../core/promises.ts'
import { freezeChanges } from '../session/freeze.ts'
import type { AgentEvent } from './events.ts'
/** Events pushed by one side and read by the other with `for await`, each once. */
export interface EventQueue<T> {
  readonly push: (event: T) => void
  readonly end: () => void
  readonly fail: (error: unknown) => void
  /** Reads events; `onLeave` is called when the reader leaves before the end. */
  iterate(onLeave: () => Promise<void>): AsyncIterator<T>
}

type QueueState =
  | { readonly type: 'open' }
  | { readonly type: 'ended' }
  | { readonly type: 'failed'; readonly error: unknown }

export function createEventQueue<T>(): EventQueue<T> {
  let events: T[] = []
  let read = 0
  let state: QueueState = { type: 'open' }
  let waiting: (() => void)[] = []
  const notify = (): void => {
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }
  const close = (how: QueueState): void => {
    state = how
    notify()
  }
  const take = (): { readonly event: T } | undefined => {
    const event = events[read]
    if (event === undefined) return undefined
    read += 1
    if (read === events.length) {
      events = []
      read = 0
    }
    return { event }
  }
  return {
    push(event) {
      if (state.type !== 'open') return
      events.push(event)
      notify()
    },
    end: () => close({ type: 'ended' }),
    fail: (error) => close({ type: 'failed', error }),
    iterate: (onLeave) => ({
      async next() {
        for (;;) {
          const taken = take()
          if (taken) return { done: false, value: taken.event }
          if (state.type === 'failed') throw state.error
          if (state.type === 'ended') return { done: true, value: undefined }
          await new Promise<void>((resolve) => waiting.push(resolve))
        }
      },
      async return() {
        const isOpen = state.type === 'open'
        close({ type: 'ended' })
        if (isOpen) await onLeave()
        return { done: true, value: undefined }
      },
    }),
  }
}

/**
 * Notifies a stream and a listener. Events are frozen, because watching a run must not change it. For the same reason,
 * errors and rejections of the listener are ignored.
 */
export function createNotifier(
  { onEvent }: { readonly onEvent?: ((event: AgentEvent) => unknown) | undefined },
  push: (event: AgentEvent) => void,
): (event: AgentEvent) => void {
  return (event) => {
    freezeEvent(event)
    push(event)
    try {
      const returned = onEvent?.(event)
      if (isThenable(returned)) void ignore(returned, 'watching a run must not change it')
    } catch {
      // Watching a run must not change it.
    }
  }
}

/** Freezes everything but what is only computed on demand. */
function freezeEvent(event: AgentEvent): void {
  for (const { value } of Object.values(Object.getOwnPropertyDescriptors(event))) freezeChanges(value as unknown)
  Object.freeze(event)
}
