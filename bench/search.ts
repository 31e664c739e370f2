import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { getAnswerGoals } from './search-answers.ts'
import { collectGarbage } from './measure.ts'
import type { Encoder } from 'foldout/catalog'
import { goal, printResult, progress, rounded, type Bench, type BenchResult, type Goal, type Row } from './report.ts'
import { ABLATION_COLUMNS, ablationRows } from './search-ablation.ts'
import { calibrate } from './search-calibrate.ts'
import {
  DATA_FOLDER,
  GOLDEN_SET,
  loadDevSets,
  loadSet,
  MEAN_SETS,
  getSetName,
  spread,
  type DataSet,
} from './search-data.ts'
import { createKeptEncoder } from './search-encoder.ts'
import { BM25F, CONTESTANTS, createEncodedContestant, ENCODED, FOLDOUT, type Contestant } from './search-engines.ts'
import { collectCases, getHonestyGoals, printCases } from './search-honesty.ts'
import { scaleGoals } from './search-scale.ts'
import { DEPTH, meanScores, percentile, computeScores, type Scores } from './search-scores.ts'

const USAGE = `npm run -s bench:search -- [--tools <file.jsonl> --queries <file.jsonl>] [--data <folder>] [--json] [--quick]
  --tools, --queries  score one pair of files instead of the development sets
  --data <folder>     where the development sets are; default ../shared/data beside the project
  --quick             a few queries per set: enough to see that it works
  --most <n>          at most this many queries per set
  --encoder           also measure the encoder of foldout/minilm with int8 weights; the first time takes some minutes
  --fp16              with its fp16 weights instead; the first time takes most of an hour
  --ablation          what each part of the ranking gains; with --encoder, the parts that interact with it
  --calibrate         refit the confidence and print its weights; with --encoder also those for an encoder`
const QUICK_QUERIES = 30

const { values: options } = parseArgs({
  options: {
    tools: { type: 'string' },
    queries: { type: 'string' },
    data: { type: 'string', default: DATA_FOLDER },
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    most: { type: 'string', default: 'Infinity' },
    encoder: { type: 'boolean', default: false },
    fp16: { type: 'boolean', default: false },
    ablation: { type: 'boolean', default: false },
    calibrate: { type: 'boolean', default: false },
  },
})

const bench: Bench = {
  name: 'search',
  question: 'Does a search find the right tools, how soon, and does it say so when there are none?',
  columns: [
    'engine',
    'set',
    'tools',
    'queries',
    'recall1',
    'recall5',
    'recall10',
    'ndcg10',
    'mrr',
    'empty',
    'p50ms',
    'p99ms',
    'buildMs',
    'memoryMb',
  ].map((key) => ({ key, label: key })),
  run: () => scoreDevSets(devSets()),
}

interface SetRow extends Row, Scores {
  readonly engine: string
  readonly set: string
  /** Recall@5 without the tools that the set itself grades 0. */
  readonly gradedRecall5: number
}

async function toRow(contestant: Contestant, set: DataSet): Promise<SetRow> {
  progress(`${set.name}: ${contestant.name} ...`)
  const before = await memoryNow()
  const start = performance.now()
  const search = await contestant.build(set.tools)
  const buildMs = performance.now() - start
  const memoryMb = ((await memoryNow()) - before) / 2 ** 20
  const times: number[] = []
  const scores: Scores[] = []
  const graded: Scores[] = []
  let empty = 0
  for (const { query, relevant, grades } of set.queries) {
    const start = performance.now()
    const ranked = await search(query, DEPTH)
    times.push(performance.now() - start)
    scores.push(computeScores(ranked, relevant))
    const accepted = relevant.filter((name) => grades?.[name] !== 0)
    graded.push(computeScores(ranked, accepted))
    if (ranked.length === 0) empty++
  }
  return {
    engine: contestant.name,
    set: set.name,
    tools: set.tools.length,
    queries: set.queries.length,
    ...meanScores(scores),
    gradedRecall5: meanScores(graded).recall5,
    empty,
    p50ms: percentile(times, 0.5),
    p99ms: percentile(times, 0.99),
    buildMs,
    memoryMb,
  }
}

/** Twice, with a pause: values held by a promise are released only then. */
async function memoryNow(): Promise<number> {
  for (let i = 0; i < 2; i++) {
    collectGarbage('major')
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** The encoder, with `--encoder`. */
const encoder = options.encoder || options.fp16 ? await createKeptEncoder({ isFp16: options.fp16 }) : undefined
const contestants = encoder ? [...CONTESTANTS, createEncodedContestant(encoder)] : CONTESTANTS

async function scorePair(set: DataSet): Promise<Omit<BenchResult, 'bench'>> {
  const rows: SetRow[] = []
  for (const contestant of contestants.filter(({ name }) => [FOLDOUT, BM25F, ENCODED].includes(name))) {
    rows.push(await toRow(contestant, set))
  }
  const [ours, plain] = rows
  return { rows, goals: [goal('nDCG@10 beyond fielded BM25', ours!.ndcg10 - plain!.ndcg10, '>=', 0)] }
}

async function scoreDevSets(sets: readonly DataSet[]): Promise<Omit<BenchResult, 'bench'>> {
  const rows: SetRow[] = []
  for (const set of sets) for (const contestant of contestants) rows.push(await toRow(contestant, set))
  const ndcg = (engine: string, set: string) => rows.find((row) => row.engine === engine && row.set === set)!.ndcg10
  const mean = (engine: string) => MEAN_SETS.reduce((sum, set) => sum + ndcg(engine, set), 0) / MEAN_SETS.length
  const others = CONTESTANTS.map(({ name }) => name).filter((name) => name !== FOLDOUT)
  const golden = rows.find((row) => row.engine === FOLDOUT && row.set === GOLDEN_SET)!
  progress('honesty ...')
  const cases = await collectCases(sets)
  printCases(cases)
  progress('500 and 15,000 tools ...')
  const largest = sets.toSorted((a, b) => b.tools.length - a.tools.length)[0]!
  return {
    rows,
    goals: [
      goal('mean nDCG@10 of five sets', mean(FOLDOUT), '>=', 0.835),
      goal('nDCG@10 of metatool', ndcg(FOLDOUT, 'metatool'), '>=', 0.74),
      goal('recall@5 of the golden set', golden.recall5, '>=', 0.82),
      goal('recall@5 of the golden set, without tools graded 0', golden.gradedRecall5, '>=', 0.82),
      goal('mean nDCG@10 beyond the best other engine', mean(FOLDOUT) - Math.max(...others.map(mean)), '>=', 0),
      goal(
        'nDCG@10 beyond fielded BM25, in the worst set',
        Math.min(...sets.map(({ name }) => ndcg(FOLDOUT, name) - ndcg(BM25F, name))),
        '>=',
        0,
      ),
      ...getHonestyGoals(cases),
      ...(await getAnswerGoals(sets, options.data, 'word-vectors')),
      ...(await scaleGoals(largest)),
      ...(encoder ? await getEncoderGoals(sets, rows, encoder) : []),
    ],
  }
}

async function getEncoderGoals(
  sets: readonly DataSet[],
  rows: readonly SetRow[],
  encoder: Encoder,
): Promise<readonly Goal[]> {
  const encoded = rows.filter(({ engine }) => engine === ENCODED)
  const ofMean = encoded.filter(({ set }) => MEAN_SETS.includes(set))
  const golden = encoded.find(({ set }) => set === GOLDEN_SET)!
  progress('honesty with the encoder ...')
  const cases = await collectCases(sets, encoder)
  printCases(cases)
  const goals = [
    goal('mean nDCG@10 of five sets', ofMean.reduce((sum, { ndcg10 }) => sum + ndcg10, 0) / ofMean.length, '>=', 0.858),
    goal('recall@5 of the golden set', golden.recall5, '>=', 0.87),
    goal('recall@5 of the golden set, without tools graded 0', golden.gradedRecall5, '>=', 0.87),
    goal('recall@1 of the golden set', golden.recall1, '>=', 0.55),
    ...getHonestyGoals(cases),
    ...(await getAnswerGoals(sets, options.data, encoder)),
    goal('ms a query beside the encoder, worst p50', Math.max(...encoded.map((row) => Number(row['p50ms']))), '<=', 25),
  ]
  return goals.map((one) => ({ ...one, name: `with the encoder: ${one.name}` }))
}

function refuse(message: string): never {
  console.error(`${message}\n\n${USAGE}`)
  process.exit(2)
}

function devSets(): readonly DataSet[] {
  const sets = loadDevSets(options.data)
  if (typeof sets === 'string') refuse(sets)
  return sets.map(takeSome)
}

function takeSome(set: DataSet): DataSet {
  return { ...set, queries: spread(set.queries, options.quick ? QUICK_QUERIES : Number(options.most)) }
}

async function main(): Promise<void> {
  if (options.calibrate) return calibrate(devSets(), encoder)
  if (options.ablation) {
    const rows = await ablationRows(devSets(), encoder)
    return print({ ...bench, columns: ABLATION_COLUMNS }, { bench: 'search', rows, goals: [] })
  }
  if ((options.tools === undefined) !== (options.queries === undefined)) refuse('--tools and --queries go together.')
  if (options.tools !== undefined) {
    const set = loadSet(getSetName(options.tools), options.tools, options.queries!)
    return print(bench, { bench: 'search', ...(await scorePair(takeSome(set))) })
  }
  print(bench, { bench: 'search', ...(await bench.run({ quick: options.quick, files: [] })) })
}

function print(described: Bench, result: BenchResult): void {
  printResult(described, result)
  if (!options.json) return
  console.log(JSON.stringify(result, (_key, value: unknown) => (typeof value === 'number' ? rounded(value) : value)))
}

await main()
