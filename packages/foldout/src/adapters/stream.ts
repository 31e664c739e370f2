import { AdapterError } from './adapter-error.ts'
import { cutStream } from './failure.ts'
import { MAX_REPLY_CHARACTERS, MAX_REPLY_EVENTS } from './limits.ts'

export interface StreamOptions<Event> {
  /** The adapter's name. */
  readonly adapter: string
  readonly signal: AbortSignal
  /** How many characters an event adds to the reply. */
  measure(event: Event): number
}

/** After this many events that came without a pause, timers and other requests get their turn. */
const EVENTS_PER_TURN = 1_000

/**
 * The events of a streamed reply. Reading ends with the signal's reason when it aborts, and with an error when the reply
 * is larger than any model's: a server that never ends its stream must not fill the memory.
 */
export async function* readStream<Event>(
  stream: AsyncIterable<Event>,
  { adapter, signal, measure }: StreamOptions<Event>,
): AsyncGenerator<Event> {
  let events = 0
  let characters = 0
  try {
    for await (const event of stream) {
      signal.throwIfAborted()
      events += 1
      characters += measure(event)
      if (events > MAX_REPLY_EVENTS || characters > MAX_REPLY_CHARACTERS) throw createTooLarge(adapter)
      yield event
      if (events % EVENTS_PER_TURN === 0) await new Promise((resolve) => setTimeout(resolve, 0))
    }
  } catch (error) {
    // Half an event is what is left of a connection that was closed in order, but too early.
    if (error instanceof SyntaxError) {
      throw cutStream(adapter, 'The reply broke off within an event, or is not valid JSON.', error)
    }
    // An SDK that recurses over a reply nested without end.
    if (error instanceof RangeError) throw createTooLarge(adapter, error)
    throw error
  }
}

/** The length of what a provider sent as text, which may be anything. */
export function measureText(text: unknown): number {
  return typeof text === 'string' ? text.length : 0
}

/** About the number of characters of a JSON value, found without recursion. */
export function measureJson(value: unknown): number {
  const waiting = [value]
  let characters = 0
  while (waiting.length > 0) {
    const next = waiting.pop()
    characters += typeof next === 'string' ? next.length : 1
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) waiting.push(inner)
  }
  return characters
}

function createTooLarge(adapter: string, cause?: unknown): AdapterError {
  return new AdapterError(
    'adapter-reply-too-large',
    `The reply has more than ${MAX_REPLY_CHARACTERS} characters or ${MAX_REPLY_EVENTS} events, or is nested too deep, and was not read to its end. No model writes that much: check the server behind the adapter.`,
    { adapter, cause },
  )
}
