import type { AssistantMessage, Message, ProviderAdapter, ToolMessage, Usage } from '../adapters/contract.ts'
import type { TokenCounter } from '../core/tokens/tokens.ts'
import type { OpenAhead } from '../disclosure/ahead/rule.ts'
import type { DisclosureStrategy } from '../disclosure/strategy.ts'
import type { PromptOverrides } from '../prompt/overrides/overrides.ts'
import type { RenderOptions } from '../prompt/prompt.ts'
import type { Session } from '../session/session.ts'
import type { LeaseOptions } from '../session/stores/lease.ts'
import type { Filesystem } from '../files/filesystem.ts'
import type { ThrownByTool } from '../tools/thrown.ts'
import type { ApprovalNeed, ToolContext } from '../tools/tool.ts'
import type { ApprovalAnswer, ApprovalCall, ApprovalRequest } from './state/approvals.ts'
import type { DelegateModel } from './delegate-models.ts'
import type { AgentEvent } from './events.ts'
import type { AgentInput } from './input.ts'
import type { RunLimits, StopReason } from './limits.ts'
import type { Expansion, OpeningPolicy } from './policy.ts'
import type { RunState } from './state/run-state.ts'
import type { BeforeRequest } from './refold/hook.ts'
import type { RefoldOptions } from './refold/options.ts'

/**
 * Options of {@link runAgent} and related functions.
 *
 * @example
 * ```ts
 * const options: AgentOptions = { adapter, input: 'Where is my parcel?', maxTurns: 20, limits: { totalTokens: 50_000 } }
 * const { text } = await runAgent(bound, options)
 * ```
 */
export interface AgentOptions<Keys extends string = string> {
  /** The adapter of the model. */
  readonly adapter: ProviderAdapter
  /**
   * The user input: a string, or a list of texts, images and files. Leave it out to resume a run, or if the prompt says
   * everything: the conversation then begins with `Begin.`. A completed run without new input returns its result again
   * without a request.
   */
  readonly input?: AgentInput
  /**
   * The session that stores openings, the tools' state and the conversation: a second `input` on the same session
   * continues it. A session has one live run at a time, in all processes that share its store; a second one is rejected
   * with the code `run-busy`. A run inside a tool, on the tool's session, has its own conversation.
   */
  readonly session?: Session
  /** How the run holds its session against runs in other processes, if the session is in a store. */
  readonly lease?: LeaseOptions
  /** The state of an earlier run to continue: the `state` of its result or error. */
  readonly state?: RunState
  /**
   * Whether to render the prompt again for the current state of the session. Otherwise, a conversation continues with
   * the text and tools it began with, which providers have cached, until an opening restarts the run, or values,
   * overrides or the strategy change. Default false.
   */
  readonly rerender?: boolean
  /** The strategy that tells the model how to open folded sections. Default: the prompt's own. */
  readonly disclosure?: DisclosureStrategy
  /** The visibility of sections, as in `render`. */
  readonly visibility?: RenderOptions<Keys>['visibility']
  readonly overrides?: PromptOverrides
  readonly counter?: TokenCounter
  readonly budget?: RenderOptions['budget']
  /** The files that tools work on. */
  readonly filesystem?: Filesystem
  /** The maximum number of restarts that openings may cause for one user input. Default 10. */
  readonly maxExpansions?: number
  /** The maximum number of model replies for one user input. Default 100. */
  readonly maxTurns?: number
  /** How often the model is asked to fix an answer that does not fit the prompt's output. Default 2. */
  readonly maxRepairs?: number
  /** Called after each reply; true stops the run, which can be resumed. A valid answer completes the run anyway. */
  readonly stopWhen?: (turns: readonly AgentTurn[]) => boolean
  /**
   * The sections to open before the first request for the input: `'all'`, paths, or a rule such as `bySearch()`. They
   * cost no request, and cannot be missed. They are shown in the system text if that is cheaper, otherwise behind the
   * user's message.
   */
  readonly open?: OpenAhead
  /** How many conversations an hour begin with this prompt. It decides what stays in the provider's cache. Default 40. */
  readonly perHour?: number
  /** The policy for openings that need a new render. Default `'eager'`. */
  readonly opening?: OpeningPolicy
  /**
   * The models that answer questions about sections, by the name that `delegate` of a section says. What they use counts
   * in the limits of this run.
   */
  readonly delegates?: Readonly<Record<string, DelegateModel>>
  /** The most that one user input may cost, in tokens or in money. */
  readonly limits?: RunLimits
  /** The time by which the run must be finished. Anything still running is cancelled. */
  readonly deadline?: Date
  /** Cancels the run and everything it is waiting for. */
  readonly signal?: AbortSignal
  /** How many calls of one reply run at the same time. Default 16. */
  readonly maxParallelCalls?: number
  /** How many calls of one reply run at all; the rest are answered with a failure. Default 256. */
  readonly maxCallsPerReply?: number
  /** How long one tool call may take, in milliseconds. Default: no limit. */
  readonly toolTimeoutMs?: number
  /**
   * The size of the context window in tokens. Openings that would not fit are rejected, old results are folded, and a
   * request that still does not fit ends the run before it is sent. Default: the adapter's value for its model.
   */
  readonly contextWindow?: number
  /**
   * When old and large results are folded, so that requests stay small. `false`: never. Default: on if the context
   * window is known.
   */
  readonly refold?: RefoldOptions | false
  /** Decides before each request what is folded, instead of the run's own rules. */
  readonly beforeRequest?: BeforeRequest
  /**
   * Decides whether a person has to approve a call before it runs, in addition to the tools' own `needsApproval`.
   * Called for each call except disclosure calls; any result but `false` pauses the run, and a string is the reason
   * that the person reads.
   */
  readonly needsApproval?: (call: ApprovalCall, context: ToolContext) => ApprovalNeed | Promise<ApprovalNeed>
  /**
   * Answers to the approvals of a result whose status is `'waiting'`. Either all of them are accepted, or the run is
   * rejected. Calls without an answer keep waiting, unless there is an `input`: in that case, they are denied.
   */
  readonly approvals?: readonly ApprovalAnswer[]
  /**
   * How long a call can be approved after a person was asked. After that, the next run asks again. Default: no limit.
   */
  readonly approvalTtlMs?: number
  /**
   * How to treat a call that had begun when the process ended, so it is unknown whether it took effect. A read-only or
   * idempotent tool runs again. For other tools, `'repeat'` runs them again too, `'tell'` tells the model that the
   * outcome is unknown, and `'ask'` asks a person. A call that was approved always asks again. Default `'tell'`.
   */
  readonly interruptedCalls?: InterruptedCalls
  /**
   * Called when a tool throws, instead of returning `fail(message)`. A text that it returns is what the model reads.
   * Default: the error's message without what looks like a secret, and for a mistake in the program only that there is
   * one. The event `tool/threw` has the whole error.
   */
  readonly onToolError?: (thrown: ThrownByTool) => string | undefined
  /** Called with every event. Errors and rejections are ignored, because watching a run must not change it. */
  readonly onEvent?: (event: AgentEvent) => unknown
}

/**
 * How to treat interrupted calls of tools that are neither read-only nor idempotent.
 *
 * @example
 * ```ts
 * const interruptedCalls: InterruptedCalls = 'ask'
 * ```
 */
export type InterruptedCalls = 'repeat' | 'tell' | 'ask'

/**
 * One reply of the model and its outcome.
 *
 * @example
 * ```ts
 * const { turns } = await runAgent(bound, { adapter })
 * const restarts = turns.filter((turn: AgentTurn) => turn.type === 'restart')
 * restarts.length // => 0
 * ```
 */
export type AgentTurn =
  | { readonly type: 'answer'; readonly message: AssistantMessage }
  | { readonly type: 'tools'; readonly message: AssistantMessage; readonly results: readonly ToolMessage[] }
  /** Sections were opened, and the conversation continued with their tools. */
  | {
      readonly type: 'injection'
      readonly message: AssistantMessage
      readonly results: readonly ToolMessage[]
      readonly tools: readonly string[]
    }
  /** Sections were opened, and the prompt was rendered again. */
  | {
      readonly type: 'restart'
      readonly message: AssistantMessage
      readonly results: readonly ToolMessage[]
      readonly expansion: Expansion
    }

/**
 * What every result of a run has.
 *
 * @example
 * ```ts
 * const countTurns = ({ turns }: AnyResult): number => turns.length
 * countTurns(await runAgent(bound, { adapter })) // => 1
 * ```
 */
export interface AnyResult {
  /** The model's last text. */
  readonly text: string
  /** The calls that wait for a person. Pass the answers as `approvals` to continue. */
  readonly approvals: readonly ApprovalRequest[]
  readonly messages: readonly Message[]
  /** The turns in this process, one for each reply. */
  readonly turns: readonly AgentTurn[]
  /** The cost of this user input, across all restarts. */
  readonly usage: Usage
  /** The cost of the whole conversation. */
  readonly totalUsage: Usage
  /** How often the run restarted because something was opened. */
  readonly expansions: number
  /** The state with which another process can continue. */
  readonly state: RunState
}

/**
 * The result of a run. Its `status` says which fields it has.
 *
 * @example
 * ```ts
 * const result: AgentResult = await runAgent(bound, { adapter, input: 'Where is my parcel?' })
 * if (result.status === 'completed') console.log(result.output)
 * if (result.status === 'stopped') console.log(result.reason)
 * result.text // => 'Done.'
 * ```
 */
export type AgentResult<Output = unknown> =
  /** `output` is the answer, parsed with the prompt's output schema; `undefined` without a schema. */
  | (AnyResult & { readonly status: 'completed'; readonly reason?: undefined; readonly output: Output })
  | (AnyResult & { readonly status: 'stopped'; readonly reason: StopReason; readonly output?: undefined })
  /** A person has to answer `approvals`. */
  | (AnyResult & { readonly status: 'waiting'; readonly reason?: undefined; readonly output?: undefined })
