import type { Json } from '../../../../core/json/json.ts'
import type { LogLevel, ProgramError } from '../contract/messages.ts'

/**
 * A function of the host that programs can call. Arguments and results are passed as JSON. The signal aborts when the program is
 * stopped, or ends without waiting for the call. `pause` stops the program's clock until the function that it returns is called:
 * a person who is asked something needs longer than a program may take.
 *
 * @example
 * ```ts
 * const getWeather: SandboxFunction = async (args, signal) => (await fetch(url, { signal })).json()
 * ```
 */
export type SandboxFunction = (args: unknown, signal: AbortSignal, pause?: () => () => void) => unknown

/**
 * The functions that a program can call, by name: `server.tool`, where the server is an identifier, or only an identifier. An error
 * that a function throws is thrown inside the program. A `Map` is enough.
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
  /** Whether the program ended before the call did. */
  readonly cancelled?: true
}

/**
 * A limit that a program can reach.
 *
 * @example
 * ```ts
 * if (run.limit === 'time') console.log('The program took too long.')
 * ```
 */
export type LimitName = 'time' | 'memory' | 'calls' | 'output' | 'source'

/**
 * The result of a program.
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
  /** The returned value or the value of the last expression, as JSON. Absent if there is none. */
  readonly value?: Json
  /** The beginning of the value's JSON, instead of `value`, if it does not fit. */
  readonly valueStart?: string
  readonly logs: readonly SandboxLog[]
  /** Characters of console output and value that did not fit. */
  readonly missingCharacters: number
  readonly error?: ProgramError
  /** All calls, in the order in which they were made. */
  readonly calls: readonly SandboxCall[]
  /**
   * The limit that the program reached. It continues after `output`, which only cuts output, and may continue after
   * `calls`.
   */
  readonly limit?: LimitName
  readonly durationMs: number
}
