import type { AgentOptions, Message } from 'foldout'
import type { BeforeRequest } from 'foldout/results'

/** What a provider's cache costs, as multiples of the price of input, and how long it lives. */
export interface Price {
  readonly name: string
  readonly read: number
  readonly write: number
  readonly ttlMs: number
}

const MINUTE_MS = 60_000

export const PRICES: readonly Price[] = [
  { name: 'r .1 w 1.25 5m', read: 0.1, write: 1.25, ttlMs: 5 * MINUTE_MS },
  { name: 'r .1 w 2 1h', read: 0.1, write: 2, ttlMs: 60 * MINUTE_MS },
  { name: 'r .05 w 2 1h', read: 0.05, write: 2, ttlMs: 60 * MINUTE_MS },
  { name: 'r .025 w 1.25 5m', read: 0.025, write: 1.25, ttlMs: 5 * MINUTE_MS },
  { name: 'r .25 w 1 5m', read: 0.25, write: 1, ttlMs: 5 * MINUTE_MS },
]

/** A way to shorten conversations. `options` are the options of a run at a price. */
export interface Policy {
  readonly name: string
  /** Whether it decides by the price, so that it is another run at each. */
  readonly knowsPrice: boolean
  /** Whether what it removes can be read again. */
  readonly hasHandles: boolean
  options(price: Price): Pick<AgentOptions, 'refold' | 'beforeRequest' | 'contextWindow'>
}

/** The results of subagents are needed again far more often than others. */
const KEEP = ['Task', 'Agent', 'TaskOutput']

/** A policy that remembers nothing: what it leaves out depends on the request alone. */
const byHook = (name: string, beforeRequest: BeforeRequest): Policy => ({
  name,
  knowsPrice: false,
  hasHandles: false,
  options: () => ({ beforeRequest, refold: { largeTokens: 1e12 } }),
})

interface OldResult {
  readonly callId: string
  readonly tokens: number
  /** How many replies came after it. */
  readonly age: number
}

/** A stand-in has four characters per token. */
const CHARACTERS_PER_TOKEN = 4

function listResults(messages: readonly Message[]): readonly OldResult[] {
  const replies = messages.filter(({ role }) => role === 'assistant').length
  let before = 0
  return messages.flatMap((message) => {
    if (message.role === 'assistant') before++
    if (message.role !== 'tool' || message.name === 'read_result' || message.text.startsWith('[')) return []
    return [{ callId: message.callId, tokens: message.text.length / CHARACTERS_PER_TOKEN, age: replies - before }]
  })
}

const fold = (results: readonly OldResult[]): { readonly results: readonly string[] } => ({
  results: results.map(({ callId }) => callId),
})

const masking = byHook('mask all but 10 turns', ({ messages }) =>
  fold(listResults(messages).filter(({ age }) => age >= 10)),
)

const keepThree = byHook('keep 3 over 100 k', ({ messages, tokens }) =>
  fold(tokens > 100_000 ? listResults(messages).slice(0, -3) : []),
)

/** Protects the newest results up to a number of tokens, and folds all others if that frees enough. */
const protect = (kept: number, least: number): BeforeRequest => {
  return ({ messages }) => {
    let sum = 0
    const old = listResults(messages)
      .toReversed()
      .filter(({ tokens }) => (sum += tokens) > kept)
    const freed = old.reduce((all, { tokens }) => all + tokens, 0)
    return fold(freed >= least ? old : [])
  }
}

export const POLICIES: readonly Policy[] = [
  { name: 'append-only', knowsPrice: false, hasHandles: true, options: () => ({ refold: false }) },
  masking,
  keepThree,
  byHook("opencode's numbers", protect(40_000, 20_000)),
  byHook("gemini-cli's numbers", protect(50_000, 30_000)),
  {
    name: 'foldout',
    knowsPrice: true,
    hasHandles: true,
    options: ({ read, write, ttlMs }) => ({
      contextWindow: 200_000,
      refold: { keep: KEEP, cache: { read, write, ttlMs } },
    }),
  },
]
