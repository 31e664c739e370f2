import { computeConfidence } from './confidence.ts'
import type { Hit, Searchable, SearchIndex, SearchOutcome } from './contract.ts'
import { createEngine, type EngineFound, type EngineOptions } from './engine.ts'
import { createExplainer } from './explanation.ts'
import { computeCoverage } from './lexical/lexical.ts'
import { getPart } from './ranking.ts'
import { PASSED_AT_ONCE, type Steps } from './slices.ts'
import { readQuery, refuseEmptyQuery } from './text/read-query.ts'
import { getGroup } from './text/tool-text.ts'

const DEFAULT_LIMIT = 5
/** A tool fits as well as the best one if its score is at least this share of the best score. */
const FITS_AS_WELL = 0.6
/** If the best tool's words cover this much of the whole request, tools that do not fit as well only fill the answer, and are left out. */
const MOST_OF_IT = 0.65
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
      return engine.find(text, category, function* read(found) {
        return { ...(yield* toOutcome(found, most)), ignoredCharacters }
      })
    },
    async explain(query, qualified) {
      refuseEmptyQuery(query)
      const { text } = readQuery(query)
      // oxlint-disable-next-line require-yield -- there is only one tool to look at
      return engine.find(text, undefined, function* read(found) {
        const slot = found.getSlot(qualified)
        return slot === undefined ? undefined : toHit(found, slot).explain()
      })
    },
  }
}

function* toOutcome<Tool extends Searchable>(
  found: EngineFound<Tool>,
  limit: number,
): Steps<Omit<SearchOutcome<Tool>, 'ignoredCharacters'>> {
  const { request, scores, found: slots } = found.ranking
  const best = yield* found.takeBest(Math.max(1, limit))
  yield
  const [top] = best
  const { confidence, fit } = computeConfidence(found, top)
  const enough = (top === undefined ? 0 : (scores[top] ?? 0)) * FITS_AS_WELL
  const fitsAsWell = (slot: number): boolean => (scores[slot] ?? 0) >= enough
  let asGood = 0
  for (let at = 0; at < slots.length; at++) {
    if (at % PASSED_AT_ONCE === 0) yield
    if (fitsAsWell(slots[at] ?? 0)) asGood++
  }
  const coverage = computeCoverage(found.ranking.whole.query, top ?? -1, found.postings)
  const hasGap = coverage >= MOST_OF_IT && request.named.size === 0
  const hits = { good: hasGap ? best.filter(fitsAsWell) : best, weak: best, none: [] }[fit]
  const shown = hits.slice(0, limit)
  const shownHits: Hit<Tool>[] = []
  for (const slot of shown) {
    yield
    shownHits.push(toHit(found, slot))
  }
  return {
    hits: shownHits,
    fit,
    more: fit === 'good' ? Math.max(0, asGood - shown.length) : 0,
    parts: request.parts.length > 0 ? request.parts.map(({ text }) => text) : [request.text],
    confidence,
    nearestCategories: fit === 'good' ? [] : yield* getNearestCategories(found),
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

function* getNearestCategories<Tool extends Searchable>(found: EngineFound<Tool>): Steps<readonly string[]> {
  const nearest = yield* found.takeBest(NEAREST_TOOLS)
  const categories = nearest.map((slot) => getGroup(found.getTool(slot)))
  return [...new Set(categories)].filter((category) => category !== undefined).slice(0, MOST_CATEGORIES)
}
