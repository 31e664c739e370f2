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

/** After this many events without a pause, timers and other requests get a turn. */
const EVENTS_PER_TURN = 1_000

/**
 * Reads the events of a streamed reply. Throws the signal's reason when it aborts, and an error when the reply is
 * larger than any model writes: a server that never ends its stream must not fill the memory.
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
    // A connection that was closed properly, but too early, leaves half an event.
    if (error instanceof SyntaxError) {
      throw cutStream(adapter, 'The reply was cut off within an event, or is not valid JSON.', error)
    }
    // An SDK recursed over a reply with endless nesting.
    if (error instanceof RangeError) throw createTooLarge(adapter, error)
    throw error
  }
}

/** Returns the length of a text from a provider; the value may be anything. */
export function measureText(text: unknown): number {
  return typeof text === 'string' ? text.length : 0
}

/** Estimates the number of characters of a JSON value, without recursion. */
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
    `The reply has more than ${MAX_REPLY_CHARACTERS} characters or ${MAX_REPLY_EVENTS} events, or is nested too deeply, so it was not read to its end. No model writes that much: check the server behind the adapter.`,
    { adapter, cause },
  )
}
