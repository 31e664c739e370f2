import { FoldoutError } from '../core/errors.ts'
import { NO_USAGE } from '../adapters/contract.ts'
import type { CompareCase } from './contract/cases.ts'
import type { CompareOptions } from './contract/options.ts'
import type { CompareReport } from './contract/report.ts'
import type { SavedHeader, SavedRun } from './contract/saved.ts'
import { getRunId } from './file/digests.ts'
import type { SavedFile } from './file/saved-file.ts'
import { findCost } from './report/money.ts'
import { describeRuns } from './report/report.ts'
import { createRunCheck } from './report/runs.ts'
import { createHeader, prepareRun } from './prepare.ts'
import type { PreparedRun } from './run/conversation.ts'
import { runCase, workOff } from './run/run-case.ts'
import { createRandom, shuffle } from './statistics/distributions.ts'
import { readTerms, type Terms } from './terms.ts'

/**
 * Compares ways to run an agent on your cases: success with intervals and a verdict, the sections that were missed, and
 * what each way costs. The runs of all arms are interleaved at random.
 *
 * @example
 * ```ts
 * const report = await compare({
 *   cases: [{ id: 'refund', input: 'Refund order 17.', includes: 'Done' }],
 *   arms: { full: { prompt: bound, open: 'all' }, folded: { prompt: bound } },
 *   adapter: () => scriptedAdapter([says('Done.')]),
 * })
 * report.arms['folded']?.success // => 1
 * report.verdict // => 'no-signal'
 * ```
 *
 * @throws FoldoutError with the code `compare-invalid` or `compare-file`, before anything is run.
 */
export async function compare<World = unknown>(options: CompareOptions<World>): Promise<CompareReport> {
  const terms = await readTerms(options)
  const file = options.save === undefined ? undefined : await openFile(options.save)
  try {
    const header = await createHeader(options, terms)
    checkFile(header, file)
    file?.begin(header)
    return await new Comparison(options, { terms, header, file }).run()
  } finally {
    file?.close()
  }
}

async function openFile(path: string): Promise<SavedFile> {
  const { openSavedFile } = await import('./file/saved-file.ts')
  return openSavedFile(path)
}

/** A file without a run of these cases and arms was made by another comparison. */
function checkFile(header: SavedHeader, file: SavedFile | undefined): void {
  if (!file || file.runs.length === 0 || file.runs.some(createRunCheck(header))) return
  throw new FoldoutError(
    'compare-file',
    `The file has ${file.runs.length} runs, but none of these cases with these arms, models and graders. Save to another file, or remove this one.`,
  )
}

/** A run that is to be made. */
interface Job {
  readonly task: CompareCase
  readonly place: Pick<SavedRun, 'type' | 'run' | 'arm' | 'armDigest' | 'case' | 'caseDigest' | 'repeat'>
}

interface ComparisonParts<World> {
  readonly terms: Terms<World>
  readonly header: SavedHeader
  readonly file: SavedFile | undefined
}

/** A comparison that is running. */
class Comparison<World> {
  readonly #options: CompareOptions<World>
  readonly #parts: ComparisonParts<World>
  readonly #runs = new Map<string, SavedRun>()
  readonly #notes: string[] = []
  readonly #kept: number
  readonly #jobs: readonly Job[]
  /** Saved runs of other versions, of which the report says that they are left out. */
  readonly #others: readonly SavedRun[]
  #done: number
  #errors: number
  #spentUsd = 0
  #stopped: CompareReport['stopped'] = null

  constructor(options: CompareOptions<World>, parts: ComparisonParts<World>) {
    this.#options = options
    this.#parts = parts
    this.#jobs = listJobs(parts)
    const wanted = new Set(this.#jobs.map(({ place }) => place.run))
    const saved = parts.file?.runs ?? []
    for (const run of saved.filter(createRunCheck(parts.header))) this.#runs.set(run.run, run)
    const kept = saved.filter(({ run }) => wanted.has(run) && this.#runs.has(run))
    this.#kept = kept.length
    this.#done = kept.length
    this.#errors = kept.filter(({ error }) => error !== null).length
    this.#others = saved.filter(({ run }) => !this.#runs.has(run))
  }

  /** Runs what is missing, look by look. */
  async run(): Promise<CompareReport> {
    const { terms, header } = this.#parts
    const random = createRandom(terms.seed)
    let from = 0
    for (const upTo of terms.looks) {
      const stage = this.#jobs.filter(({ place }) => place.repeat >= from && place.repeat < upTo)
      from = upTo
      const missing = shuffle(stage, random).filter(({ place }) => !this.#runs.has(place.run))
      await workOff(missing, { parallel: terms.parallel, isOver: () => this.#isOver() }, (job) => this.#make(job))
      const runs = [...this.#runs.values(), ...this.#others]
      const report = describeRuns(header, runs, { stopped: this.#stopped, notes: this.#notes })
      if (report.stopped !== null || upTo === terms.repeat) return report
    }
    throw new Error('The last look is the last repeat.')
  }

  #isOver(): boolean {
    const { budget, signal } = this.#options
    if (signal?.aborted) this.#stopped = 'aborted'
    else if (budget !== undefined && this.#spentUsd >= budget) this.#stopped = 'budget'
    return this.#stopped !== null
  }

  async #make(job: Job): Promise<void> {
    const run = this.#options.offline ? fail(job) : await this.#pay(job)
    if (!run) return
    this.#runs.set(run.run, run)
    this.#done++
    if (run.error !== null) this.#errors++
    const { onProgress } = this.#options
    const { length } = this.#jobs
    onProgress?.({ done: this.#done, runs: length, kept: this.#kept, errors: this.#errors, spentUsd: this.#spentUsd })
  }

  /** Runs a job and saves it; undefined if it was cancelled. */
  async #pay({ task, place }: Job): Promise<SavedRun | undefined> {
    const { terms, file } = this.#parts
    const { signal = new AbortController().signal, user } = this.#options
    const { arm: name, repeat } = place
    const prepare = (): Promise<PreparedRun<World>> => prepareRun(this.#options, { terms, name, task, repeat, signal })
    try {
      const { result, events } = await runCase(prepare, { ...terms, user, isSaved: file !== undefined }, signal)
      const run = { ...place, ...result }
      this.#count(run)
      file?.add(run, events)
      return run
    } catch (error) {
      if (signal.aborted) return undefined
      throw error
    }
  }

  #count({ usage, userUsage }: SavedRun): void {
    const costs = [usage, userUsage ?? NO_USAGE].map((one) => findCost(one, this.#parts.terms.prices))
    const isKnown = costs[0] !== undefined
    if (!isKnown && this.#options.budget !== undefined && usage.inputTokens > 0 && this.#stopped === null) {
      this.#stopped = 'budget'
      this.#notes.push(
        'It ended early: without prices, and without a provider that says what it costs, a budget cannot be kept.',
      )
    }
    this.#spentUsd += costs.reduce((sum: number, cost) => sum + (cost ?? 0), 0)
  }
}

/** Offline, what the file does not have is an error. */
function fail({ place }: Job): SavedRun {
  const error = 'offline: The saved file does not have this run.'
  const none = { folded: [], opened: [], ahead: [], used: [], readable: [], requests: [], callsNotOffered: 0 }
  const rest = { grades: {}, score: 0, ms: 0, usage: NO_USAGE, userUsage: null, model: '', begins: '' }
  return { ...place, status: 'failed', error, ...rest, ...none }
}

/** Every run, repeat by repeat. */
function listJobs<World>({ terms, header }: ComparisonParts<World>): readonly Job[] {
  const digests = new Map(header.cases.map(({ id, digest }) => [id, digest]))
  return Array.from({ length: terms.repeat }, (_, repeat) => repeat).flatMap((repeat) =>
    terms.cases.flatMap((task) =>
      Object.entries(header.arms).map(([arm, armDigest]): Job => {
        const place = { arm, armDigest, case: task.id, caseDigest: digests.get(task.id) ?? '', repeat }
        return { task, place: { type: 'run', run: getRunId(place), ...place } }
      }),
    ),
  )
}
