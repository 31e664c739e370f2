import type { ProviderAdapter, Usage } from '../../../adapters/contract.ts'
import type { JsonSchema } from '../../../core/schema/schema.ts'
import type { Filesystem } from '../../../files/filesystem.ts'
import type { OpenAhead } from '../../../disclosure/ahead/rule.ts'
import type { RenderOptions } from '../../../prompt/prompt.ts'
import type { RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { Event } from '../../../session/event.ts'
import type { Session } from '../../../session/session.ts'
import type { AnySlice } from '../../../session/slice.ts'
import type { ToolImage } from '../../../tools/result.ts'
import type { AnyTool, ApprovalNeed } from '../../../tools/tool.ts'
import type { DelegateModel } from '../../delegate-models.ts'
import type { AgentEvent } from '../../events.ts'

/**
 * Options of {@link createHost}: those of a render, and what tools need.
 *
 * @example
 * ```ts
 * const options: HostOptions = { slices: [cart], onEvent: ({ type }) => console.log(type) }
 * const host = createHost(bound, options)
 * ```
 */
export interface HostOptions extends Omit<RenderOptions, 'session' | 'delegation'> {
  /** The slices that the prompt's tools use. Their events are part of the host's state. */
  readonly slices?: readonly AnySlice[]
  /** The files that tools work on. */
  readonly filesystem?: Filesystem
  /** The model that answers questions about sections with `delegate: true`. Without it, these are opened like others. */
  readonly adapter?: ProviderAdapter
  /** The models that answer questions about other sections, by the name that `delegate` says. */
  readonly delegates?: Readonly<Record<string, DelegateModel>>
  /**
   * The sections to open before the first request for each message of the user, as in `runAgent`. Their place is decided
   * by `price`.
   */
  readonly open?: OpenAhead
  /** Called with what happens, as in a run: pass a recorder's or the inspector's listener. */
  readonly onEvent?: (event: AgentEvent) => void
}

/**
 * A prompt inside a loop that is not Foldout's. It has no state: what is open is in the host's own state.
 *
 * @example
 * ```ts
 * const own: Host = createHost(bound)
 * own.at(state.events).getPrompt().text.length > 0 // => true
 * ```
 */
export interface Host {
  /** Reads what is open, from the events that calls have returned so far, or from a session. */
  at(state: HostState): HostView
  /** Reports what the host does, for recorders and the inspector. */
  readonly report: HostReport
}

/**
 * What the host keeps: the events of all calls in order, as plain JSON, or a session.
 *
 * @example
 * ```ts
 * const state: HostState = [{ type: 'visibility/set', payload: { path: 'refunds', visibility: 'full' } }]
 * createHost(bound).at(state).tools.length
 * ```
 */
export type HostState = Session | readonly Event[] | undefined

/**
 * A prompt as it stands at one point of a conversation.
 *
 * @example
 * ```ts
 * const now: HostView = createHost(bound).at([])
 * const { text, events } = await now.call({ id: 'call_1', name: 'read_section', arguments: { section_key: 'refunds' } })
 * ```
 */
export interface HostView {
  readonly session: Session
  readonly rendered: RenderedPrompt
  /** The tools that the model can call: those of the start, then opened ones in the order they were opened. */
  readonly tools: readonly AnyTool[]
  /**
   * Returns the prompt to send; its `text` is the system text. Pass the results that the conversation still has: an
   * open section is in the system text only if none of them shows it. So the text stays the same as long as the host
   * keeps results, and what the host has cleared or summarized comes back.
   */
  getPrompt(results?: Iterable<string>): RenderedPrompt
  /**
   * Opens sections for the last of the user's messages, by the rule `open`. For a message that was asked about, and without
   * a rule, it does nothing. Append the events to the host's state, and take the view of the new state.
   *
   * @param inputs The texts of all messages of the user in the conversation.
   */
  openAhead(inputs: readonly string[], options?: HostAheadOptions): Promise<HostAhead>
  /**
   * Adds the sections that belong behind messages of the user to the messages of a request. `shown` is their texts: pass
   * them to `getPrompt` with the results.
   */
  addAhead<Message>(messages: readonly Message[], form: HostMessageForm<Message>): MessagesWithAhead<Message>
  /** Finds a tool that can be called. */
  find(name: string): AnyTool | undefined
  /** Says how to get a tool that cannot be called, or which one was meant. */
  describeMissing(name: string, others?: Iterable<string>): string
  /** Whether a person has to approve a call before it runs, with the reason if there is one. */
  findApprovalNeed(call: HostCall): Promise<ApprovalNeed>
  /** Runs a call. It never rejects. */
  call(call: HostCall, options?: HostCallOptions): Promise<HostResult>
}

/**
 * Options of {@link HostView.openAhead}.
 *
 * @example
 * ```ts
 * const options: HostAheadOptions = { hasBegun: true }
 * ```
 */
export interface HostAheadOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether the system text must not change any more. Default: if the conversation has more than one message. */
  readonly hasBegun?: boolean
}

/**
 * What was opened for a message of the user.
 *
 * @example
 * ```ts
 * const { events }: HostAhead = await createHost(bound, { open: ['refunds'] }).at([]).openAhead(['Money back.'])
 * ```
 */
export interface HostAhead {
  /** What the call changed, as plain JSON: append it to the host's state. */
  readonly events: readonly Event[]
  /** What the model reads behind the user's message; empty if the sections are in the system text, or there are none. */
  readonly text: string
  /** The tools that can be called from now on. */
  readonly added: readonly AnyTool[]
}

/**
 * How a host's messages are read and made.
 *
 * @example
 * ```ts
 * const form: HostMessageForm<{ role: string; text: string }> = {
 *   getInput: ({ role, text }) => (role === 'user' ? text : undefined),
 *   create: (text) => ({ role: 'user', text }),
 * }
 * ```
 */
export interface HostMessageForm<Message> {
  /** Returns the text of a message of the user, and `undefined` for other messages. */
  getInput(message: Message): string | undefined
  /** Creates a message of the user. */
  create(text: string): Message
}

/**
 * The messages of a request, with the sections that were opened ahead.
 *
 * @example
 * ```ts
 * const count = ({ messages }: MessagesWithAhead<object>): number => messages.length
 * ```
 */
export interface MessagesWithAhead<Message> {
  readonly messages: Message[]
  readonly shown: readonly string[]
}

/**
 * A call of the model.
 *
 * @example
 * ```ts
 * const call: HostCall = { id: 'call_1', name: 'read_section', arguments: { section_key: 'refunds' } }
 * ```
 */
export interface HostCall {
  readonly id: string
  readonly name: string
  readonly arguments?: unknown
}

/**
 * Options of {@link HostView.call}.
 *
 * @example
 * ```ts
 * const options: HostCallOptions = { isApproved: true, signal: AbortSignal.timeout(10_000) }
 * ```
 */
export interface HostCallOptions {
  readonly signal?: AbortSignal | undefined
  /** Whether a person has approved the call, or it needs no approval. Otherwise, a call that needs it fails. */
  readonly isApproved?: boolean
  /**
   * What `findApprovalNeed` returned when the person was asked. Keep it with the question: a tool whose subject may change
   * meanwhile, such as a script, runs only what was approved.
   */
  readonly need?: ApprovalNeed | undefined
  /** Whether tools that this call adds leave everything before them in the provider's cache. Default false. */
  readonly addsInPlace?: boolean
}

/**
 * The result of a call.
 *
 * @example
 * ```ts
 * const result: HostResult = await createHost(bound).at(undefined).call({ id: 'call_1', name: 'look' })
 * result.isError // => false
 * ```
 */
export interface HostResult {
  /** What the model reads. */
  readonly text: string
  readonly isError: boolean
  readonly images: readonly ToolImage[]
  /** What people read if `text` contains the text of sections, such as in a browser. */
  readonly notice: string | undefined
  /** The sections that this call opened. */
  readonly opened: readonly string[]
  /** The tools that can be called from now on. */
  readonly added: readonly AnyTool[]
  /** What the call changed, as plain JSON: append it to the host's state. */
  readonly events: readonly Event[]
}

/**
 * A tool in the form that most hosts accept.
 *
 * @example
 * ```ts
 * const tools: HostTool[] = createHost(bound).at(undefined).tools.map(toHostTool)
 * ```
 */
export interface HostTool {
  readonly name: string
  readonly description: string
  /** A copy that the host may change. */
  readonly inputSchema: JsonSchema
}

/**
 * Reports what a host does, in the events of a run. Without a listener, it does nothing.
 *
 * @example
 * ```ts
 * const report: HostReport = createHost(bound, { onEvent: recorder.onEvent }).report
 * report.started({ input: 'Where is my parcel?', model: { provider: 'openai', name: 'gpt-5' } })
 * ```
 */
export interface HostReport {
  readonly isOn: boolean
  /** A run begins or continues. */
  started(run: { readonly input?: string; readonly isResumed?: boolean; readonly model?: HostModel }): void
  /** A request is sent with this prompt. */
  sent(request: HostRequest): void
  replied(reply: HostReply): void
  /** The host ran a tool of its own. */
  called(
    call: HostCall,
    result: { readonly text: string; readonly isError: boolean; readonly durationMs: number },
  ): void
  /** A person is asked whether a call may run. */
  asked(call: HostCall, need: ApprovalNeed): void
  /** A person has answered. */
  answered(call: HostCall, isApproved: boolean): void
  finished(status: 'completed' | 'stopped' | 'waiting'): void
  failed(error: unknown): void
}

/**
 * The model of a host.
 *
 * @example
 * ```ts
 * const model: HostModel = { provider: 'openai', name: 'gpt-5' }
 * ```
 */
export interface HostModel {
  readonly provider: string
  readonly name: string
}

/**
 * A request of a host.
 *
 * @example
 * ```ts
 * const request: HostRequest = { prompt: host.at([]).getPrompt(), messages: 1, tools: ['look', 'read_section'] }
 * ```
 */
export interface HostRequest {
  /** What `getPrompt` has returned. */
  readonly prompt: RenderedPrompt
  /** The number of messages. */
  readonly messages: number
  /** The names of all tools, those of the host included. */
  readonly tools: readonly string[]
}

/**
 * A reply of a host's model.
 *
 * @example
 * ```ts
 * const reply: HostReply = { text: 'It is on its way.', usage: { inputTokens: 900, outputTokens: 12 } }
 * ```
 */
export interface HostReply {
  readonly text: string
  readonly calls?: readonly HostCall[]
  readonly usage?: Partial<Usage>
}
