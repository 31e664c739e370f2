import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface LabelledTool {
  readonly name: string
  readonly description?: string
  readonly category?: string
  readonly tags?: readonly string[]
  readonly inputSchema?: unknown
}

export interface LabelledQuery {
  readonly id: string
  readonly query: string
  readonly relevant: readonly string[]
}

export interface LabelledSet {
  readonly name: string
  readonly tools: readonly LabelledTool[]
  readonly queries: readonly LabelledQuery[]
}

/** Sets whose queries choose weights. Neither their queries nor their tools are learned from. */
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
export function readCorpus(folder: string): readonly LabelledTool[] {
  return readLines<LabelledTool>(join(folder, 'toucan-corpus', 'tools.jsonl'))
}

export function readTrainingSets(folder: string): readonly LabelledSet[] {
  return readdirSync(join(folder, 'train'))
    .sort()
    .map((name) => readSet(join(folder, 'train'), name))
}

export function readDevSets(folder: string): readonly LabelledSet[] {
  return DEV_SETS.map((name) => readSet(folder, name))
}

function readSet(folder: string, name: string): LabelledSet {
  return {
    name,
    tools: readLines<LabelledTool>(join(folder, name, 'tools.jsonl')),
    queries: readLines<LabelledQuery>(join(folder, name, 'queries.jsonl')),
  }
}

function readLines<Row>(file: string): Row[] {
  if (!existsSync(file)) throw new Error(`There is no ${file}. Pass the folder with the data: --data <folder>.`)
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)
}
