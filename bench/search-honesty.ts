import type { ConfidenceFeatures } from '../packages/foldout/src/catalog/search/engine/confidence-weights.ts'
import type { Searchable, SearchFit } from '../packages/foldout/src/catalog/search/contract.ts'
import type { Encoder } from '../packages/foldout/src/catalog/search/encoder.ts'
import { goal, type Goal } from './report.ts'
import { searchable, spread, type DataSet, type DataTool } from './search-data.ts'
import { areForeign, getDomainCatalogs } from './search-domains.ts'
import { computeConfidence, createEngine, getFeatures, isJudgedByWords } from './search-engines.ts'

/** A query to a catalog with a right tool, or to one about something else. */
export interface Case {
  readonly set: string
  readonly kind: 'answerable' | 'foreign'
  /** Undefined if no tool shares anything with the query. */
  readonly features: ConfidenceFeatures | undefined
  readonly isNamed: boolean
  /** Whether vectors are off. */
  readonly isJudgedByWords: boolean
  readonly fit: SearchFit
}

const MOST_QUERIES = 300
const MOST_FOREIGN = 200
export type CaseEmbed = 'word-vectors' | false | Encoder

/** Sends every set its own queries, and catalogs of one domain their own and those of others. */
export async function collectCases(
  sets: readonly DataSet[],
  embed: CaseEmbed = 'word-vectors',
): Promise<readonly Case[]> {
  const cases: Case[] = []
  const ask = async (
    name: string,
    tools: readonly DataTool[],
    queries: readonly (readonly [Case['kind'], string])[],
  ) => {
    const engine = createEngine<Searchable>({ embed })
    for (const tool of tools) engine.add(searchable(tool))
    await engine.ready()
    for (const [kind, query] of queries) {
      await engine.find(query, undefined, function* read(found) {
        const [top] = yield* found.takeBest(1)
        const { fit } = computeConfidence(found, top)
        if (top === undefined) {
          cases.push({ set: name, kind, features: undefined, isNamed: false, isJudgedByWords: true, fit })
          return
        }
        const features = getFeatures(found, top)
        const isNamed = found.ranking.request.named.has(top)
        cases.push({ set: name, kind, features, isNamed, isJudgedByWords: isJudgedByWords(found, top, features), fit })
      })
    }
  }
  const getOwn = (queries: DataSet['queries']) =>
    spread(queries, MOST_QUERIES).map(({ query }) => ['answerable', query] as const)
  for (const { name, tools, queries } of sets) await ask(name, tools, getOwn(queries))
  const catalogs = getDomainCatalogs(sets)
  for (const { set, domain, tools, queries } of catalogs) {
    const others = catalogs.filter((other) => areForeign(domain, other.domain))
    const each = Math.ceil(MOST_FOREIGN / others.length)
    const foreign = others.flatMap((other) =>
      spread(other.queries, each).map(({ query }) => ['foreign', query] as const),
    )
    await ask(`${set}: ${domain}`, tools, [...(domain === 'cloud' ? [] : getOwn(queries)), ...foreign])
  }
  return cases
}

/** The share of some cases in which nothing was said to fit, or only weakly. */
export function getDoubtedShare(cases: readonly Case[]): number {
  return cases.filter(({ fit }) => fit !== 'good').length / cases.length
}

export function getHonestyGoals(cases: readonly Case[]): readonly Goal[] {
  const [ofSets, ofDomains] = [false, true].map((isDomain) =>
    cases.filter(({ set }) => set.includes(': ') === isDomain),
  )
  const answerable = getShares(ofSets!, 'answerable')
  const foreign = getShares(ofDomains!, 'foreign')
  return [
    goal("doubted, of another domain's queries", mean(foreign), '>=', 0.8),
    goal('doubted, of answerable queries', mean(answerable), '<=', 0.02),
    goal('doubted, of answerable queries, worst set', Math.max(...answerable), '<=', 0.05),
    goal(
      'doubted, of answerable queries in catalogs of one domain',
      getDoubtedShare(ofDomains!.filter(({ kind }) => kind === 'answerable')),
      '<=',
      0.02,
    ),
  ]
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Of each set or catalog. */
function getShares(cases: readonly Case[], kind: Case['kind']): readonly number[] {
  const ofKind = cases.filter((one) => one.kind === kind)
  return [...new Set(ofKind.map(({ set }) => set))].map((set) =>
    getDoubtedShare(ofKind.filter((one) => one.set === set)),
  )
}

export function printCases(cases: readonly Case[]): void {
  console.log('Answered with "nothing fits" or with guesses; of answerable queries, and of another domain\'s')
  for (const set of new Set(cases.map((one) => one.set))) {
    const shares = (['answerable', 'foreign'] as const).map((kind) => {
      const ofKind = cases.filter((one) => one.set === set && one.kind === kind)
      return ofKind.length === 0 ? '-' : `${(100 * getDoubtedShare(ofKind)).toFixed(1)} % of ${ofKind.length}`
    })
    console.log(`  ${set.padEnd(34)}${shares.map((share) => share.padStart(16)).join('')}`)
  }
  console.log()
}
