import { Worker } from 'node:worker_threads'
import { ignore } from '../../../../core/promises.ts'
import { FoldoutError, getErrorMessage, type ErrorCode } from '../../../../core/errors.ts'
import type { SandboxLimits } from '../contract/limits.ts'
import type { Engine, FromWorker, ToWorker, WorkerSetup } from '../contract/messages.ts'

/** A thread that runs programs, as the host sees it. */
export interface SandboxWorker {
  /** Resolves with the engine when the thread can run programs. Rejects if it cannot. */
  readonly ready: Promise<Engine>
  /** The functions that it knows, one per line. */
  knownNames: string
  post(message: ToWorker): void
  /** Stops a program that is computing and therefore receives no messages. */
  interrupt(program: number): void
  /** Sets the listener for its messages and for its end. */
  listen(listener: WorkerListener | undefined): void
  /** Sets whether it keeps the process alive. */
  ref(): void
  unref(): void
  terminate(): void
}

export interface WorkerListener {
  readonly onMessage: (message: FromWorker) => void
  readonly onGone: (error: FoldoutError) => void
}

/** Memory of the thread itself, in addition to the machine's: for the compiler and the texts that pass through. */
const HEAP_MB = 128

const isSource = import.meta.url.endsWith('.ts')
/** The build writes the thread's code into its own file, next to all other files of the package. */
const WORKER_URL = new URL(isSource ? '../guest/worker.ts' : './sandbox-worker.js', import.meta.url)
// Node 20 cannot run TypeScript, which matters only for this project's tests.
const SOURCE_WORKER = `import('tsx/esm/api').then(({ register }) => (register(), import('${WORKER_URL.href}')))`

export function startWorker(
  limits: SandboxLimits,
  engine: Engine | undefined,
  onGone: (error: FoldoutError, wasReady: boolean) => void,
): SandboxWorker {
  const stopped = new Int32Array(new SharedArrayBuffer(4))
  const setup: WorkerSetup = { limits, stopped, engine }
  const options = { workerData: setup, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } }
  const worker = isSource
    ? new Worker(SOURCE_WORKER, { ...options, eval: true })
    : // The thread does not need the host's flags or environment.
      new Worker(WORKER_URL, { ...options, execArgv: [], env: {} })
  let listener: WorkerListener | undefined
  let failure: FoldoutError | undefined
  let wasReady = false
  let becomeReady: (engine: Engine) => void
  let becomeBroken: (error: FoldoutError) => void
  const ready = new Promise<Engine>((resolve, reject) => {
    becomeReady = resolve
    becomeBroken = reject
  })
  // Marked as handled: callers that wait for it still see the rejection, and there may be none.
  void ignore(ready, 'callers that wait for it see the rejection, and there may be none')

  const fail = (code: ErrorCode, message: string): void => {
    if (failure) return
    failure = new FoldoutError(code, message)
    becomeBroken(failure)
    onGone(failure, wasReady)
    listener?.onGone(failure)
    void worker.terminate()
  }
  const receive = (message: FromWorker): void => {
    if (message.type === 'ready') {
      wasReady = true
      becomeReady(message.engine)
    } else if (message.type === 'broken') fail(toSandboxCode(message.code), message.message)
    else listener?.onMessage(message)
  }
  worker.on('message', (message: FromWorker) => {
    try {
      receive(message)
    } catch (error) {
      // A malformed message must fail only the program, not the process.
      fail('sandbox-crashed', `The sandbox has crashed: ${getErrorMessage(error)}`)
    }
  })
  worker.on('messageerror', (error) => fail('sandbox-crashed', `The sandbox has crashed: ${getErrorMessage(error)}`))
  worker.on('error', (error) => fail('sandbox-crashed', `The sandbox has crashed: ${getErrorMessage(error)}`))
  worker.on('exit', () => fail('sandbox-crashed', 'The sandbox has crashed: its thread has ended.'))
  // After adding the listeners, because listening keeps the process alive again.
  worker.unref()

  return {
    ready,
    knownNames: '',
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    post: (message) => worker.postMessage(message),
    interrupt: (program) => void Atomics.store(stopped, 0, program),
    listen(next) {
      listener = next
      if (failure) next?.onGone(failure)
    },
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    terminate: () => fail('sandbox-closed', 'The sandbox was closed.'),
  }
}

/** Converts the failure of a worker to start. Anything except a missing package is a crash. */
function toSandboxCode(code: string): ErrorCode {
  if (code === 'peer-missing' || code === 'peer-broken') return code
  return 'sandbox-crashed'
}
