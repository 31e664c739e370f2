import { FoldoutError } from '../../../core/errors.ts'

/**
 * What a program may use. Whatever it does, it gets no more.
 *
 * @example
 * ```ts
 * createSandbox({ limits: { timeMs: 2_000, memoryMb: 32 } })
 * ```
 */
export interface SandboxLimits {
  /** Milliseconds from its start to its end, waiting for calls included. Default 10,000. */
  readonly timeMs: number
  /** Milliseconds in which it computes, waiting not included. Default 5,000. */
  readonly cpuMs: number
  /** Megabytes of memory. Default 64. */
  readonly memoryMb: number
  /** Characters of console output and returned value that are kept. Default 20,000. */
  readonly outputCharacters: number
  /** Calls of functions. Default 50. */
  readonly calls: number
  /** Calls that run side by side; others wait for their turn. Default 10. */
  readonly concurrentCalls: number
  /** Characters of its source. Default 100,000. */
  readonly sourceCharacters: number
}

/** What a program may use if nothing else is said. */
export const DEFAULT_LIMITS: SandboxLimits = {
  timeMs: 10_000,
  cpuMs: 5_000,
  memoryMb: 64,
  outputCharacters: 20_000,
  calls: 50,
  concurrentCalls: 10,
  sourceCharacters: 100_000,
}

/** What the engine itself takes, and what a 32-bit machine can have. */
const MEMORY_RANGE_MB = [4, 2_048] as const
/** Timers take no more. */
const LONGEST_MS = 2 ** 31 - 1

export function readLimits(given: Partial<SandboxLimits> = {}): SandboxLimits {
  const limits = { ...DEFAULT_LIMITS, ...given }
  for (const [name, value] of Object.entries(limits)) {
    const [least, most] = getRange(name)
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new FoldoutError(
        'sandbox-invalid',
        `The limit '${name}' of a sandbox must be a whole number from ${least} to ${most}, not ${value}.`,
      )
    }
  }
  return limits
}

function getRange(name: string): readonly [number, number] {
  if (name === 'memoryMb') return MEMORY_RANGE_MB
  return [name === 'calls' ? 0 : 1, name.endsWith('Ms') ? LONGEST_MS : Number.MAX_SAFE_INTEGER]
}

/** What a program is told of a call beyond the limit. */
export function getTooManyCalls(name: string, { calls }: SandboxLimits): string {
  return `${name}() was not called: a program may make at most ${calls} calls.`
}
