import type { Searchable } from '../packages/foldout/src/catalog/search/contract.ts'
import type { ConfidenceFeatures } from '../packages/foldout/src/catalog/search/confidence.ts'
import type { Engine } from '../packages/foldout/src/catalog/search/engine.ts'
import { searchable, spread, type DataSet, type DataTool } from './search-data.ts'
import { computeConfidence, createEngine, getFeatures } from './search-engines.ts'

/**
 * How a query came to be one that nothing answers: its right tools were removed; all of their group too, so that no sibling
 * is left; or it was made for another catalog.
 */
export type Kind = 'answerable' | 'removed' | 'group removed' | 'foreign'

export interface Case {
  readonly set: string
  readonly kind: Kind
  /** Nothing if no tool shares anything with the query. */
  readonly features: ConfidenceFeatures | undefined
  /** Whether it was answered with "nothing fits". */
  readonly rejected: boolean
}

const MOST_QUERIES = 300
const MOST_FOREIGN = 100
/** Catalogs and those whose queries have nothing to do with them. The others have tools for nearly everything. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  'azure-mcp': ['sgd', 'metatool', 'toolbench-stable'],
  sgd: ['azure-mcp', 'mcpproxy-golden'],
  metatool: ['azure-mcp', 'mcpproxy-golden'],
  'toolbench-stable': ['azure-mcp', 'mcpproxy-golden'],
  'bfcl-live': ['azure-mcp'],
  'mcpproxy-golden': ['sgd', 'azure-mcp', 'metatool', 'toolbench-stable'],
}

export async function nothingFitsCases(
  sets: readonly DataSet[],
  embed: 'word-vectors' | false = 'word-vectors',
): Promise<readonly Case[]> {
  const cases: Case[] = []
  for (const set of sets) {
    const engine = createEngine<Searchable>({ embed })
    for (const tool of set.tools) engine.add(searchable(tool))
    const take = async (kind: Kind, query: string) => {
      await engine.find(query, undefined, (found) => {
        const [top] = found.takeBest(1)
        const features = top === undefined ? undefined : getFeatures(found, top)
        cases.push({ set: set.name, kind, features, rejected: !computeConfidence(found, top).fits })
      })
    }
    for (const { query, relevant } of spread(set.queries, MOST_QUERIES)) {
      const right = set.tools.filter(({ name }) => relevant.includes(name))
      if (right.length === 0) continue
      await take('answerable', query)
      await without(engine, right, () => take('removed', query))
      await without(engine, getGroup(right, set.tools), () => take('group removed', query))
    }
    for (const other of sets.filter(({ name }) => FOREIGN[set.name]?.includes(name))) {
      for (const { query } of spread(other.queries, MOST_FOREIGN)) await take('foreign', query)
    }
  }
  return cases
}

/** The share of some cases that was answered with "nothing fits". */
export function rejectedShare(cases: readonly Case[]): number {
  return cases.filter(({ rejected }) => rejected).length / cases.length
}

async function without(
  engine: Engine<Searchable>,
  tools: readonly DataTool[],
  run: () => Promise<void>,
): Promise<void> {
  for (const { name } of tools) engine.remove(name)
  await run()
  for (const tool of tools) engine.add(searchable(tool))
}

/** All tools of a category that one of some tools is in; in a catalog of tools without one, those tools. */
function getGroup(tools: readonly DataTool[], all: readonly DataTool[]): readonly DataTool[] {
  const categories = new Set(tools.map(({ category }) => category).filter((category) => category !== undefined))
  return all.filter((tool) => tools.includes(tool) || (tool.category !== undefined && categories.has(tool.category)))
}
