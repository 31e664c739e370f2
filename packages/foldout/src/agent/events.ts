import type { ModelEvent, ToolCall, Usage } from '../adapters/contract.ts'
import type { AheadPlace } from '../core/price/place.ts'
import type { TokenCount } from '../core/tokens/tokens.ts'
import type { OpeningAnswer } from '../disclosure/opening.ts'
import { defineEvent } from '../session/event.ts'
import type { CallTarget } from '../tools/tool.ts'
import type { ApprovalRequest } from './state/approvals.ts'
import type { StopReason } from './limits.ts'
import type { ContextParts } from './refold/context-count.ts'
import type { PartialOutput } from './partial-output.ts'

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
  /** For `ask_section`: the section that answered, and what its agent has used, with the cost if it is known. */
  readonly delegated?: { readonly path: string; readonly usage: Usage }
}

/**
 * A tool has thrown an error instead of returning `fail(message)`. What the model reads instead is in `tool/invoked`.
 *
 * @example
 * ```ts
 * const format = ({ name, errorType, message }: ToolThrew): string => `${name}: ${errorType}: ${message}`
 * await runAgent(bound, { adapter, onEvent: (event) => event.type === 'tool/threw' && console.error(format(event)) })
 * ```
 */
export interface ToolThrew {
  readonly callId: string
  readonly name: string
  /** The error's code or name. */
  readonly errorType: string
  /** The error's message, word for word: it may contain secrets. */
  readonly message: string
  readonly stack?: string
  /** Whether it looks like a mistake in the program: a variable that is not defined, a session without the tool's slice. */
  readonly isMistake: boolean
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
 * A rule was asked which sections to open before the first request for a user's input.
 *
 * @example
 * ```ts
 * const format = ({ paths, place, tokens }: SectionsOpened): string => `${paths.join(', ')} (${tokens} tokens, ${place})`
 * await runAgent(bound, { adapter, open: ['refunds'], onEvent: (event) => event.type === 'sections/opened' && console.log(format(event)) })
 * ```
 */
export interface SectionsOpened {
  /** The rule: `'paths'`, `'all'`, or the name of its function. */
  readonly rule: string
  /** The sections that it chose; empty if there was nothing to open. */
  readonly keys: readonly string[]
  /** The sections that are open now, ancestors first. */
  readonly paths: readonly string[]
  /** The tools that they add. */
  readonly tools: readonly string[]
  readonly place: AheadPlace
  /** The tokens of their texts and tools. */
  readonly tokens: number
  /** With how many different sections conversations may begin. */
  readonly variants: number
}

/**
 * Results were folded: later requests send what stands for them, and the model reads them with `read_result`.
 *
 * @example
 * ```ts
 * const format = ({ callIds, reason, freed }: ResultsFolded): string => `${callIds.length} (${reason}): ${freed} tokens`
 * await runAgent(bound, { adapter, onEvent: (event) => event.type === 'results/folded' && console.log(format(event)) })
 * ```
 */
export interface ResultsFolded {
  readonly callIds: readonly string[]
  /**
   * `'large'`: folded as it arrived. `'cold'`: the cache had expired. `'price'`: it pays. `'size'`: the request has reached
   * `at`. `'window'`: nothing else fits. `'asked'`: the caller wanted it. `'summary'`: the older turns were summarized.
   */
  readonly reason: 'large' | 'cold' | 'price' | 'size' | 'window' | 'asked' | 'summary'
  /** The tokens of the request that would have been sent otherwise. */
  readonly context: number
  /** The tokens by which later requests are smaller. */
  readonly freed: number
  /** What the fold costs once, in tokens at the price of input. Negative: it saves. */
  readonly cost: number
  /** What each later request saves while the cache is warm, in tokens at the price of input. */
  readonly gain: number
  /** The sections that closed because the model no longer used them. */
  readonly sections?: readonly string[]
  /** How many messages a summary replaces. */
  readonly summarized?: number
  /** How many replies lose their reasoning, because the provider ties it to what precedes it. */
  readonly lostReasoning?: number
}

/**
 * The model has read part of a result again.
 *
 * @example
 * ```ts
 * const format = ({ tool, age }: ResultRead): string => `${tool}, after ${age} replies`
 * await runAgent(bound, { adapter, onEvent: (event) => event.type === 'result/read' && console.log(format(event)) })
 * ```
 */
export interface ResultRead {
  /** The call whose result it is. */
  readonly callId: string
  /** The tool that returned the result. */
  readonly tool: string
  /** The name of the result for `read_result`. */
  readonly handle: string
  /** How many replies the model has given since it got the result. */
  readonly age: number
  /** The tokens of what was read. */
  readonly tokens: number
}

/**
 * Tools of closed sections are no longer offered.
 *
 * @example
 * ```ts
 * const format = ({ names }: ToolsRemoved): string => `removed ${names.join(', ')}`
 * await runAgent(bound, { adapter, onEvent: (event) => event.type === 'tools/removed' && console.log(format(event)) })
 * ```
 */
export interface ToolsRemoved {
  readonly names: readonly string[]
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
  /** The user input that a run goes on with, if it continues without a new one. */
  readonly continuedInput?: string
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
 * Dispatched when sections were opened ahead.
 *
 * @example
 * ```ts
 * const opened = defineLog({ name: 'opened', of: [sectionsOpened] })
 * ```
 */
export const sectionsOpened = defineEvent<SectionsOpened>()('sections/opened')
/**
 * Dispatched when results were folded.
 *
 * @example
 * ```ts
 * const folds = defineLog({ name: 'folds', of: [resultsFolded] })
 * ```
 */
export const resultsFolded = defineEvent<ResultsFolded>()('results/folded')
/**
 * Dispatched when tools were removed from a conversation.
 *
 * @example
 * ```ts
 * const removed = defineLog({ name: 'removed', of: [toolsRemoved] })
 * ```
 */
export const toolsRemoved = defineEvent<ToolsRemoved>()('tools/removed')
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
export type AgentEvent<Output = unknown> =
  | Exclude<ModelEvent, { readonly type: 'text/delta' | 'reasoning/delta' | 'request/sent' }>
  | (Extract<ModelEvent, { readonly type: 'request/sent' }> & { readonly context?: ContextParts })
  /**
   * `reply` counts the model's replies since the last user input. Text of different replies does not belong together: one
   * may be a remark before a call, or an answer to fix.
   */
  | { readonly type: 'text/delta' | 'reasoning/delta'; readonly text: string; readonly reply: number }
  /** A prompt's output, as far as the model has written it. It is not checked, and each one replaces the one before. */
  | { readonly type: 'output/partial'; readonly value: PartialOutput<Output>; readonly reply: number }
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
  | ({ readonly type: 'tool/threw' } & ToolThrew)
  | ({ readonly type: 'tools/injected' } & ToolsInjected)
  | ({ readonly type: 'run/expanded' } & RunRestarted)
  | ({ readonly type: 'sections/opened' } & SectionsOpened)
  | ({ readonly type: 'results/folded' } & ResultsFolded)
  | ({ readonly type: 'tools/removed' } & ToolsRemoved)
  | ({ readonly type: 'result/read' } & ResultRead)
  /** An event of the run that answers a call of `ask_section`. */
  | { readonly type: 'section/delegated'; readonly callId: string; readonly path: string; readonly event: AgentEvent }
  | { readonly type: 'output/refused'; readonly message: string; readonly repairs: number }
  | {
      readonly type: 'run/finished'
      readonly status: 'completed' | 'stopped' | 'waiting'
      /** Why it stopped, if it did. */
      readonly reason?: StopReason
      readonly usage: Usage
      readonly totalUsage: Usage
    }
  /** The run has thrown an error, with this code or name. */
  | { readonly type: 'run/failed'; readonly errorType: string }
