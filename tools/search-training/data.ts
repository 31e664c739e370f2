import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface LabeledTool {
  readonly name: string
  readonly description?: string
  readonly category?: string
  readonly tags?: readonly string[]
  readonly inputSchema?: unknown
}

export interface LabeledQuery {
  readonly id: string
  readonly query: string
  readonly relevant: readonly string[]
}

export interface LabeledSet {
  readonly name: string
  readonly tools: readonly LabeledTool[]
  readonly queries: readonly LabeledQuery[]
}

/** Sets for tuning weights. Training uses neither their queries nor their tools. */
export const DEV_SETS = [
  'azure-mcp',
  'bfcl-live',
  'sgd',
  'toolbench-stable',
  'mcp-xl-dev',
  'metatool',
  'mcpproxy-golden',
] as const

/** Real tools without queries, to learn how tools are described. */
export function readCorpus(folder: string): readonly LabeledTool[] {
  return readLines<LabeledTool>(join(folder, 'toucan-corpus', 'tools.jsonl'))
}

export function readTrainingSets(folder: string): readonly LabeledSet[] {
  return readdirSync(join(folder, 'train'))
    .sort()
    .map((name) => readSet(join(folder, 'train'), name))
}

export function readDevSets(folder: string): readonly LabeledSet[] {
  return DEV_SETS.map((name) => readSet(folder, name))
}

function readSet(folder: string, name: string): LabeledSet {
  return {
    name,
    tools: readLines<LabeledTool>(join(folder, name, 'tools.jsonl')),
    queries: readLines<LabeledQuery>(join(folder, name, 'queries.jsonl')),
  }
}

function readLines<Row>(file: string): Row[] {
  if (!existsSync(file)) throw new Error(`There is no ${file}. Pass the folder with the data: --data <folder>.`)
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)
}
