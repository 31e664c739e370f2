import { computeConfidence } from './confidence.ts'
import type { Hit, Searchable, SearchIndex, SearchOutcome } from './contract.ts'
import { createEngine, type EngineFound, type EngineOptions } from './engine.ts'
import { createExplainer } from './explanation.ts'
import { getPart } from './ranking.ts'
import { readQuery, refuseEmptyQuery } from './text/read-query.ts'
import { getGroup } from './text/tool-text.ts'

const DEFAULT_LIMIT = 5
/** A tool fits as well as the best one if its score is at least this share of the best score. */
const FITS_AS_WELL = 0.5
/** If the best tool's words cover this much of the request, tools that do not fit as well only fill the answer, and are left out. */
const MOST_OF_IT = 0.65
/** How many tools are offered as guesses if none fits well. */
const MAX_GUESSES = 3
const MOST_CATEGORIES = 3
/** How many of the best tools determine the nearest categories. */
const NEAREST_TOOLS = 10

/** Creates an index of tools that can be searched. */
export function createSearchIndex<Tool extends Searchable = Searchable>(
  options: EngineOptions = {},
): SearchIndex<Tool> {
  const engine = createEngine<Tool>(options)
  return {
    get size() {
      return engine.size
    },
    add: engine.add,
    remove: engine.remove,
    wake: engine.wake,
    ready: engine.ready,
    async search(query, { category, limit = DEFAULT_LIMIT } = {}) {
      refuseEmptyQuery(query)
      const { text, ignoredCharacters } = readQuery(query)
      const most = Number.isNaN(limit) ? DEFAULT_LIMIT : limit
      return engine.find(text, category, (found) => ({ ...toOutcome(found, most), ignoredCharacters }))
    },
    async explain(query, qualified) {
      refuseEmptyQuery(query)
      const { text } = readQuery(query)
      return engine.find(text, undefined, (found) => {
        const slot = found.getSlot(qualified)
        return slot === undefined ? undefined : toHit(found, slot).explain()
      })
    },
  }
}

function toOutcome<Tool extends Searchable>(
  found: EngineFound<Tool>,
  limit: number,
): Omit<SearchOutcome<Tool>, 'ignoredCharacters'> {
  const { request, scores } = found.ranking
  const best = found.takeBest(Math.max(1, limit))
  const [top] = best
  const { confidence, fit, coverage } = computeConfidence(found, top)
  const enough = (top === undefined ? 0 : (scores[top] ?? 0)) * FITS_AS_WELL
  const fitsAsWell = (slot: number): boolean => (scores[slot] ?? 0) >= enough
  let asGood = 0
  for (const slot of found.ranking.found) if (fitsAsWell(slot)) asGood++
  const hasGap = coverage >= MOST_OF_IT && request.named.size === 0
  const hits = { good: hasGap ? best.filter(fitsAsWell) : best, weak: best.slice(0, MAX_GUESSES), none: [] }[fit]
  const shown = hits.slice(0, limit)
  return {
    hits: shown.map((slot) => toHit(found, slot)),
    fit,
    more: fit === 'good' ? Math.max(0, asGood - shown.length) : 0,
    parts: request.parts.length > 0 ? request.parts.map(({ text }) => text) : [request.text],
    confidence,
    nearestCategories: fit === 'good' ? [] : getNearestCategories(found),
    meaning: found.meaning,
    withoutEncoder: found.withoutEncoder,
  }
}

function toHit<Tool extends Searchable>(found: EngineFound<Tool>, slot: number): Hit<Tool> {
  const { ranking, postings } = found
  const tool = found.getTool(slot)
  return {
    tool,
    score: ranking.scores[slot] ?? 0,
    part: getPart(ranking, slot),
    explain: createExplainer(tool, slot, found.computeScore(slot), ranking.whole.query, postings),
  }
}

function getNearestCategories<Tool extends Searchable>(found: EngineFound<Tool>): readonly string[] {
  const categories = found.takeBest(NEAREST_TOOLS).map((slot) => getGroup(found.getTool(slot)))
  return [...new Set(categories)].filter((category) => category !== undefined).slice(0, MOST_CATEGORIES)
}
