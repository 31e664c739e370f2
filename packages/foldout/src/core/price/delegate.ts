import { checkNumbers } from '../check-number.ts'
import { checkPromptCache, USUAL_CACHE, type PromptCache } from './prompt-cache.ts'

/**
 * One use of a section in a conversation, in tokens.
 *
 * @example
 * ```ts
 * const use: SectionUse = { context: 60_000, section: 4_000, requests: 3, results: 2_400, later: 10 }
 * compareDelegating(use) // => { opening: 33840, asking: 10123 }
 * ```
 */
export interface SectionUse {
  /** What the conversation sends when the section is opened. */
  readonly context: number
  /** The section's text with the definitions of its tools. */
  readonly section: number
  /** How many requests call its tools. */
  readonly requests: number
  /** Their calls and results together. */
  readonly results: number
  /** How many requests follow. They need neither the section nor its results. */
  readonly later: number
}

/**
 * What a delegate is compared with.
 *
 * @example
 * ```ts
 * const terms: DelegateTerms = { rate: 0.2, answer: 150 }
 * compareDelegating({ context: 60_000, section: 4_000, requests: 3, results: 2_400, later: 10 }, terms)
 * ```
 */
export interface DelegateTerms {
  /** The cache of the model. Default: 1,024 tokens, reads at 0.1, writes at 1.25. */
  readonly cache?: PromptCache
  /** The price of the model that answers, as a share of the price of the model that asks. Default 1: the same model. */
  readonly rate?: number
  /** The tokens of an answer. Default 200. */
  readonly answer?: number
  /** The tokens of a question, with what the agent is told besides. Default 150. */
  readonly question?: number
}

/**
 * Compares what a use of a section costs if it is opened and if a delegate answers, in tokens at the price of input. An
 * opened section and its results are written once and read by every later request, and each call of its tools reads the
 * whole conversation again. A delegate reads only the section, and its answer is what stays.
 *
 * @example
 * ```ts
 * const use = { context: 60_000, section: 4_000, requests: 3, results: 2_400, later: 10 }
 * const { opening, asking } = compareDelegating(use)
 * asking < opening // => true
 * const once = { context: 2_000, section: 4_000, requests: 0, results: 0, later: 1 }
 * compareDelegating(once).asking < compareDelegating(once).opening // => false
 * ```
 */
export function compareDelegating(
  use: SectionUse,
  terms: DelegateTerms = {},
): { readonly opening: number; readonly asking: number } {
  const { context, section, requests, results, later } = use
  const { cache = USUAL_CACHE, rate = 1, answer = 200, question = 150 } = terms
  checkNumbers({ context, section, requests, results, later, rate, answer, question }, { code: 'simulation-invalid' })
  checkPromptCache('cache', cache, 'simulation-invalid')
  const { read, write } = cache
  const growth = requests === 0 ? 0 : results / requests
  // The request that is sent with the section is sent either way: with its text, or with the answer.
  let opening = section * write + later * read * (section + results)
  let asking = answer * write + later * read * answer + rate * priceRequest(0, section + question, cache)
  for (let at = 0; at < requests; at++) {
    const before = section + growth * at
    opening += read * (context + before) + write * growth
    asking += rate * priceRequest(before + question, growth, cache)
  }
  return { opening: Math.round(opening), asking: Math.round(asking) }
}

/** The price of a request that adds to what the request before it has sent. */
function priceRequest(before: number, added: number, { minimum, read, write }: PromptCache): number {
  if (before >= minimum) return read * before + write * added
  const now = before + added
  if (now < minimum) return now
  return write * now
}
