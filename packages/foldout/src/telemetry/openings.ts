import type { AgentEvent } from '../agent/events.ts'

/**
 * How an opening was answered: `'dynamic'` in the same conversation, `'restart'` by rendering the prompt again, or `'none'`
 * because the run ended or restarted for other sections first.
 *
 * @example
 * ```ts
 * const wasCheap = (outcome: OpeningOutcome): boolean => outcome === 'dynamic'
 * ```
 */
export type OpeningOutcome = 'dynamic' | 'restart' | 'none'

export interface AskedOpening {
  readonly callId: string
  readonly keys: readonly string[]
}

export interface OpeningWatch {
  onEvent(event: AgentEvent): void
  /** Called when the run has ended: openings that still wait for a restart do not get one. */
  settle(): void
}

/** Reports how each opening was answered, as soon as that is known. */
export function watchOpenings(answered: (opening: AskedOpening, by: OpeningOutcome) => void): OpeningWatch {
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

/** Whether a call has opened a section that was folded. */
export function isOpening(event: ToolInvokedEvent): event is DisclosureEvent {
  const { ok, disclosure } = event
  return ok && disclosure !== undefined && disclosure.keys.some((key) => !disclosure.full.includes(key))
}
