import type { ModelEvent, ToolCall, Usage } from '../adapters/contract.ts'
import type { TokenCount } from '../core/tokens/tokens.ts'
import type { OpeningAnswer } from '../disclosure/opening.ts'
import { defineEvent } from '../session/event.ts'
import type { CallTarget } from '../tools/tool.ts'
import type { ApprovalRequest } from './approvals.ts'

/**
 * A prompt was rendered for a run.
 *
 * @example
 * ```ts
 * const renders = defineLog({ name: 'renders', of: [promptRendered] })
 * const session = createSession({ slices: [renders] })
 * await runAgent(bound, { adapter, session })
 * const payloads: PromptRendered[] = [...session.get(renders)].map(({ payload }) => payload)
 * payloads[0]?.summarized // => [ 'refunds', 'guide' ]
 * ```
 */
export interface PromptRendered {
  readonly tools: readonly string[]
  readonly full: readonly string[]
  readonly summarized: readonly string[]
}

/**
 * A tool call has ended.
 *
 * @example
 * ```ts
 * const calls = defineLog({ name: 'calls', of: [toolInvoked] })
 * const session = createSession({ slices: [calls] })
 * await runAgent(bound, { adapter, session })
 * const failed = [...session.get(calls)].map(({ payload }): ToolInvoked => payload).filter(({ ok }) => !ok)
 * failed.length // => 0
 * ```
 */
export interface ToolInvoked {
  readonly callId: string
  readonly name: string
  readonly ok: boolean
  readonly message: string
  readonly durationMs: number
  /** For a tool that runs other tools: the tool that ran, with its arguments. */
  readonly target?: CallTarget
  /** For disclosure tools: the request and the state before it. */
  readonly disclosure?: {
    readonly keys: readonly string[]
    readonly reason: string
    readonly full: readonly string[]
    readonly summarized: readonly string[]
    /**
     * How the opening was answered: `'in-place'` if the conversation continues with the sections, `'restart'` if the
     * next render shows them, or `'none'` if the call failed.
     */
    readonly answer: OpeningAnswer | 'none'
  }
}

/**
 * Tools were added to a conversation without a restart.
 *
 * @example
 * ```ts
 * const format = ({ names, keys }: ToolsInjected): string => `${keys.join(', ')} added ${names.join(', ')}`
 * await runAgent(bound, { adapter, onEvent: (event) => event.type === 'tools/injected' && console.log(format(event)) })
 * ```
 */
export interface ToolsInjected {
  readonly names: readonly string[]
  /** The sections that added them. */
  readonly keys: readonly string[]
}

/**
 * The prompt is rendered again because something was opened.
 *
 * @example
 * ```ts
 * const format = ({ keys, reason }: RunRestarted): string => `Opened ${keys.join(', ')}: ${reason}`
 * await runAgent(bound, { adapter, onEvent: (event) => event.type === 'run/expanded' && console.log(format(event)) })
 * ```
 */
export interface RunRestarted {
  /** The calls that caused it; empty if a section was opened by other means. */
  readonly callIds: readonly string[]
  readonly keys: readonly string[]
  readonly paths: readonly string[]
  readonly reason: string
  /** The number of restarts so far, including this one. */
  readonly expansions: number
}

/**
 * A person has answered whether a call may run.
 *
 * @example
 * ```ts
 * const isRefusal = ({ approved }: ApprovalDecision): boolean => !approved
 * ```
 */
export interface ApprovalDecision {
  readonly callId: string
  /** The tool that the model called. */
  readonly tool: string
  readonly approved: boolean
  readonly reason?: string
}

/**
 * A run has begun or continues.
 *
 * @example
 * ```ts
 * const format = ({ isResumed, input }: RunStarted): string => `${isResumed ? 'Resumed' : 'Started'}: ${input ?? ''}`
 * await runAgent(bound, { adapter, onEvent: (event) => event.type === 'run/started' && console.log(format(event)) })
 * ```
 */
export interface RunStarted {
  /** Whether it continues from an earlier state. */
  readonly isResumed: boolean
  /** The user input, if any. Images and files are described by type and size. */
  readonly input?: string
  /** The model that runs the prompt. */
  readonly model: {
    /** The name of the adapter. */
    readonly provider: string
    readonly name: string
    /** The maximum number of tokens for input and output together, if known. */
    readonly contextWindow?: number
  }
}

// These events are also dispatched to the session, so slices and logs can handle them.
/**
 * Dispatched when a run has rendered its prompt.
 *
 * @example
 * ```ts
 * const renders = defineLog({ name: 'renders', of: [promptRendered] })
 * ```
 */
export const promptRendered = defineEvent<PromptRendered>()('prompt/rendered')
/**
 * Dispatched when a call has ended.
 *
 * @example
 * ```ts
 * const calls = defineLog({ name: 'calls', of: [toolInvoked] })
 * ```
 */
export const toolInvoked = defineEvent<ToolInvoked>()('tool/invoked')
/**
 * Dispatched when tools were added to a conversation.
 *
 * @example
 * ```ts
 * const added = defineLog({ name: 'added', of: [toolsInjected] })
 * ```
 */
export const toolsInjected = defineEvent<ToolsInjected>()('tools/injected')
/**
 * Dispatched when a run restarts.
 *
 * @example
 * ```ts
 * const restarts = defineLog({ name: 'restarts', of: [runRestarted] })
 * ```
 */
export const runRestarted = defineEvent<RunRestarted>()('run/expanded')

/**
 * Dispatched when a call begins to wait for a person.
 *
 * @example
 * ```ts
 * const asked = defineLog({ name: 'asked', of: [approvalAsked] })
 * ```
 */
export const approvalAsked = defineEvent<ApprovalRequest>()('approval/asked')
/**
 * Dispatched when a run receives a person's answer.
 *
 * @example
 * ```ts
 * const answers = defineLog({ name: 'answers', of: [approvalAnswered] })
 * ```
 */
export const approvalAnswered = defineEvent<ApprovalDecision>()('approval/answered')

/**
 * The events of a run.
 *
 * @example
 * ```ts
 * const onEvent = (event: AgentEvent): void => {
 *   if (event.type === 'tool/invoked') console.log(event.name, event.ok, event.durationMs)
 * }
 * await runAgent(bound, { adapter, onEvent })
 * ```
 */
export type AgentEvent =
  | ModelEvent
  | ({ readonly type: 'run/started' } & RunStarted)
  | ({
      readonly type: 'prompt/rendered'
      readonly tokens: TokenCount
      readonly tokensIfAllOpen: TokenCount
      /** The prompt, as `ns/key`. */
      readonly prompt: string
      /** The system text that precedes the conversation. */
      readonly text: string
      /** Tools that are not offered yet, each with the path of the folded section that adds it when opened. */
      readonly toolsInFolds: Readonly<Record<string, string>>
    } & PromptRendered)
  /**
   * `target` is the tool that would run, for a tool that runs other tools. `isLeft`: an earlier run has already
   * reported this call.
   */
  | { readonly type: 'tool/called'; readonly call: ToolCall; readonly target?: CallTarget; readonly isLeft?: true }
  | ({ readonly type: 'approval/asked' } & ApprovalRequest)
  | ({ readonly type: 'approval/answered' } & ApprovalDecision)
  | ({ readonly type: 'tool/invoked' } & ToolInvoked)
  | ({ readonly type: 'tools/injected' } & ToolsInjected)
  | ({ readonly type: 'run/expanded' } & RunRestarted)
  | { readonly type: 'output/refused'; readonly message: string; readonly repairs: number }
  | {
      readonly type: 'run/finished'
      readonly status: 'completed' | 'stopped' | 'waiting'
      readonly usage: Usage
      readonly totalUsage: Usage
    }
  /** The run has thrown an error, with this code or name. */
  | { readonly type: 'run/failed'; readonly errorType: string }
