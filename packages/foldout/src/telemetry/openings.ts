import type { AgentEvent } from '../agent/events.ts'

/**
 * How an opening was answered: `'dynamic'` in the same conversation, `'restart'` by a new render, `'none'` not at all, because
 * the run ended or other sections came first.
 *
 * @example
 * ```ts
 * const wasCheap = (answer: OpeningAnswer): boolean => answer === 'dynamic'
 * ```
 */
export type OpeningAnswer = 'dynamic' | 'restart' | 'none'

export interface AskedOpening {
  readonly callId: string
  readonly keys: readonly string[]
}

export interface OpeningWatch {
  onEvent(event: AgentEvent): void
  /** The run has ended: what still waits for a restart does not get one. */
  settle(): void
}

/** Tells how each opening is answered, as soon as it is. */
export function watchOpenings(answered: (opening: AskedOpening, by: OpeningAnswer) => void): OpeningWatch {
  const waiting = new Map<string, AskedOpening>()
  return {
    onEvent(event) {
      if (event.type === 'tool/invoked' && isOpening(event)) {
        const opening = { callId: event.callId, keys: event.disclosure.keys }
        if (event.disclosure.answer === 'restart') waiting.set(event.callId, opening)
        else answered(opening, 'dynamic')
      }
      if (event.type !== 'run/expanded') return
      for (const callId of event.callIds) {
        const opening = waiting.get(callId)
        waiting.delete(callId)
        if (opening) answered(opening, 'restart')
      }
    },
    settle() {
      for (const opening of waiting.values()) answered(opening, 'none')
      waiting.clear()
    },
  }
}

type ToolInvokedEvent = Extract<AgentEvent, { type: 'tool/invoked' }>
type DisclosureEvent = ToolInvokedEvent & { readonly disclosure: NonNullable<ToolInvokedEvent['disclosure']> }

/** Whether a call has opened something that was not open. */
export function isOpening(event: ToolInvokedEvent): event is DisclosureEvent {
  const { ok, disclosure } = event
  return ok && disclosure !== undefined && disclosure.keys.some((key) => !disclosure.full.includes(key))
}
