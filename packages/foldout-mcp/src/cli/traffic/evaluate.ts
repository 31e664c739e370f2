import { isUnknown, type Catalog } from 'foldout/catalog'
import * as v from 'valibot'
import { UsageError } from '../../gateway/config/config.ts'
import { readTextFile } from '../../gateway/config/text-file.ts'
import { isObject } from 'foldout-shared/values'
import { list, object, read, string, text } from '../../shared/shapes.ts'
import { EXIT } from '../support/exit-codes.ts'
import { type Surroundings } from '../support/surroundings.ts'
import { withServers, type ServerOptions } from '../support/session.ts'
import { createStyler, formatBar, formatTable, toLine } from '../support/text.ts'

export interface EvaluateOptions extends ServerOptions {
  readonly minNdcg?: number
}

/** Kept as it is: a tool may have any name, `__proto__` among them. */
const grades = v.custom<Readonly<Record<string, number>>>(
  (value) => isObject(value) && Object.values(value).every((grade) => typeof grade === 'number' && grade >= 0),
)

const querySchema = object({
  query: text,
  /** The tools that answer it, all equally well, or with a grade each, higher for better. Empty if no tool does. */
  tools: v.union([list(string), grades]),
})

interface Judged {
  readonly query: string
  /** How well each tool answers the query. */
  readonly grades: ReadonlyMap<string, number>
}

interface Miss {
  readonly query: string
  readonly expected: readonly string[]
  readonly found: readonly string[]
}

interface Evaluation {
  readonly queries: number
  readonly scores: Scores
  /** Queries with none of their tools among the first ten. */
  readonly misses: readonly Miss[]
  /** Queries that no tool answers, but for which the search claimed a match. */
  readonly wronglyFound: readonly Miss[]
  /** Tools in the file that no server has. Queries with only such tools are left out. */
  readonly unknown: readonly string[]
}

/** `foldout eval <queries>`: scores the search on the user's queries. Returns the exit code. */
export async function evaluate(file: string, options: EvaluateOptions, surroundings: Surroundings): Promise<number> {
  const given = await readQueries(file)
  return withServers(options, surroundings, async ({ catalog, progress, failed }) => {
    let done = 0
    const evaluation = await progress.during(
      () => `Searched for ${done} of ${given.length} queries`,
      () => evaluateQueries(catalog, given, () => done++),
    )
    if (evaluation.queries === 0)
      throw new UsageError(`None of the tools in ${file} exist: ${evaluation.unknown.slice(0, 5).join(', ')}.`)
    const { stdout } = surroundings
    const json = { ...evaluation, failed }
    stdout.write(options.json ? `${JSON.stringify(json, null, 2)}\n` : formatEvaluation(evaluation, surroundings))
    const { minNdcg = 0 } = options
    const { ndcg10 } = evaluation.scores
    if (ndcg10 >= minNdcg) return EXIT.done
    surroundings.stderr.write(`nDCG@10 is ${ndcg10.toFixed(3)}, which is lower than ${minNdcg}.\n`)
    return EXIT.failed
  })
}

const DEPTH = 10

async function evaluateQueries(
  catalog: Catalog,
  given: readonly v.InferOutput<typeof querySchema>[],
  onDone: () => void,
): Promise<Evaluation> {
  const unknown = new Set<string>()
  const ranked: RankedQuery[] = []
  const misses: Miss[] = []
  const wronglyFound: Miss[] = []
  for (const { query, tools } of given) {
    const { grades } = judge(catalog, { query, tools }, unknown)
    onDone()
    const isUnanswerable = Object.keys(tools).length === 0
    if (grades.size === 0 && !isUnanswerable) continue
    const { hits, fit } = await catalog.search(query, { limit: DEPTH })
    const found = hits.map(({ tool }) => tool.qualified)
    const miss = { query, expected: [...grades.keys()], found: found.slice(0, 3) }
    ranked.push({ found, grades, seemsToFit: fit === 'good' })
    if (isUnanswerable && fit === 'good') wronglyFound.push(miss)
    if (!isUnanswerable && !found.some((name) => grades.has(name))) misses.push(miss)
  }
  return { queries: ranked.length, scores: computeScores(ranked), misses, wronglyFound, unknown: [...unknown] }
}

/** The grades by qualified name. Accepts the same names as every other command. */
function judge(catalog: Catalog, { query, tools }: v.InferOutput<typeof querySchema>, unknown: Set<string>): Judged {
  const pairs = Array.isArray(tools) ? tools.map((name) => [name, 1] as const) : Object.entries(tools)
  const grades = new Map<string, number>()
  for (const [name, grade] of pairs) {
    const entry = catalog.resolve(name)
    if (isUnknown(entry)) unknown.add(name)
    else if (grade > 0) grades.set(entry.qualified, grade)
  }
  return { query, grades }
}

async function readQueries(file: string): Promise<readonly v.InferOutput<typeof querySchema>[]> {
  const items = parseItems(await readTextFile(file), file)
  return items.map((item, i) => {
    const { data, mistake } = read(querySchema, item)
    if (data) return data
    const where = mistake.field
    throw new UsageError(
      `Query ${i + 1} of ${file} is wrong${where === '' ? '' : ` at "${where}"`}. It should look like {"query": "send a letter", "tools": ["mail/send"]}.`,
    )
  })
}

/** A JSON list, or one object on each line. */
function parseItems(text: string, file: string): readonly unknown[] {
  const isList = text.trimStart().startsWith('[')
  const parts = isList ? [text] : text.split('\n').filter((line) => line.trim() !== '')
  const items = parts.map((part, i): unknown => {
    try {
      return JSON.parse(part)
    } catch (error) {
      throw new UsageError(
        `${isList ? file : `Line ${i + 1} of ${file}`} is not valid JSON: ${(error as Error).message}`,
      )
    }
  })
  const queries = isList ? (items[0] as readonly unknown[]) : items
  if (queries.length === 0) throw new UsageError(`${file} has no queries.`)
  return queries
}

function formatEvaluation(evaluation: Evaluation, { stdout, env }: Surroundings): string {
  const { queries, scores, misses, wronglyFound, unknown } = evaluation
  const style = createStyler(stdout, env)
  const rows = Object.entries(LABELS).flatMap(([key, label]) => {
    const score = scores[key as keyof Scores]
    if (score === null) return []
    return [[label, score.toFixed(3), formatBar(score, 20)]]
  })
  const describeMiss = ({ query, expected, found }: Miss): readonly string[] => [
    style('yellow', `“${toLine(query)}”`),
    `  expected: ${toLine(expected.join(', ')) || 'nothing'}`,
    `  found:    ${toLine(found.join(', ')) || 'nothing'}`,
  ]
  const problems = [...misses, ...wronglyFound]
  return `${[
    `${queries} queries`,
    ...formatTable(rows, stdout.columns),
    ...(problems.length === 0
      ? []
      : ['', style('bold', `${problems.length} missed`), ...problems.flatMap(describeMiss)]),
    ...(unknown.length === 0 ? [] : ['', `Unknown tools: ${toLine(unknown.join(', '))}`]),
  ].join('\n')}\n`
}

const LABELS: Readonly<Record<keyof Scores, string>> = {
  ndcg10: 'nDCG@10',
  mrr: 'MRR',
  recall1: 'recall@1',
  recall5: 'recall@5',
  recall10: 'recall@10',
  refused: 'rightly found nothing',
}

/** What a search found for a query and what it should have found. */
interface RankedQuery {
  /** The names of the tools it found, best first. */
  readonly found: readonly string[]
  /** How well each tool answers the query; empty if no tool does. */
  readonly grades: ReadonlyMap<string, number>
  /** Whether the search claims a match. */
  readonly seemsToFit: boolean
}

/** Each from 0 to 1, averaged over the queries it applies to; null if there are none. */
interface Scores {
  readonly ndcg10: number
  readonly mrr: number | null
  readonly recall1: number | null
  readonly recall5: number | null
  readonly recall10: number | null
  /** Of the queries that no tool answers, the share for which the search says that nothing fits. */
  readonly refused: number | null
}

export function computeScores(queries: readonly RankedQuery[]): Scores {
  const answerable = queries.filter(({ grades }) => grades.size > 0)
  const others = queries.filter(({ grades }) => grades.size === 0)
  const recall = (depth: number): number | null => average(answerable.map((query) => computeRecall(query, depth)))
  return {
    ndcg10: average(answerable.map(computeNdcg)) ?? 0,
    mrr: average(answerable.map(({ found, grades }) => invert(found.findIndex((name) => grades.has(name)) + 1))),
    recall1: recall(1),
    recall5: recall(5),
    recall10: recall(10),
    refused: average(others.map(({ seemsToFit }) => (seemsToFit ? 0 : 1))),
  }
}

/** The share of the right tools among the first results, out of as many as could be there. */
function computeRecall({ found, grades }: RankedQuery, depth: number): number {
  return found.slice(0, depth).filter((name) => grades.has(name)).length / Math.min(depth, grades.size)
}

/** The discounted gain of the first ten results, relative to the ideal order. */
function computeNdcg({ found, grades }: RankedQuery): number {
  const best = [...grades.values()].sort((a, b) => b - a)
  return computeGain(found.map((name) => grades.get(name) ?? 0)) / computeGain(best)
}

function computeGain(grades: readonly number[]): number {
  return grades.slice(0, 10).reduce((sum, grade, i) => sum + (2 ** grade - 1) / Math.log2(i + 2), 0)
}

function invert(rank: number): number {
  if (rank === 0) return 0
  return 1 / rank
}

function average(values: readonly number[]): number | null {
  if (values.length === 0) return null
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
