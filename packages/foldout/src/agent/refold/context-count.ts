import type { Message, Usage } from '../../adapters/contract.ts'
import { countLongText } from '../../core/tokens/long-text.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import { toolTokens } from '../../tools/definition.ts'
import type { AnyTool } from '../../tools/tool.ts'

/** The text and tools that precede a conversation. */
export interface ContextStart {
  readonly system: string
  /** Changes with the tools. */
  readonly version: number
  listTools(): readonly AnyTool[]
}

/** The tokens of what precedes a conversation. */
export interface StartCount {
  readonly system: number
  readonly tools: number
}

/** What the tokens of a request are for. */
export interface ContextParts extends StartCount {
  /** The texts of sections that were opened in the conversation. */
  readonly sections: number
  /** What other tools have answered. */
  readonly results: number
  /** What the user and the model have said. */
  readonly conversation: number
}

/** Counts the tokens of requests. */
export interface ContextCount {
  /** Counts one message. The number is kept, because every request has the message again. */
  countMessage(message: Message): number
  /** Counts the text and the tools that precede a conversation. */
  countStart(): StartCount
  /** Corrects a count by what the provider has counted. */
  correct(tokens: number): number
  /** Compares the provider's count with that of the request. */
  learn(usage: Usage, counted: number): void
}

/** The tokens of the smallest request whose count is compared with the provider's. */
const SMALLEST_COMPARED = 1_000

export function createContextCount(counter: TokenCounter, getStart: () => ContextStart): ContextCount {
  const counts = new WeakMap<Message, number>()
  // Some providers count half as much again as an estimate says.
  let scale = 1
  let known: { readonly system: string; readonly version: number; readonly counted: StartCount } | undefined
  return {
    countMessage(message) {
      const count = counts.get(message) ?? countMessage(message, counter)
      counts.set(message, count)
      return count
    },
    countStart() {
      const { system, version, listTools } = getStart()
      if (known?.system !== system || known.version !== version) {
        const tools = listTools().reduce((sum, tool) => sum + toolTokens(tool, counter), 0)
        known = { system, version, counted: { system: counter.count(system), tools } }
      }
      return known.counted
    },
    correct: (tokens) => Math.round(scale * tokens),
    learn({ inputTokens }, counted) {
      const ratio = inputTokens / counted
      // Small requests say little, and a number far off counts something else.
      if (counted >= SMALLEST_COMPARED && ratio > 0.5 && ratio < 3) scale = ratio
    },
  }
}

/**
 * Roughly what providers count for a full-size image. For files, there is no such number; this equals a page or two.
 */
const TOKENS_OF_MEDIA = 1600

/** A longer message is estimated from pieces, with any counter: what a run folds needs no exact number. */
const MAX_COUNTED_CHARACTERS = 50_000

/** Counts the tokens of a message. */
export function countMessage(message: Message, counter: TokenCounter): number {
  let media = 0
  const text = JSON.stringify(toCounted(message), (key, value: unknown) => {
    if (UNCOUNTED.has(key)) return undefined
    // The bytes of images and files do not count as text.
    if (key !== 'parts' && key !== 'images') return value
    if (Array.isArray(value)) media = value.filter((part) => (part as { type?: string }).type !== 'text').length
    else media = 0
    return undefined
  })
  const tokens = Math.round(countLongText(text, MAX_COUNTED_CHARACTERS, (part) => counter.count(part)))
  return tokens + media * TOKENS_OF_MEDIA
}

/** A reply that the provider wrote is sent back as it is, instead of its text and calls. */
function toCounted(message: Message): unknown {
  if (message.role === 'assistant' && message.native) return message.native.content
  return message
}

/** Fields that are long and no text for the model. */
const UNCOUNTED: ReadonlySet<string> = new Set(['signature', 'encrypted_content', 'prefix'])
