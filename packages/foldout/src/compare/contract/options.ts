import type { Message, ProviderAdapter } from '../../adapters/contract.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import type { Session } from '../../session/session.ts'
import type { CompareArm, RunStart, SimulatedUser } from './arms.ts'
import type { CompareCase } from './cases.ts'

/**
 * A finished run, as a grader sees it. It has no name of an arm, so that no judge can prefer one.
 *
 * @example
 * ```ts
 * const isPolite: Grader = ({ text }: GradedRun) => /please|thank/i.test(text)
 * ```
 */
export interface GradedRun<World = unknown> {
  readonly case: CompareCase
  /** The last answer. */
  readonly text: string
  /** The parsed output, if the prompt has an output schema. */
  readonly output: unknown
  /** All answers, one for each thing the user said. */
  readonly answers: readonly string[]
  /** The calls of the prompt's own tools, in order. */
  readonly calls: readonly GradedCall[]
  readonly messages: readonly Message[]
  readonly session: Session
  readonly world: World
  readonly signal: AbortSignal
}

/**
 * A call that a run has made.
 *
 * @example
 * ```ts
 * const neverRefunds: Grader = ({ calls }) => !calls.some(({ name, ok }: GradedCall) => ok && name === 'refund_order')
 * ```
 */
export interface GradedCall {
  readonly name: string
  readonly arguments: unknown
  readonly ok: boolean
}

/**
 * Grades a run: `true` or 1 for a good one, `false` or 0 for a bad one, or something between. A run has passed if all
 * its grades are 1.
 *
 * @example
 * ```ts
 * const grade: Record<string, Grader> = { done: graders.calls(), polite: ({ text }) => text.includes('please') }
 * ```
 */
export type Grader<World = unknown> = (run: GradedRun<World>) => boolean | number | Promise<boolean | number>

/**
 * What tokens cost, in dollars per million, and how the provider caches the beginning of requests.
 *
 * @example
 * ```ts
 * const prices: ComparePrices = { input: 3, read: 0.3, write: 3.75, output: 15, minimum: 1024, ttl: 300 }
 * ```
 */
export interface ComparePrices {
  readonly input: number
  readonly output: number
  /** A token that is read from the cache. Default: the price of input. */
  readonly read?: number
  /** A token that is written to the cache. Default: the price of input. */
  readonly write?: number
  /** Requests with fewer tokens are not cached. Default 1024. */
  readonly minimum?: number
  /** How long a beginning stays in the cache, in seconds. Default 300. */
  readonly ttl?: number
  /** The number of tokens by which a shared beginning grows, if the provider does not cache whole blocks. OpenAI: 128. */
  readonly step?: number
  /**
   * Where tools that are added to a conversation are sent: `'in-place'` behind it, so what precedes them stays cached,
   * or `'at-end'` of the tool list. Default `'in-place'`.
   */
  readonly added?: 'in-place' | 'at-end'
}

/**
 * What every run needs, in a comparison or on its own.
 *
 * @example
 * ```ts
 * const options: ArmRunOptions = { adapter: () => scriptedAdapter([says('Done.')]), grade: { done: graders.includes() } }
 * ```
 */
export interface ArmRunOptions<World = unknown> {
  /** Creates the model of a run. Arms may have their own. */
  readonly adapter?: (start: RunStart<World>) => ProviderAdapter | Promise<ProviderAdapter>
  /** How runs are graded. Default: every ready-made grader for which a case has an expectation. */
  readonly grade?: Readonly<Record<string, Grader<World>>>
  /** Without prices, the only money known is what the provider says it costs. */
  readonly prices?: ComparePrices
  /** Plays the user of cases that have `user`. */
  readonly user?: SimulatedUser<World>
  /** The most things that a user says in one run. Default 30. */
  readonly maxUserTurns?: number
  /** Creates what the tools of one run work on, such as a small database. */
  readonly world?: (task: CompareCase) => World | Promise<World>
  /** Creates the session of one run, with the slices that its tools use. */
  readonly session?: () => Session
  readonly counter?: TokenCounter
  readonly signal?: AbortSignal
}

/**
 * The options of `compare`.
 *
 * @example
 * ```ts
 * const options: CompareOptions = {
 *   cases: [{ id: 'refund', input: 'Refund order 17.', includes: 'Done' }],
 *   arms: { full: { prompt: bound, open: 'all' }, folded: { prompt: bound } },
 *   adapter: () => scriptedAdapter([says('Done.')]),
 *   grade: { done: graders.includes() },
 * }
 * ```
 */
export interface CompareOptions<World = unknown> extends ArmRunOptions<World> {
  /** The cases, or the path of a file with one to a line as JSON. */
  readonly cases: readonly CompareCase[] | string
  readonly arms: Readonly<Record<string, CompareArm<World>>>
  /** The arm that the others are compared with. Default: the first. */
  readonly base?: string
  /** How often each arm runs each case. Default 1. */
  readonly repeat?: number
  /** After how many repeats to look whether it is decided; the last one is `repeat`. At most five. Default: only at the end. */
  readonly looks?: readonly number[]
  /** How much worse an arm may be and still count as not worse, as a share of 1. Default 0.05. */
  readonly margin?: number
  /** How many conversations an hour begin with the prompt, for the cost at that traffic. */
  readonly perHour?: number
  /**
   * The dollars after which no run begins. The runs that are under way finish. Runs that the file has already do not
   * count.
   */
  readonly budget?: number
  /**
   * A file to which every run is added as it ends. What it has is not run, and not paid, again, unless its case or its
   * arm has changed. It contains everything that was said.
   */
  readonly save?: string
  /** Runs nothing that needs a model: what the file does not have counts as an error. */
  readonly offline?: boolean
  /** The order of the runs is random; the same seed gives the same order. Default 1. */
  readonly seed?: number
  /** How many runs are under way at the same time. Default 4. */
  readonly parallel?: number
  /** Called after each run. */
  readonly onProgress?: (progress: CompareProgress) => void
}

/**
 * How far a comparison is.
 *
 * @example
 * ```ts
 * const onProgress = ({ done, runs }: CompareProgress): void => console.log(`${done} of ${runs} runs`)
 * ```
 */
export interface CompareProgress {
  readonly done: number
  readonly runs: number
  /** How many of them were in the file. */
  readonly kept: number
  readonly errors: number
  /** Dollars spent now, without what the file had already. */
  readonly spentUsd: number
}
