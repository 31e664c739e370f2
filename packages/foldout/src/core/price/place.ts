import { computeWarmth, type PromptCache } from './prompt-cache.ts'

/**
 * Where sections are shown that are open before the first request: in the `'system'` text, or in a `'message'` behind the
 * user's.
 *
 * @example
 * ```ts
 * const format = ({ place, paths }: SectionsOpened): string => `${paths.join(', ')} in the ${place satisfies AheadPlace}`
 * ```
 */
export type AheadPlace = 'system' | 'message'

/**
 * What the place of sections that are opened ahead depends on.
 *
 * @example
 * ```ts
 * const cache = { minimum: 1024, read: 0.1, write: 1.25, ttlMs: 300_000 }
 * const terms: PlaceTerms = { cache, perHour: 40, variants: 3, shared: 400, opened: 5_000 }
 * ```
 */
export interface PlaceTerms {
  readonly cache: PromptCache
  /** How many conversations an hour begin with this prompt. */
  readonly perHour: number
  /** With how many different sections conversations may begin. */
  readonly variants: number
  /** The tokens that all conversations begin with. */
  readonly shared: number
  /** The tokens of the opened sections, with their tools. */
  readonly opened: number
}

/**
 * Chooses the place where the first request is cheaper. In the system text, the sections are cached together with the
 * rest, but only conversations with the same ones share it. Behind the message, all conversations share the rest.
 *
 * @example
 * ```ts
 * const cache = { minimum: 1024, read: 0.1, write: 1.25, ttlMs: 300_000 }
 * choosePlace({ cache, perHour: 40, variants: 3, shared: 400, opened: 5_000 }) // => 'system'
 * choosePlace({ cache, perHour: 40, variants: 700, shared: 7_500, opened: 4_000 }) // => 'message'
 * ```
 */
export function choosePlace(terms: PlaceTerms): AheadPlace {
  if (priceInSystem(terms) <= priceInMessage(terms)) return 'system'
  return 'message'
}

function priceInSystem({ cache, perHour, variants, shared, opened }: PlaceTerms): number {
  const tokens = shared + opened
  if (tokens < cache.minimum) return tokens
  return tokens * getRate(cache, computeWarmth(perHour / variants, cache))
}

function priceInMessage({ cache, perHour, shared, opened }: PlaceTerms): number {
  const tokens = shared + opened
  if (tokens < cache.minimum) return tokens
  const warmth = shared < cache.minimum ? 0 : computeWarmth(perHour, cache)
  return shared * getRate(cache, warmth) + opened * cache.write
}

function getRate({ read, write }: PromptCache, warmth: number): number {
  return warmth * read + (1 - warmth) * write
}

/** Counts the choices of up to `most` out of some sections; infinite if there are very many. */
export function countVariants(sections: number, most: number): number {
  let sum = 1
  let choices = 1
  for (let chosen = 1; chosen <= Math.min(most, sections) && Number.isFinite(sum); chosen++) {
    choices *= (sections - chosen + 1) / chosen
    sum += choices
  }
  return sum
}
