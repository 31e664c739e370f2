import { setTimeout as sleep } from 'node:timers/promises'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSession, definePrompt, defineSection, defineTool, ok, runAgent } from 'foldout'
import { chatAdapter, type AssistantMessage, type ProviderAdapter } from 'foldout/adapter'
import { compare, describeRuns, formatComparison, graders, readComparison, readSavedLine } from 'foldout/compare'
import { median, QUICK } from './measure.ts'
import { goal, progress, type Bench, type BenchOptions, type Row } from './report.ts'

/** What a fast model takes for one reply. */
const REPLY_MS = 100
const REQUESTS = 4

const look = defineTool({ name: 'look', description: 'Looks at an order.', execute: () => ok('It is on its way.') })
const prompt = definePrompt({
  ns: 'bench',
  key: 'compared',
  sections: [
    defineSection({ key: 'role', title: 'Role', template: 'You serve customers. '.repeat(100), tools: [look] }),
    defineSection({
      key: 'refunds',
      title: 'Refunds',
      template: 'Refund what is late. '.repeat(200),
      summary: 'How to refund.',
      visibility: 'summary',
    }),
  ],
}).bind()

/** A model that calls a tool three times, and answers. */
function createModel(replyMs: number): ProviderAdapter {
  let requests = 0
  return chatAdapter({
    name: 'scripted',
    model: 'bench',
    async complete() {
      if (replyMs > 0) await sleep(replyMs)
      const isLast = ++requests === REQUESTS
      const toolCalls = isLast ? [] : [{ id: `call-${requests}`, name: 'look', arguments: {} }]
      const message: AssistantMessage = { role: 'assistant', text: isLast ? 'Done.' : '', toolCalls }
      return { message, usage: { inputTokens: 900, outputTokens: 20, cachedInputTokens: 0, cacheWriteTokens: 0 } }
    },
  })
}

const toCases = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `${i}`, input: 'Where is it?', includes: 'Done' }))

export const compareBench: Bench = {
  name: 'compare',
  question: 'What does a comparison add to the runs it compares, and how fast is its report?',
  columns: [
    { key: 'what', label: 'what' },
    { key: 'milliseconds', label: 'ms of the processor' },
    { key: 'share', label: 'of a run with replies in 100 ms, %' },
  ],
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'foldout-bench-compare-'))
    try {
      const overhead = await measureOverhead(options, folder)
      const waiting = REQUESTS * REPLY_MS
      const reports = await measureReports(options, folder)
      const row = (what: string, milliseconds: number, share: number | null = null): Row => ({
        what,
        milliseconds,
        share,
      })
      return {
        rows: [
          row('a run by itself, without waiting', overhead.alone),
          row('the same run in a comparison', overhead.compared),
          row('what the comparison adds', overhead.added, (100 * overhead.added) / (overhead.alone + waiting)),
          row('the same run in a comparison that is saved', overhead.saved),
          row(
            'what saving adds',
            overhead.saved - overhead.compared,
            (100 * (overhead.saved - overhead.compared)) / (overhead.alone + waiting),
          ),
          row('report and table of 1,000 results', reports.small),
          row('report and table of 10,000 results', reports.large),
          row('a file of 1,000 results read and reported', reports.read),
        ],
        goals: [
          goal(
            'overhead, % of a run with replies in 100 ms',
            (100 * overhead.added) / (overhead.alone + waiting),
            '<=',
            1,
          ),
          goal('report and table of 1,000 results, ms of the processor', reports.small, '<=', 100),
        ],
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

interface Overhead {
  readonly alone: number
  readonly compared: number
  readonly added: number
  readonly saved: number
}

/** The three take turns, so that load on the machine affects all alike. */
async function measureOverhead({ quick }: BenchOptions, folder: string): Promise<Overhead> {
  progress('Comparing ...')
  const rounds = quick ? QUICK.rounds : 15
  const count = quick ? 20 : 100
  const times = { alone: [] as number[], compared: [] as number[], saved: [] as number[] }
  for (let round = 0; round < rounds + 1; round++) {
    const alone = await time(async () => {
      for (let run = 0; run < 2 * count; run++)
        await runAgent(prompt, { adapter: createModel(0), input: 'Where is it?', session: createSession() })
    })
    const compared = await time(() => runComparison(count))
    const saved = await time(() => runComparison(count, join(folder, `${round}.jsonl`)))
    // The first round warms up.
    if (round === 0) continue
    times.alone.push(alone / (2 * count))
    times.compared.push(compared / (2 * count))
    times.saved.push(saved / (2 * count))
  }
  const [alone, compared, saved] = [median(times.alone), median(times.compared), median(times.saved)]
  return { alone, compared, saved, added: compared - alone }
}

function runComparison(count: number, save?: string) {
  return compare({
    cases: toCases(count),
    arms: { one: { prompt }, other: { prompt, version: '2' } },
    adapter: () => createModel(0),
    grade: { done: graders.includes() },
    parallel: 1,
    ...(save === undefined ? {} : { save }),
  })
}

interface Reports {
  readonly small: number
  readonly large: number
  readonly read: number
}

async function measureReports({ quick }: BenchOptions, folder: string): Promise<Reports> {
  progress('Reporting ...')
  const save = join(folder, 'reports.jsonl')
  await runComparison(500, save)
  const lines = readFileSync(save, 'utf8')
    .split('\n')
    .flatMap((line) => readSavedLine(line) ?? [])
  const header = lines.find((line) => line.type === 'header')!
  const run = lines.find((line) => line.type === 'run')!
  const toRuns = (results: number) =>
    Array.from({ length: results }, (_, i) => ({ ...run, run: `${i}`, arm: i % 2 === 0 ? 'one' : 'other' }))
  const measureReport = async (results: number): Promise<number> => {
    const cases = results / 2
    const digest = header.cases[0]?.digest ?? ''
    const large = {
      ...header,
      cases: Array.from({ length: cases }, (_, i) => ({ id: `${i}`, digest, input: 'Where is it?' })),
    }
    const runs = toRuns(results).map((one, i) => ({
      ...one,
      armDigest: header.arms[one.arm] ?? '',
      case: `${Math.floor(i / 2)}`,
      caseDigest: digest,
      score: i % 7 === 0 ? 0 : 1,
    }))
    const samples: number[] = []
    for (let round = 0; round < (quick ? 3 : 9); round++)
      samples.push(await time(async () => formatComparison(describeRuns(large, runs))))
    return median(samples)
  }
  const read = await time(() => readComparison(save))
  return { small: await measureReport(1_000), large: await measureReport(10_000), read }
}

/** Milliseconds of the processor, which a busy machine does not make longer. */
async function time(work: () => Promise<unknown>): Promise<number> {
  const began = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1_000
}
