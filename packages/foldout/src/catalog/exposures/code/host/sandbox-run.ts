import type { Json } from '../../../../core/json/json.ts'
import type { LogLevel, ProgramError } from '../messages.ts'

/**
 * A function of the host that programs call. Arguments and results cross as JSON. The signal aborts when the program is
 * stopped, or ends without having waited.
 *
 * @example
 * ```ts
 * const getWeather: SandboxFunction = async (args, signal) => (await fetch(url, { signal })).json()
 * ```
 */
export type SandboxFunction = (args: unknown, signal: AbortSignal) => unknown

/**
 * What a program can call, by name: `server.tool`, of which the server is an identifier, or an identifier alone. What a
 * function throws is thrown inside the program. A `Map` will do.
 *
 * @example
 * ```ts
 * const functions: SandboxFunctions = new Map([['weather.get', getWeather]])
 * ```
 */
export interface SandboxFunctions {
  keys(): Iterable<string>
  has(name: string): boolean
  get(name: string): SandboxFunction | undefined
}

/**
 * A line that a program wrote to its console.
 *
 * @example
 * ```ts
 * for (const { level, text } of run.logs) console.log(`[${level}] ${text}`)
 * ```
 */
export interface SandboxLog {
  readonly level: LogLevel
  readonly text: string
}

/**
 * A call that a program made.
 *
 * @example
 * ```ts
 * const failed = run.calls.filter(({ ok }) => !ok).map(({ name }) => name)
 * ```
 */
export interface SandboxCall {
  readonly name: string
  readonly ok: boolean
  readonly durationMs: number
  /** The program was over before the call was. */
  readonly cancelled?: true
}

/**
 * What a program can run into.
 *
 * @example
 * ```ts
 * if (run.limit === 'time') console.log('The program took too long.')
 * ```
 */
export type LimitName = 'time' | 'memory' | 'calls' | 'output' | 'source'

/**
 * What became of a program.
 *
 * @example
 * ```ts
 * const run = await sandbox.run('return 6 * 7', { functions: new Map() })
 * run.ok // => true
 * run.value // => 42
 * ```
 */
export interface SandboxRun {
  /** Whether it ran to its end. */
  readonly ok: boolean
  /** What it returned, or the value of its last expression, as JSON has it. Absent if that is nothing. */
  readonly value?: Json
  /** Instead of `value`, where it does not fit: the beginning of its JSON. */
  readonly valueStart?: string
  readonly logs: readonly SandboxLog[]
  /** Characters of console output and value that did not fit. */
  readonly missingCharacters: number
  readonly error?: ProgramError
  /** In the order in which they were made. */
  readonly calls: readonly SandboxCall[]
  /** The limit it ran into. Of `output` it only loses what does not fit, and `calls` it may survive. */
  readonly limit?: LimitName
  readonly durationMs: number
}
