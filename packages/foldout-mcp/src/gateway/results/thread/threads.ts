import type { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import { MOST_READING, READING_MEMORY_MB, READING_MS, THREAD_IDLE_MS } from './limits.ts'
import type { ReadingJob, ReadingResult, ResultSource } from './job.ts'

const isSource = import.meta.url.endsWith('.ts')
/** The build writes the thread's code into its own file, next to all other files of the package. */
const WORKER_URL = new URL(isSource ? './worker.ts' : './results-worker.js', import.meta.url)
// Node 20 cannot run TypeScript, which matters only for this project's tests.
const SOURCE_WORKER = `const load = (id) => import(id)
load('tsx/esm/api').then(({ register }) => (register(), load('${WORKER_URL.href}')))`

export interface ReadingOptions {
  /** Who reads. The reads of one reader run one after the other, so that nobody can take all threads. */
  readonly reader: string
  readonly signal?: AbortSignal | undefined
}

/**
 * Threads that read kept results. A model's request can take any amount of time and memory; in a thread it
 * stalls nobody, and can be stopped.
 */
export class ReadingThreads {
  readonly #limit = pLimit(MOST_READING)
  /** The last read of each reader that has any. */
  readonly #last = new Map<string, Promise<unknown>>()
  readonly #idle: Worker[] = []
  readonly #busy = new Set<Worker>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isClosed = false

  /** Never rejects: an error becomes an answer. */
  async run(source: ResultSource, job: ReadingJob, { reader, signal }: ReadingOptions): Promise<ReadingResult> {
    const before = this.#last.get(reader)
    const read = (): Promise<ReadingResult> =>
      this.#limit(() => {
        if (this.#isClosed || signal?.aborted) return { fault: 'The reading was canceled.' }
        return this.#run(source, job, signal)
      })
    const result = before ? before.then(read) : read()
    this.#last.set(reader, result)
    try {
      return await result
    } finally {
      if (this.#last.get(reader) === result) this.#last.delete(reader)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    const workers = [...this.#idle.splice(0), ...this.#busy]
    await Promise.all(workers.map((worker) => worker.terminate()))
  }

  #run(source: ResultSource, job: ReadingJob, signal: AbortSignal | undefined): Promise<ReadingResult> {
    const worker = this.#idle.pop() ?? startWorker()
    this.#busy.add(worker)
    worker.ref()
    return new Promise((resolve) => {
      const finish = (result: ReadingResult, isUsable: boolean): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
        worker.off('message', answer).off('error', fail).off('exit', end)
        this.#busy.delete(worker)
        if (isUsable) this.#rest(worker)
        else void worker.terminate()
        resolve(result)
      }
      const cancel = (): void => finish({ fault: 'The reading was canceled.' }, false)
      const timer = setTimeout(
        () => finish({ fault: `This takes longer than ${READING_MS / 1_000} seconds. Ask for less.` }, false),
        READING_MS,
      )
      const answer = (result: ReadingResult): void => finish(result, true)
      const fail = (error: Error): void => finish({ fault: describeFailure(error) }, false)
      const end = (): void => finish({ fault: 'The reading was ended.' }, false)
      worker.once('message', answer).once('error', fail).once('exit', end)
      signal?.addEventListener('abort', cancel, { once: true })
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage({ source, job })
    })
  }

  /** Keeps a thread for the next reading, for a while. */
  #rest(worker: Worker): void {
    worker.unref()
    this.#idle.push(worker)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      for (const one of this.#idle.splice(0)) void one.terminate()
    }, THREAD_IDLE_MS)
    this.#timer.unref()
  }
}

function startWorker(): Worker {
  // Most gateways never read a result.
  const { Worker } = process.getBuiltinModule('node:worker_threads')
  const options = { resourceLimits: { maxOldGenerationSizeMb: READING_MEMORY_MB } }
  const worker = isSource
    ? new Worker(SOURCE_WORKER, { ...options, eval: true })
    : // The thread does not need the host's flags or environment.
      new Worker(WORKER_URL, { ...options, execArgv: [], env: {} })
  // It may still fail after it has answered.
  return worker.on('error', () => undefined)
}

function describeFailure(error: Error): string {
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
  if (isMemory) return 'This takes too much memory. Ask for less.'
  return error.message
}
