import { FoldoutError } from '../../../../core/errors.ts'

/**
 * The limits of a program.
 *
 * @example
 * ```ts
 * createSandbox({ limits: { timeMs: 2_000, memoryMb: 32 } })
 * ```
 */
export interface SandboxLimits {
  /** The maximum time from start to end in milliseconds, including time spent waiting for calls, but not for a person's answer. Default 10,000. */
  readonly timeMs: number
  /** The maximum computing time in milliseconds, without waiting. Default 5,000. */
  readonly cpuMs: number
  /** The maximum memory in megabytes. Default 64. */
  readonly memoryMb: number
  /** The maximum number of characters kept from console output and the returned value. Default 20,000. */
  readonly outputCharacters: number
  /** The maximum number of function calls. Default 50. */
  readonly calls: number
  /** The maximum number of calls that run at the same time. Further calls wait. Default 10. */
  readonly concurrentCalls: number
  /** The maximum length of the source in characters. Default 100,000. */
  readonly sourceCharacters: number
}

/** The default limits of a program. */
export const DEFAULT_LIMITS: SandboxLimits = {
  timeMs: 10_000,
  cpuMs: 5_000,
  memoryMb: 64,
  outputCharacters: 20_000,
  calls: 50,
  concurrentCalls: 10,
  sourceCharacters: 100_000,
}

/** How many programs may wait for a person at a time while their clocks stand still. The clocks of others go on. */
export const MOST_ASKING = 8

/** The minimum that the engine itself needs, and the maximum that 32-bit memory allows. */
const MEMORY_RANGE_MB = [4, 2_048] as const
/** The longest delay of a timer. */
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

/** Describes a call beyond the limit to a program. */
export function describeTooManyCalls(name: string, { calls }: SandboxLimits): string {
  return `${name}() was not called: a program may make at most ${calls} calls.`
}
