import { Worker } from 'node:worker_threads'
import { FoldoutError, getErrorMessage, type ErrorCode } from '../../../../core/errors.ts'
import type { SandboxLimits } from '../limits.ts'
import type { Engine, FromWorker, ToWorker, WorkerSetup } from '../messages.ts'

/** A thread that runs programs, seen from the host. */
export interface SandboxWorker {
  /** Its engine, once it can run programs. Rejects if it never will. */
  readonly ready: Promise<Engine>
  /** The functions it knows, one a line. */
  knownNames: string
  post(message: ToWorker): void
  /** Makes a program stop that computes and hears no message. */
  interrupt(program: number): void
  /** Who is told what it says, and that it is gone. */
  listen(listener: WorkerListener | undefined): void
  /** Lets it keep the process alive. */
  ref(): void
  unref(): void
  terminate(): void
}

export interface WorkerListener {
  readonly onMessage: (message: FromWorker) => void
  readonly onGone: (error: FoldoutError) => void
}

/** Of the thread itself, beside the machine's memory: for the type stripper and the texts that pass through. */
const HEAP_MB = 128

const isSource = import.meta.url.endsWith('.ts')
/** The build writes the thread's code into a file of its own, beside all other files of the package. */
const WORKER_URL = new URL(isSource ? '../guest/worker.ts' : './sandbox-worker.js', import.meta.url)
// Node 20 cannot read TypeScript by itself, which only matters to this project's own tests.
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
    : // Neither the host's flags nor its environment concern it.
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
  // Whoever waits for it hears of it; nobody may.
  ready.catch(() => {})

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
      // Whatever a program managed to make of a message, it costs the program and not the process.
      fail('sandbox-crashed', `The sandbox has crashed: ${getErrorMessage(error)}`)
    }
  })
  worker.on('messageerror', (error) => fail('sandbox-crashed', `The sandbox has crashed: ${getErrorMessage(error)}`))
  worker.on('error', (error) => fail('sandbox-crashed', `The sandbox has crashed: ${getErrorMessage(error)}`))
  worker.on('exit', () => fail('sandbox-crashed', 'The sandbox has crashed: its thread has ended.'))
  // After the listeners, because listening takes hold of the process again.
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

/** A worker that could not start says why; anything but a package that cannot be loaded is a crash. */
function toSandboxCode(code: string): ErrorCode {
  return code === 'peer-missing' || code === 'peer-broken' ? code : 'sandbox-crashed'
}
