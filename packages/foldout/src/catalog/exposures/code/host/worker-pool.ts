import { FoldoutError } from '../../../../core/errors.ts'
import { MOST_ASKING, type SandboxLimits } from '../contract/limits.ts'
import type { Engine } from '../contract/messages.ts'
import { startWorker, type SandboxWorker } from './sandbox-worker.ts'

/** Threads for programs. Only those in use keep the process alive. */
export interface WorkerPool {
  /** Takes a thread that is ready and not in use; `undefined` if the signal aborts first. */
  acquire(signal: AbortSignal | undefined): Promise<SandboxWorker | undefined>
  release(worker: SandboxWorker): void
  /**
   * Lets one more program run, while another waits for a person. Returns a function that ends this; undefined if too many are waiting
   * already.
   */
  makeRoom(): (() => void) | undefined
  close(): void
}

interface Waiter {
  readonly resolve: (worker: SandboxWorker) => void
  readonly reject: (error: FoldoutError) => void
}

export function createWorkerPool(limits: SandboxLimits, most: number): WorkerPool {
  const workers = new Set<SandboxWorker>()
  const idle: SandboxWorker[] = []
  const waiting: Waiter[] = []
  /** Compiled once for all threads. */
  let engine: Engine | undefined
  let isClosed = false
  /** How many programs wait for a person. */
  let asking = 0

  function start(): SandboxWorker {
    const worker = startWorker(limits, engine, (error, wasReady) => {
      workers.delete(worker)
      const at = idle.indexOf(worker)
      if (at !== -1) idle.splice(at, 1)
      if (isClosed) return
      // A thread that was ready is replaced for the next program. A thread that never became ready would only fail
      // again.
      if (wasReady) startIfWanted()
      else for (const { reject } of waiting.splice(0)) reject(error)
    })
    workers.add(worker)
    return worker
  }

  function startIfWanted(): void {
    if (workers.size < most + asking) offer(start())
  }

  function offer(worker: SandboxWorker): void {
    const next = waiting.shift()
    if (next) next.resolve(worker)
    else idle.push(worker)
  }

  async function takeReady(): Promise<SandboxWorker> {
    if (isClosed) throw createClosedError()
    const worker =
      idle.pop() ??
      (workers.size < most + asking
        ? start()
        : await new Promise<SandboxWorker>((resolve, reject) => waiting.push({ resolve, reject })))
    worker.ref()
    engine = await worker.ready
    return worker
  }

  function release(worker: SandboxWorker): void {
    worker.unref()
    if (workers.size > most + asking) worker.terminate()
    else if (workers.has(worker)) offer(worker)
  }

  function makeRoom(): (() => void) | undefined {
    if (asking >= MOST_ASKING) return undefined
    asking++
    if (waiting.length > 0) startIfWanted()
    return () => void asking--
  }

  return {
    async acquire(signal) {
      if (signal?.aborted) return undefined
      const taken = takeReady()
      const first = await takeFirst(taken, signal)
      if (first === undefined) taken.then(release, () => {})
      return first
    },
    release,
    makeRoom,
    close() {
      isClosed = true
      for (const { reject } of waiting.splice(0)) reject(createClosedError())
      for (const worker of workers) worker.terminate()
    },
  }
}

/** Waits for a promise; `undefined` if the signal aborts first. */
async function takeFirst<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  if (!signal) return promise
  let onAbort: (() => void) | undefined
  const aborted = new Promise<undefined>((resolve) => {
    onAbort = () => resolve(undefined)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort!)
  }
}

function createClosedError(): FoldoutError {
  return new FoldoutError('sandbox-closed', 'The sandbox is closed. Create a new one with createSandbox().')
}
