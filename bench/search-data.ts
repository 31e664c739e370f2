import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Searchable } from '../packages/foldout/src/catalog/search/contract.ts'

/** The folder with the data sets of real tools and queries, if it exists. */
export const DATA_FOLDER = fileURLToPath(new URL('../../shared/data', import.meta.url))

/** A tool in the data's format. */
export interface DataTool {
  readonly name: string
  readonly description?: string
  readonly category?: string
  readonly tags?: readonly string[]
  readonly inputSchema?: Readonly<Record<string, unknown>>
}

export interface DataQuery {
  readonly query: string
  /** Names of the right tools. */
  readonly relevant: readonly string[]
  /** In some sets, how right they are: 2 is right, 1 is acceptable. A few tools among them are graded 0. */
  readonly grades?: Readonly<Record<string, number>>
}

export interface DataSet {
  readonly name: string
  readonly tools: readonly DataTool[]
  readonly queries: readonly DataQuery[]
}

/** The sets whose mean has a goal. */
export const MEAN_SETS = ['azure-mcp', 'bfcl-live', 'sgd', 'toolbench-stable', 'mcp-xl-dev']
export const GOLDEN_SET = 'mcpproxy-golden'
export const DEV_SETS = [...MEAN_SETS, 'metatool', GOLDEN_SET]

export function loadSet(name: string, toolsFile: string, queriesFile: string): DataSet {
  return {
    name,
    tools: readLines(toolsFile) as readonly DataTool[],
    queries: readLines(queriesFile) as readonly DataQuery[],
  }
}

/** The development sets in a folder, or a sentence about what is missing. */
export function loadDevSets(folder: string): readonly DataSet[] | string {
  const missing = DEV_SETS.filter((name) => !existsSync(join(folder, name, 'tools.jsonl')))
  if (missing.length > 0) {
    return `There is no search data in ${folder}: ${missing.join(', ')} missing. Name the folder with --data, or a pair of files with --tools and --queries.`
  }
  return DEV_SETS.map((name) => loadSet(name, join(folder, name, 'tools.jsonl'), join(folder, name, 'queries.jsonl')))
}

/** Real tools of many servers, `server/tool`, for which nobody has written queries. */
export function readCorpus(folder: string): readonly DataTool[] {
  return readLines(join(folder, 'toucan-corpus', 'tools.jsonl')) as readonly DataTool[]
}

/** `azure-mcp` of `…/azure-mcp/tools.jsonl`, `my-tools` of `…/my-tools.jsonl`. */
export function getSetName(toolsFile: string): string {
  const name = basename(toolsFile).replace(/\.jsonl?$/, '')
  return name === 'tools' ? basename(dirname(toolsFile)) : name
}

/** Converts a tool to a catalog definition without a source. */
export function searchable({ name, description = '', category, tags = [], inputSchema = {} }: DataTool): Searchable {
  return {
    name,
    qualified: name,
    declared: name,
    source: undefined,
    title: undefined,
    description,
    category,
    tags,
    inputSchema,
  }
}

/** Picks a number of items from a list, evenly spread. */
export function spread<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items
  return Array.from({ length: most }, (_, i) => items[Math.floor((i * items.length) / most)]!)
}

/** A JSON value for each line of a file. */
export function readLines(file: string): readonly unknown[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): unknown => JSON.parse(line))
}
