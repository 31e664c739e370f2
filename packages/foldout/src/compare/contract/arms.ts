import type { Message, ProviderAdapter, Usage } from '../../adapters/contract.ts'
import type { AgentEvent } from '../../agent/events.ts'
import type { AgentOptions } from '../../agent/options.ts'
import type { OpenAhead } from '../../disclosure/ahead/rule.ts'
import type { DisclosureStrategy } from '../../disclosure/strategy.ts'
import type { PromptOverrides } from '../../prompt/overrides/overrides.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'
import type { Session } from '../../session/session.ts'
import type { VisibilityOverrides } from '../../session/visibility.ts'
import type { CompareCase } from './cases.ts'

/**
 * One run of a comparison, before it begins.
 *
 * @example
 * ```ts
 * const createAdapter = ({ case: task }: RunStart): ProviderAdapter => scriptedAdapter([says(`You said: ${task.input}`)])
 * ```
 */
export interface RunStart<World = unknown> {
  readonly arm: string
  readonly case: CompareCase
  /** From 0. */
  readonly repeat: number
  /** What `CompareOptions.world` has created for this run. */
  readonly world: World
  readonly session: Session
  readonly signal: AbortSignal
}

/**
 * A bound prompt, whatever its values and its output are.
 *
 * @example
 * ```ts
 * const prompts: Record<string, ComparedPrompt> = { short: bound }
 * ```
 */
export type ComparedPrompt = Pick<BoundPrompt, 'prompt' | 'render'>

/**
 * One way to run the agent. Arms may differ in anything: the prompt, what is open, the strategy, the model, the loop.
 *
 * @example
 * ```ts
 * const arms: Record<string, CompareArm> = {
 *   full: { prompt: bound, open: 'all' },
 *   folded: { prompt: bound },
 *   ahead: { prompt: bound, open: bySearch({ max: 1 }) },
 * }
 * ```
 */
export interface CompareArm<World = unknown> {
  /** The prompt, or a function that makes it for one run: its tools may work on the run's world. */
  readonly prompt: ComparedPrompt | ((start: RunStart<World>) => ComparedPrompt | Promise<ComparedPrompt>)
  /** What is opened before the first request for each of the user's inputs. */
  readonly open?: OpenAhead
  readonly disclosure?: DisclosureStrategy
  readonly visibility?: VisibilityOverrides
  readonly overrides?: PromptOverrides
  /** The model of this arm. Default: that of the comparison. */
  readonly adapter?: (start: RunStart<World>) => ProviderAdapter | Promise<ProviderAdapter>
  /** Runs the prompt in somebody else's loop, instead of `runAgent`. */
  readonly host?: (turn: ComparedTurn<World>) => Promise<ComparedAnswer>
  /** Further options of `runAgent`. */
  readonly options?: Omit<
    AgentOptions,
    'adapter' | 'disclosure' | 'input' | 'onEvent' | 'open' | 'overrides' | 'session' | 'signal' | 'visibility'
  >
  /**
   * The version of the arm. Saved runs of another one are made again. Without it, they are made again if the text of the
   * prompt has changed, its tools, the model or an option, but not if only a function has.
   */
  readonly version?: string
}

/**
 * One input of the user, for an arm that runs in somebody else's loop.
 *
 * @example
 * ```ts
 * const host = async ({ input, prompt, onEvent }: ComparedTurn): Promise<ComparedAnswer> => {
 *   const { report } = createHost(bound, { onEvent })
 *   report.started({ input })
 *   return { text: `There is an answer to ${input}` }
 * }
 * ```
 */
export interface ComparedTurn<World = unknown> extends RunStart<World> {
  readonly prompt: ComparedPrompt
  readonly input: string
  /** What was said in the earlier turns. */
  readonly messages: readonly Message[]
  /** Pass it to `createHost` or to the host's entry: the comparison counts what it is told. */
  readonly onEvent: (event: AgentEvent) => void
}

/**
 * The answer of somebody else's loop.
 *
 * @example
 * ```ts
 * const answer: ComparedAnswer = { text: 'The order is refunded.' }
 * ```
 */
export interface ComparedAnswer {
  readonly text: string
  readonly output?: unknown
}

/**
 * What a simulated user knows before each thing it says.
 *
 * @example
 * ```ts
 * const user: SimulatedUser = ({ case: task, said }: UserTalk) => (said.length === 0 ? task.user : undefined)
 * ```
 */
export interface UserTalk<World = unknown> {
  readonly case: CompareCase
  readonly world: World
  /** What the user has said, in order. */
  readonly said: readonly string[]
  /** What the agent has answered, in order. */
  readonly answers: readonly string[]
  readonly signal: AbortSignal
  /** Counts what the user's own model costs. It is part of the budget, and of no arm. */
  spend(usage: Usage): void
}

/**
 * A simulated user: says the next thing, or `undefined` if the conversation is over.
 *
 * @example
 * ```ts
 * const user: SimulatedUser = ({ said }) => ['Refund order 17.', 'Yes, please.'][said.length]
 * ```
 */
export type SimulatedUser<World = unknown> = (talk: UserTalk<World>) => string | undefined | Promise<string | undefined>
