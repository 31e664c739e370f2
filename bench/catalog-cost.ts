import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  all,
  catalogSection,
  createCatalog,
  hybrid,
  type Catalog,
  type CatalogEntry,
  type Exposure,
} from 'foldout/catalog'
import { definePrompt, defineSection, type TokenCounter } from 'foldout'
import type { SimulatedRun, SimulationStep } from 'foldout/telemetry'
import { findAndUse, sampleArguments } from './catalog-model.ts'
import { sampleTools } from './sample-tools.ts'
import { DATA_FOLDER, loadSet, spread } from './search-data.ts'

export const CATALOG_AGENT = 'catalog, 1,000 tools'
const TOOLS = 1_000
const TASKS = 40
const RESULT_TOKENS = 150
const ANSWER_TOKENS = 80

interface CatalogAgent {
  readonly prompt: SimulatedRun['prompt']
  readonly runs: readonly SimulatedRun[]
}

export interface Task {
  readonly query: string
  readonly wanted: CatalogEntry
}

/** The same tasks on a listed catalog and on a searched one, and the share that find their tool. */
export async function catalogRuns(
  counter: TokenCounter,
): Promise<{ readonly listed: CatalogAgent; readonly searched: CatalogAgent; readonly found: number }> {
  const { catalog, tasks } = getTasks()
  const listed = getPrompt(catalog, all())
  const searched = getPrompt(catalog, hybrid())
  const shown = hybrid().expose(catalog, { id: 'bench', takesListChanges: false })
  const runs: { listed: SimulatedRun[]; searched: SimulatedRun[] } = { listed: [], searched: [] }
  let found = 0
  for (const { query, wanted } of tasks) {
    const argumentsTokens = counter.count(JSON.stringify(sampleArguments(wanted)))
    const direct = { calls: [{ name: wanted.name, argumentsTokens, resultTokens: RESULT_TOKENS }] }
    // What a model tries if its first words do not find the tool.
    const words = [query, wanted.shortDescription, wanted.declared.replaceAll(/[^a-zA-Z0-9]+/g, ' ')]
    const { searches, callTokens } = await findAndUse(shown, wanted, words, counter)
    const steps: SimulationStep[] = searches.map((search) => ({ calls: [{ name: 'search_tools', ...search }] }))
    if (callTokens !== undefined) {
      found += 1
      steps.push({ calls: [{ name: 'use_tool', argumentsTokens: callTokens, resultTokens: RESULT_TOKENS }] })
    }
    runs.searched.push({ prompt: searched, input: query, steps: [...steps, { answers: ANSWER_TOKENS }] })
    runs.listed.push({ prompt: listed, input: query, steps: [direct, { answers: ANSWER_TOKENS }] })
  }
  return {
    listed: { prompt: listed, runs: runs.listed },
    searched: { prompt: searched, runs: runs.searched },
    found: found / tasks.length,
  }
}

function getPrompt(catalog: Catalog, expose: Exposure): SimulatedRun['prompt'] {
  const task = defineSection({
    key: 'task',
    title: 'Task',
    template: 'Do what the user asks for with the tools you have.',
  })
  return definePrompt({ ns: 'bench', key: 'catalog', sections: [task, catalogSection(catalog, { expose })] }).bind()
}

/** Requests that people wrote for a real server, among the tools of many others; invented requests if that data is missing. */
export function getTasks(size = TOOLS): {
  readonly catalog: Catalog
  readonly tools: readonly CatalogEntry[]
  readonly tasks: readonly Task[]
} {
  const { tools } = sampleTools()
  const folder = join(DATA_FOLDER, 'azure-mcp')
  if (!existsSync(folder)) {
    const catalog = createCatalog(spread(tools, size))
    return {
      catalog,
      tools: catalog.tools,
      tasks: spread(catalog.tools, TASKS).map((wanted) => ({ query: wanted.shortDescription, wanted })),
    }
  }
  const azure = loadSet('azure-mcp', join(folder, 'tools.jsonl'), join(folder, 'queries.jsonl'))
  const own = spread(azure.tools, Math.min(azure.tools.length, size / 2)).map((tool) => ({ ...tool, source: 'azure' }))
  const names = new Set(own.map(({ name }) => name))
  const catalog = createCatalog([...own, ...spread(tools, Math.max(0, size - own.length))])
  const queries = azure.queries.filter(({ relevant: [name = ''] }) => names.has(name))
  const tasks = spread(queries, TASKS).map(({ query, relevant }) => ({
    query,
    wanted: catalog.tools.find(({ qualified }) => qualified === `azure/${relevant[0]!}`)!,
  }))
  return { catalog, tools: catalog.tools, tasks }
}
