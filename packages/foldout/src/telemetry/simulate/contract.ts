import type { ResultsFolded } from '../../agent/events.ts'
import type { RefoldOptions } from '../../agent/refold/options.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import type { OpenAhead } from '../../disclosure/ahead/rule.ts'
import type { DisclosureStrategy } from '../../disclosure/strategy.ts'
import type { PromptOverrides } from '../../prompt/overrides/overrides.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'
import type { Visibility } from '../../session/visibility.ts'
import type { Bill, CacheOptions, Charge } from './cache.ts'

/**
 * A call of one of the prompt's own tools. The tool is not run; only the cost of the call counts.
 *
 * @example
 * ```ts
 * const call: SimulatedCall = { name: 'refund_order', argumentsTokens: 12, resultTokens: 40 }
 * ```
 */
export interface SimulatedCall {
  readonly name: string
  /** Tokens of its arguments as JSON. */
  readonly argumentsTokens: number
  readonly resultTokens: number
  /** The qualified name of the tool that it ran, for a tool that runs those of a catalog. */
  readonly target?: string
}

/**
 * A turn with a person: the model says something, and hears an answer. Both are numbers of tokens; a person's own words
 * also count as input for what opens sections ahead.
 *
 * @example
 * ```ts
 * const talk: SimulatedTalk = { says: 73, hears: 'And when does it arrive?', afterMs: 60_000 }
 * ```
 */
export interface SimulatedTalk {
  readonly says: number
  readonly hears: number | string
  /** How long the person takes. A cache that does not live that long is cold afterwards. Default 0. */
  readonly afterMs?: number
}

/**
 * A part of an earlier result that the model needs again. It costs nothing unless the result was folded since.
 *
 * @example
 * ```ts
 * const need: SimulatedNeed = { call: 1, tokens: 40 }
 * ```
 */
export interface SimulatedNeed {
  /** The number of the call that returned it, from 1 on, over all steps. */
  readonly call: number
  /** How much of it the model needs. */
  readonly tokens: number
}

/**
 * One action of a model, however the prompt is shown to it.
 *
 * @example
 * ```ts
 * const steps: SimulationStep[] = [{ opens: ['refunds'] }, { calls: [call] }, { answers: 80 }]
 * ```
 */
export type SimulationStep =
  /** The model needs these sections, by path. Sections that it can already read cost nothing. */
  | { readonly opens: readonly string[] }
  /** The model calls tools, all in one reply. */
  | { readonly calls: readonly SimulatedCall[] }
  /** The model needs parts of earlier results again. */
  | { readonly needs: readonly SimulatedNeed[] }
  | SimulatedTalk
  /** The model answers with this number of tokens, and the run is over. */
  | { readonly answers: number }

/**
 * The actions of a model in a run, independent of how sections are disclosed to it.
 *
 * @example
 * ```ts
 * const run: SimulatedRun = { prompt: bound, input: 'Refund order 17.', steps: [{ opens: ['refunds'] }, { answers: 80 }] }
 * ```
 */
export interface SimulatedRun {
  readonly prompt: Pick<BoundPrompt, 'prompt' | 'render'>
  /** The user input. */
  readonly input?: string
  readonly steps: readonly SimulationStep[]
}

/**
 * How tools get into a conversation: `'dynamic'` if the provider can append them to it, `'dynamic-plain'` if they are added
 * to the end of the tool list, `'restart'` if the prompt is rendered again.
 *
 * @example
 * ```ts
 * for (const adapter of ['dynamic', 'restart'] satisfies SimulatedAdapter[]) await simulate(run, { strategy, adapter })
 * ```
 */
export type SimulatedAdapter = 'dynamic' | 'dynamic-plain' | 'restart'

/**
 * The options of {@link simulate}.
 *
 * @example
 * ```ts
 * const options: SimulationOptions = { strategy: readSection(), cache: 'anthropic', visibility: { refunds: 'full' } }
 * ```
 */
export interface SimulationOptions extends CacheOptions {
  /** The strategy, or `'everything-in-full'` to fold no section at all. */
  readonly strategy: DisclosureStrategy | 'everything-in-full'
  /** How tools are added. Default `'dynamic'`. */
  readonly adapter?: SimulatedAdapter
  /**
   * Sections that start open (`full`) or folded (`summary`), by path, instead of their default, to see what it would
   * cost to show a section from the start. The model can still open folded sections.
   */
  readonly visibility?: Readonly<Record<string, Visibility>>
  /** The sections to open before the first request for each of the user's inputs, as in `runAgent`. */
  readonly open?: OpenAhead
  /** Overrides of the prompt, as in `runAgent`. */
  readonly overrides?: PromptOverrides
  /**
   * Folds results as `runAgent` does, with stand-ins for the results of the prompt's tools. The cache is that of
   * `cache`, unless it has its own. Default: nothing is folded back, unless there is a `contextWindow`.
   */
  readonly refold?: RefoldOptions | false
  /** The size of the model's window, as in `runAgent`. Default: unlimited. */
  readonly contextWindow?: number
  /** Counts tokens. Default: a quick estimate. */
  readonly counter?: TokenCounter
}

/**
 * The cost of one request.
 *
 * @example
 * ```ts
 * const largest = Math.max(...requests.map(({ inputTokens }: SimulatedRequest) => inputTokens))
 * ```
 */
export interface SimulatedRequest extends Charge {
  /** The tokens that the model writes in reply. */
  readonly outputTokens: number
  /** The tokens of the tool definitions before the conversation. */
  readonly tools: number
  readonly system: number
  /** The tokens of the conversation, with the tool definitions that were appended to it. */
  readonly messages: number
}

/**
 * The cost of a simulated run, and what the model can read and call at its end.
 *
 * @example
 * ```ts
 * const { billedTokens, restarts }: Simulation = await simulate(run, { strategy: readSection() })
 * ```
 */
export interface Simulation extends Bill {
  readonly requests: readonly SimulatedRequest[]
  /** How often the prompt was rendered again. */
  readonly restarts: number
  /** The folds of results, with reason, cost and gain. */
  readonly folds: readonly ResultsFolded[]
  /** How often the model read a folded result again. */
  readonly readBacks: number
  /** Paths of the sections whose whole text the model can read at the end, in the order of the prompt. */
  readonly sections: readonly string[]
  /** The prompt's own tools that the model can call at the end, in the order of the prompt. */
  readonly tools: readonly string[]
  readonly counter: { readonly name: string; readonly exact: boolean }
  /** Bills the same run at another price, without simulating it again. */
  bill(options: CacheOptions): Bill
}
