import { FoldoutError } from '../../core/errors.ts'
import { computeConfidence } from './confidence.ts'
import type { Hit, Searchable, SearchIndex, SearchIndexOptions } from './contract.ts'
import { createEngine, type Found } from './engine.ts'
import { explainer } from './explanation.ts'
import { getPart } from './ranking.ts'
import { getGroup } from './text/tool-text.ts'
import { TUNING, type Tuning } from './tuning.ts'

const DEFAULT_LIMIT = 5
/** A tool that has less than this of the best one's score does not fit as well. */
const FITS_AS_WELL = 0.5
const MOST_CATEGORIES = 3
/** How many of the best tools tell which categories are near. */
const NEAREST_TOOLS = 10

export function createSearchIndex<Tool extends Searchable = Searchable>(
  options: SearchIndexOptions = {},
): SearchIndex<Tool> {
  return createTunedIndex(options, TUNING)
}

/** The same with other numbers, to see what each of them gains. */
export function createTunedIndex<Tool extends Searchable>(
  { meaning = 'bundled' }: SearchIndexOptions,
  tuning: Tuning,
): SearchIndex<Tool> {
  const engine = createEngine<Tool>(meaning, tuning)
  return {
    get size() {
      return engine.size
    },
    add: engine.add,
    remove: engine.remove,
    async search(query, { category, limit = DEFAULT_LIMIT } = {}) {
      const found = await engine.find(checked(query), category)
      const { request, scores } = found.ranking
      const best = found.best(Math.max(1, limit))
      const { confidence, fits } = computeConfidence(found, best[0])
      const enough = scores[best[0]!]! * FITS_AS_WELL
      let asGood = 0
      for (const slot of found.ranking.found) if (scores[slot]! >= enough) asGood++
      const hits = fits ? best.slice(0, limit).map((slot) => toHit(found, slot)) : []
      return {
        hits,
        more: fits ? Math.max(0, asGood - hits.length) : 0,
        parts: request.parts.length > 0 ? request.parts.map(({ text }) => text) : [request.text],
        confidence,
        nearestCategories: fits ? [] : nearestCategories(found),
      }
    },
    async explain(query, qualified) {
      const found = await engine.find(checked(query))
      const slot = found.getSlot(qualified)
      return slot === undefined ? undefined : toHit(found, slot).explain()
    },
  }
}

function checked(query: string): string {
  if (query.trim() !== '') return query
  throw new FoldoutError(
    'search-query-empty',
    'The query of a search is empty. Say in a few words what a tool should do.',
  )
}

function toHit<Tool extends Searchable>(found: Found<Tool>, slot: number): Hit<Tool> {
  const { ranking, postings } = found
  const tool = found.toolAt(slot)
  return {
    tool,
    score: ranking.scores[slot]!,
    part: getPart(ranking, slot),
    explain: explainer(tool, slot, found.computeScore(slot), ranking.whole.query, postings),
  }
}

function nearestCategories<Tool extends Searchable>(found: Found<Tool>): readonly string[] {
  const categories = found.best(NEAREST_TOOLS).map((slot) => getGroup(found.toolAt(slot)))
  return [...new Set(categories)].filter((category) => category !== undefined).slice(0, MOST_CATEGORIES)
}
