import { AdapterError } from './adapter-error.ts'
import type { AssistantMessage, ModelEvent } from './contract.ts'
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
  if (typeof text === 'string') return text.length
  return 0
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

/** How a reply ended, whatever the provider calls it. */
export type Ending =
  | 'whole'
  /** The reply reached a limit. */
  | 'cut-off'
  /** The provider stopped the reply because of its content. */
  | 'filtered'
  /** The provider failed while the model was writing. The same request may succeed. */
  | 'failed'

const WHOLE =
  /^(stop|stop_sequence|end|end_turn|eos|eos_token|complete|completed|done|finish|finished|function_call|tool_calls?|tool_use)$/
// Providers and servers add names all the time, so these match the words that they are made of. Failures come first:
// `function_call_filter: MALFORMED_FUNCTION_CALL` is one.
const FAILED =
  /error|fail|malformed|unexpected|insufficient|overload|unavailable|time_?out|abort|interrupt|cancel|network|disconnect/
const FILTERED =
  /filter|safety|polic|moderat|sensitive|block|prohibit|recitation|refus|guardrail|spii|flagged|violat|language/
const CUT_OFF = /length|token|limit|trunc|window|exceed|max|repetition|budget/

/** Reads the reason that a provider gives for the end of a reply; undefined if nobody knows it. */
export function readEnding(reason: unknown): Ending | undefined {
  if (typeof reason !== 'string') return undefined
  const name = reason
    .slice(0, MAX_REASON_CHARACTERS)
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
  if (WHOLE.test(name)) return 'whole'
  if (FAILED.test(name)) return 'failed'
  if (FILTERED.test(name)) return 'filtered'
  if (CUT_OFF.test(name)) return 'cut-off'
  return undefined
}

const MAX_REASON_CHARACTERS = 200

/** A reply that has ended. */
export interface EndedReply {
  readonly adapter: string
  /** The reason, as the provider names it. */
  readonly reason: unknown
  /** Whether the reply has text or calls. */
  readonly hasContent: boolean
  emit(this: void, event: ModelEvent): void
}

/**
 * Decides whether a reply is whole, and emits a warning if it is not. Throws if the provider failed, so the request can
 * be retried.
 */
export function endReply({ adapter, reason, hasContent, emit }: EndedReply): AssistantMessage['cut'] {
  const ending = readEnding(reason)
  const said = String(reason).slice(0, MAX_REASON_CHARACTERS)
  if (ending === 'whole') return undefined
  if (ending === 'failed') throw cutStream(adapter, `The provider ended the reply with '${said}'.`)
  if (ending === undefined) {
    emit({ type: 'warning', message: `The provider ended the reply for a reason that is not known: ${said}.` })
    if (hasContent) return undefined
    return 'cut-off'
  }
  emit({ type: 'warning', message: `The model stopped before it was finished: ${said}.` })
  return ending
}

const MAX_MISS_CHARACTERS = 100

/** Reports why the provider did not find the beginning of a request in its cache, in its own words. */
export function reportCacheMiss(
  { reason, tokens }: { readonly reason: unknown; readonly tokens: unknown },
  emit: (event: ModelEvent) => void,
): void {
  if (typeof reason !== 'string') return
  const missed = Math.max(0, Number(tokens) || 0)
  emit({ type: 'cache/diagnosed', reason: reason.slice(0, MAX_MISS_CHARACTERS), tokens: missed })
}
