import { computeConfidence } from './confidence.ts'
import type { Hit, Searchable, SearchIndex, SearchOutcome } from '../contract.ts'
import { createEngine, type EngineFound, type EngineOptions } from './engine.ts'
import { createExplainer } from './explanation.ts'
import { answerParts, spreadOverParts } from './part-answers.ts'
import { getPart } from './ranking.ts'
import type { Steps } from '../slices.ts'
import { readQuery, refuseEmptyQuery } from '../text/read-query.ts'
import { getGroup } from '../text/tool-text.ts'

const DEFAULT_LIMIT = 5
/** How many tools after the hits are named. */
const ALSO_NEAR = 5
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
        if (slot === undefined) return undefined
        return toHit(found, slot).explain()
      })
    },
  }
}

function* toOutcome<Tool extends Searchable>(
  found: EngineFound<Tool>,
  limit: number,
): Steps<Omit<SearchOutcome<Tool>, 'ignoredCharacters'>> {
  const { request } = found.ranking
  const most = Math.max(0, limit)
  const ranked = yield* found.takeBest(Math.max(most, DEFAULT_LIMIT) + ALSO_NEAR)
  const answers = yield* answerParts(found)
  const best = spreadOverParts(ranked, answers, DEFAULT_LIMIT, (slot) => getPart(found.ranking, slot)).slice(
    0,
    most + ALSO_NEAR,
  )
  yield
  const { confidence, fit } = computeConfidence(found, best[0])
  const shown = fit === 'none' ? [] : best
  const hits: Hit<Tool>[] = []
  for (const slot of shown.slice(0, most)) {
    yield
    hits.push(toHit(found, slot))
  }
  return {
    hits,
    fit,
    alsoNear: shown.slice(most).map(found.getTool),
    parts: request.parts.length > 0 ? request.parts.map(({ text }) => text) : [request.text],
    unanswered: answers.filter(({ fit: ofPart }) => ofPart !== 'good').map(({ text }) => text),
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
