import type { Json } from '../../core/json/json.ts'

/**
 * A call that a run should make.
 *
 * @example
 * ```ts
 * const call: ExpectedCall = { name: 'refund_order', arguments: { order: 17 } }
 * ```
 */
export interface ExpectedCall {
  readonly name: string
  /** The arguments that count; others do not matter. Left out: any arguments. */
  readonly arguments?: Readonly<Record<string, Json>>
}

/**
 * One task of a comparison: what the user says, and what a good run does. Plain JSON, one to a line of a file.
 *
 * @example
 * ```ts
 * const task: CompareCase = { id: 'refund-17', input: 'Refund order 17.', calls: [{ name: 'refund_order' }] }
 * ```
 */
export interface CompareCase {
  /** Unique among the cases. */
  readonly id: string
  /** What the user says first. */
  readonly input?: string
  /** What the user says, turn by turn, instead of `input`. */
  readonly turns?: readonly string[]
  /** What a simulated user wants; see `CompareOptions.user`. It may follow an `input`. */
  readonly user?: string
  /** Cases that come from one conversation are not independent: the statistics treat them as one. */
  readonly conversation?: string
  /** Sections that a good run reads, by path. What the runs of the base have used is added. */
  readonly needs?: readonly string[]
  /** For `graders.calls()`: the calls that a good run makes. */
  readonly calls?: readonly ExpectedCall[]
  /** For `graders.includes()`: what the answer says. */
  readonly includes?: string | readonly string[]
  /** For `graders.matches()`: a regular expression that the answer matches. */
  readonly matches?: string
  /** For `graders.output()`: the parsed output of the prompt. */
  readonly output?: Json
  /** For `graders.state()`: the state at the end. */
  readonly state?: Json
  /** Anything else that your own functions need. */
  readonly data?: Json
}
