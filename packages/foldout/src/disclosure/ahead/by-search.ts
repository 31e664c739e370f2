import { checkNumbers } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import type { Embedding, SectionHit } from '../../find/section-index.ts'
import type { AheadContext, AheadRule } from './rule.ts'

/**
 * Options of {@link bySearch}.
 *
 * @example
 * ```ts
 * const options: BySearchOptions = { max: 2, budget: 4_000, minFit: 'weak' }
 * ```
 */
export interface BySearchOptions {
  /** How many sections are opened at most. One that is not needed costs its tokens. Default 1. */
  readonly max?: number
  /** The most tokens that the opened sections may have together, with their tools. Default 8,000. */
  readonly budget?: number
  /** How well a section has to fit: `'weak'` also opens guesses. Default `'good'`. */
  readonly minFit?: 'good' | 'weak'
  /** How nearness of meaning is found: as for catalogs, with word vectors, an encoder, or not at all. */
  readonly embed?: Embedding
}

/** A further section must fit nearly as well as the first. */
const MIN_SHARE = 0.9
/** How many of the best sections are looked at, if some are open or too large. */
const MAX_CANDIDATES = 20

/**
 * Opens the sections that fit the user's input best, by a search over titles, summaries, texts and the names of tools.
 * The index is made once for each prompt.
 *
 * @example
 * ```ts
 * const { turns } = await runAgent(bound, { adapter, input: 'Refund order 17.', open: bySearch({ max: 1 }) })
 * ```
 */
export function bySearch(options: BySearchOptions = {}): AheadRule {
  const { max = 1, budget = 8_000, minFit = 'good', embed } = options
  checkNumbers({ max, budget }, { code: 'run-options' })
  if (minFit !== 'good' && minFit !== 'weak')
    throw new FoldoutError('run-options', `minFit is '${String(minFit)}'. Pass 'good' or 'weak'.`)
  // Events name the rule after the function.
  const rule = async function bySearch(input: string, context: AheadContext): Promise<readonly string[]> {
    const { view } = context
    const { getSectionIndex } = await import('../../find/section-index.ts')
    const { hits, fit } = await getSectionIndex(view.texts, embed).search(input, {
      limit: Math.max(MAX_CANDIDATES, max),
      accepts: (path) => view.state(path) === 'folded',
    })
    if (fit === 'none' || (fit === 'weak' && minFit === 'good')) return []
    return takeFitting(hits, { max, budget, countTokens: context.countTokens })
  }
  return Object.freeze(Object.assign(rule, { max }))
}

interface Terms {
  readonly max: number
  readonly budget: number
  readonly countTokens: AheadContext['countTokens']
}

/** Takes hits while they fit and the budget lasts. A section inside another hit is open with it, or opens it. */
function takeFitting(hits: readonly SectionHit[], { max, budget, countTokens }: Terms): readonly string[] {
  const least = (hits[0]?.score ?? 0) * MIN_SHARE
  const taken: string[] = []
  for (const { path, score } of hits) {
    if (taken.length >= max || score < least) break
    if (taken.some((other) => other.startsWith(`${path}.`))) continue
    if (countTokens([...taken, path]) <= budget) taken.push(path)
  }
  return taken
}
