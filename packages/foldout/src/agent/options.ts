import type { AssistantMessage, Message, ProviderAdapter, ToolMessage, Usage } from '../adapters/contract.ts'
import type { TokenCounter } from '../core/tokens/tokens.ts'
import type { DisclosureStrategy } from '../disclosure/strategy.ts'
import type { PromptOverrides } from '../prompt/overrides/overrides.ts'
import type { RenderOptions } from '../prompt/prompt.ts'
import type { Session } from '../session/session.ts'
import type { Filesystem } from '../files/filesystem.ts'
import type { ApprovalNeed, ToolContext } from '../tools/tool.ts'
import type { ApprovalAnswer, ApprovalCall, ApprovalRequest } from './approvals.ts'
import type { AgentEvent } from './events.ts'
import type { AgentInput } from './input.ts'
import type { TokenLimits } from './limits.ts'
import type { Expansion, OpeningPolicy } from './policy.ts'
import type { RunState } from './loop/run-state.ts'

/**
 * What {@link runAgent} and its relatives take.
 *
 * @example
 * ```ts
 * const options: AgentOptions = { adapter, input: 'Where is my parcel?', maxTurns: 20, limits: { totalTokens: 50_000 } }
 * const { text } = await runAgent(bound, options)
 * ```
 */
export interface AgentOptions<Keys extends string = string> {
  /** The model. */
  readonly adapter: ProviderAdapter
  /**
   * What the user says: a text, or a list of texts, images and files. Left out when a run is resumed, or when the prompt says
   * it all: the conversation then begins with `Begin.`. A completed run without new input gives its result again and asks
   * nobody.
   */
  readonly input?: AgentInput
  /**
   * Where openings, the tools' state and the conversation are kept: a second `input` on the same session continues it. A
   * session has one live run at a time; a second is refused with the code `run-busy`. A run inside a tool, on the session
   * that the tool gets, has a conversation of its own.
   */
  readonly session?: Session
  /** Goes on with a run that was stopped: the `state` of its result or error. */
  readonly state?: RunState
  /**
   * Renders the prompt for the model again, as the session has it now. A conversation otherwise goes on with the text and the
   * tools it began with, which providers have cached, until an opening restarts the run, or values, overrides or the strategy
   * change. Default false.
   */
  readonly rerender?: boolean
  /** How folded sections speak to the model. Default: the prompt's own. */
  readonly disclosure?: DisclosureStrategy
  /** As for `render`. */
  readonly visibility?: RenderOptions<Keys>['visibility']
  readonly overrides?: PromptOverrides
  readonly counter?: TokenCounter
  readonly budget?: RenderOptions['budget']
  /** The files that tools work on. */
  readonly filesystem?: Filesystem
  /** How many restarts openings may cause for one input of the user. Default 10. */
  readonly maxExpansions?: number
  /** How many replies the model may give to one input of the user. Default 100. */
  readonly maxTurns?: number
  /** How often the model is asked to fix an answer that does not fit the prompt's output. Default 2. */
  readonly maxRepairs?: number
  /** Asked after each reply; true stops the run, which can be resumed. A valid answer completes the run all the same. */
  readonly stopWhen?: (turns: readonly AgentTurn[]) => boolean
  /** Default `'eager'`. */
  readonly opening?: OpeningPolicy
  /** Tokens that one input of the user may cost. */
  readonly limits?: TokenLimits
  /** When the run must be finished. What still runs then is cancelled. */
  readonly deadline?: Date
  /** Cancels the run and whatever it is waiting for. */
  readonly signal?: AbortSignal
  /** How many calls of one reply run at the same time. Default 16. */
  readonly maxParallelCalls?: number
  /** How many calls of one reply are run at all; the model is told that the rest were not. Default 256. */
  readonly maxCallsPerReply?: number
  /** How long one call of a tool may take. Default: as long as it likes. */
  readonly toolTimeoutMs?: number
  /** Openings that would not fit into this many tokens are refused. Default: what the adapter says of its model. */
  readonly contextWindow?: number
  /**
   * Whether a person has to approve a call before it runs, beside what the tools say themselves. Asked for each call except
   * disclosure calls; anything but `false` pauses the run, and a text is the reason that the person reads.
   */
  readonly needsApproval?: (call: ApprovalCall, context: ToolContext) => ApprovalNeed | Promise<ApprovalNeed>
  /**
   * Answers to the approvals of a result whose status is `'waiting'`. All of them are taken, or none and the run is
   * refused. Calls without an answer keep waiting, unless there is an `input`: then they are not approved.
   */
  readonly approvals?: readonly ApprovalAnswer[]
  /** How long a call can be approved once a person was asked. Then the next run asks again. Default: at any time. */
  readonly approvalTtlMs?: number
  /**
   * What becomes of a call that had begun when the process ended, and of which nobody knows whether it took effect. A tool that
   * is read-only or idempotent runs again. For others: `'repeat'` runs them again too, `'tell'` tells the model that the outcome
   * is unknown, `'ask'` asks a person. One that was approved before asks again. Default `'repeat'`; durable runs: `'tell'`.
   */
  readonly interruptedCalls?: InterruptedCalls
  /** Told of everything. What it throws or rejects with is ignored: watching a run must not change it. */
  readonly onEvent?: (event: AgentEvent) => unknown
}

/**
 * What becomes of interrupted calls of tools that are neither read-only nor idempotent.
 *
 * @example
 * ```ts
 * const interruptedCalls: InterruptedCalls = 'ask'
 * ```
 */
export type InterruptedCalls = 'repeat' | 'tell' | 'ask'

/**
 * One reply of the model and what came of it.
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
  /** Sections were opened, and the conversation went on with their tools. */
  | {
      readonly type: 'injection'
      readonly message: AssistantMessage
      readonly results: readonly ToolMessage[]
      readonly tools: readonly string[]
    }
  /** Sections were opened, and the prompt is rendered again. */
  | {
      readonly type: 'restart'
      readonly message: AssistantMessage
      readonly results: readonly ToolMessage[]
      readonly expansion: Expansion
    }

/**
 * How a run ended.
 *
 * @example
 * ```ts
 * const result: AgentResult = await runAgent(bound, { adapter, input: 'Where is my parcel?' })
 * result.status // => 'completed'
 * result.text // => 'Done.'
 * ```
 */
export interface AgentResult<Output = unknown> {
  /** `'waiting'`: a person has to answer `approvals`. */
  readonly status: 'completed' | 'stopped' | 'waiting'
  /** Why it stopped, if it did. */
  readonly reason: 'max-turns' | 'stop-when' | undefined
  /** The model's last words. */
  readonly text: string
  /** The answer as the prompt's output schema gives it; `undefined` without one, or when the run was stopped. */
  readonly output: Output | undefined
  /** The calls that wait for a person. Pass the answers as `approvals` to go on. */
  readonly approvals: readonly ApprovalRequest[]
  readonly messages: readonly Message[]
  /** What happened in this process, reply by reply. */
  readonly turns: readonly AgentTurn[]
  /** What this input of the user has cost, over all restarts. */
  readonly usage: Usage
  /** What the whole conversation has cost. */
  readonly totalUsage: Usage
  /** How often the run restarted because something was opened. */
  readonly expansions: number
  /** With this another process can go on. */
  readonly state: RunState
}
