import { FoldoutError } from '../../../../core/errors.ts'
import { checkPeer } from '../../../../core/peer.ts'
import { CANCELLED, execute, createLimitError, createRefusedRun } from './execution.ts'
import { readLimits, type SandboxLimits } from '../contract/limits.ts'
import type { SandboxFunctions, SandboxRun } from './sandbox-run.ts'
import { createWorkerPool } from './worker-pool.ts'

/**
 * Options of a sandbox: the limits of programs, and how many run at the same time.
 *
 * @example
 * ```ts
 * createSandbox({ limits: { memoryMb: 32 }, concurrentPrograms: 2 })
 * ```
 */
export interface SandboxOptions {
  readonly limits?: Partial<SandboxLimits>
  /** The number of programs that run at the same time, each in its own thread. Further programs wait. Default 4. */
  readonly concurrentPrograms?: number
}

/**
 * Options of one program: its functions, and the signal that cancels it.
 *
 * @example
 * ```ts
 * await sandbox.run('return await add({ a: 1, b: 2 })', { functions, signal: AbortSignal.timeout(500) })
 * ```
 */
export interface RunOptions {
  readonly functions: SandboxFunctions
  readonly signal?: AbortSignal
}

/**
 * Runs untrusted programs. They can reach only the functions that you pass in.
 *
 * @example
 * ```ts
 * const { ok, value, error } = await sandbox.run('return 6 * 7', { functions: new Map() })
 * ```
 */
export interface Sandbox {
  /**
   * Runs TypeScript or JavaScript, with `await` and `return` at the top level. A program that fails or is stopped is also a
   * result; this rejects only if no program can run at all.
   */
  run(source: string, options: RunOptions): Promise<SandboxRun>
  /** Starts a thread, so the first program does not have to wait for it. */
  warmUp(): Promise<void>
  /** Stops all programs and ends the threads. Threads do not keep the process alive, even if this is not called. */
  close(): void
}

/** The engine that runs programs. Only the threads load it. */
const ENGINE = 'quickjs-wasi'

/**
 * Creates a sandbox for untrusted programs. Its threads are started with the first program.
 *
 * @example
 * ```ts
 * const sandbox = createSandbox({ limits: { timeMs: 2_000 } })
 * const double: SandboxFunction = (args) => Number(args) * 2
 * const { value } = await sandbox.run('return await double(21)', { functions: new Map([['double', double]]) })
 * ```
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  // Otherwise, the model would be the first to see that a package is missing, instead of the developer who has to
  // install it.
  checkPeer(ENGINE, import.meta.resolve)
  const limits = readLimits(options.limits)
  const { concurrentPrograms = 4 } = options
  if (!Number.isInteger(concurrentPrograms) || concurrentPrograms < 1) {
    throw new FoldoutError(
      'sandbox-invalid',
      `'concurrentPrograms' of a sandbox must be a whole number of at least 1, not ${concurrentPrograms}.`,
    )
  }
  const pool = createWorkerPool(limits, concurrentPrograms)
  let lastProgram = 0
  let checkedNames = ''

  return {
    async run(source, { functions, signal }) {
      const names = [...functions.keys()].join('\n')
      if (names !== checkedNames) refuseBadNames(functions.keys())
      checkedNames = names
      if (source.length > limits.sourceCharacters) {
        const message = `The source is ${source.length} characters long; at most ${limits.sourceCharacters} are run.`
        return createRefusedRun(createLimitError(message), 'source')
      }
      const worker = await pool.acquire(signal)
      if (!worker) return createRefusedRun(CANCELLED)
      // Ids wrap around in a signed 32-bit number, and none is 0.
      lastProgram = (lastProgram % (2 ** 31 - 1)) + 1
      return execute({
        worker,
        id: lastProgram,
        source,
        names,
        functions,
        limits,
        signal,
        makeRoom: () => pool.makeRoom(),
        onFree: () => pool.release(worker),
      })
    },
    async warmUp() {
      const worker = await pool.acquire(undefined)
      if (worker) pool.release(worker)
    },
    close: () => pool.close(),
  }
}

const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*(?:\.[^\n]+)?$/u

function refuseBadNames(names: Iterable<string>): void {
  for (const name of names) {
    if (NAME.test(name)) continue
    throw new FoldoutError(
      'sandbox-invalid',
      `'${name}' cannot name a function of a program. Use an identifier, or an identifier followed by a dot and any single-line text: 'server.tool'.`,
    )
  }
}
