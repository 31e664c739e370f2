import { performance } from 'node:perf_hooks'
import { median } from './measure.ts'
import { goal, type Goal } from './report.ts'
import { searchable, spread, type DataSet, type DataTool } from './search-data.ts'
import { createIndex } from './search-engines.ts'
import { percentile } from './search-scores.ts'

const SMALL = 500
const LARGE = 15_000
const QUERIES = 300
const ADDITIONS = 200

interface Scale {
  readonly buildMs: number
  readonly p50ms: number
  /** Adding one tool, and removing it again. */
  readonly additionMs: number
}

/** Measures the cost of size, with the tools and queries of the largest set. */
export async function scaleGoals(set: DataSet): Promise<readonly Goal[]> {
  // Once as warm-up for the compiler, which would otherwise count as building.
  await measureScale(set, SMALL)
  const small = await measureScale(set, SMALL)
  const large = await measureScale(set, LARGE)
  return [
    goal('p50 at 500 tools, ms', small.p50ms, '<', 1),
    goal('p50 at 15,000 tools, ms', large.p50ms, '<', 5),
    goal('building an index of 15,000 tools, ms', large.buildMs, '<', 1_000),
    goal('adding and removing one tool, at 15,000 / at 500', large.additionMs / small.additionMs, '<=', 5),
  ]
}

async function measureScale(set: DataSet, size: number): Promise<Scale> {
  const tools = sized(set.tools, size).map(searchable)
  const index = createIndex()
  const start = performance.now()
  for (const tool of tools) index.add(tool)
  await index.ready()
  const buildMs = performance.now() - start
  const times: number[] = []
  for (const { query } of spread(set.queries, QUERIES)) {
    const start = performance.now()
    await index.search(query)
    times.push(performance.now() - start)
  }
  const additions: number[] = []
  for (const tool of spread(tools, ADDITIONS)) {
    const added = { ...tool, qualified: `another/${tool.qualified}` }
    const start = performance.now()
    index.add(added)
    await index.ready()
    index.remove(added.qualified)
    await index.ready()
    additions.push(performance.now() - start)
  }
  return { buildMs, p50ms: percentile(times, 0.5), additionMs: median(additions) }
}

/** Picks evenly spread tools if there are too many, and repeats some under another name if there are too few. */
function sized(tools: readonly DataTool[], size: number): readonly DataTool[] {
  if (tools.length >= size) return spread(tools, size)
  const more = spread(tools, size - tools.length).map((tool) => ({ ...tool, name: `again/${tool.name}` }))
  return [...tools, ...more]
}
