import type { OutputSpec } from '../prompt/definition/output.ts'
import type { AnyTool, ToolGroup } from '../tools/tool.ts'
import type { Json } from '../core/json/json.ts'
import type { PromptCache } from '../core/price/prompt-cache.ts'
import type { ToolImage } from '../tools/result.ts'
import type { Usage } from './usage/usage.ts'

export { NO_USAGE, addUsage, type Usage } from './usage/usage.ts'

/**
 * A call that a model wants to make.
 *
 * @example
 * ```ts
 * const call: ToolCall = { id: 'call_1', name: 'track_parcel', arguments: { number: 'A17' } }
 * ```
 */
export interface ToolCall {
  /** Unique in the conversation; the result has the same id. */
  readonly id: string
  readonly name: string
  /**
   * The name that the model wrote, if it cannot be the name of a tool. `name` is then one that providers accept when
   * the conversation is sent again, and the call is answered as a call of an unknown tool.
   */
  readonly writtenName?: string
  /** The arguments as JSON; absent if the model wrote none, or none that can be parsed. */
  readonly arguments?: unknown
  /** The arguments as the model wrote them, if they are not valid JSON. */
  readonly malformed?: string
  /** Whether they are malformed because the reply was cut off. */
  readonly isCutOff?: true
}

/**
 * A text part of a user message.
 *
 * @example
 * ```ts
 * const part: TextPart = { type: 'text', text: 'What is in this picture?' }
 * ```
 */
export interface TextPart {
  readonly type: 'text'
  readonly text: string
}
/**
 * An image or a file in a user message: its bytes in Base64, or the URL from which the provider loads it.
 *
 * @example
 * ```ts
 * const part: MediaPart = { type: 'file', name: 'invoice.pdf', mediaType: 'application/pdf', data: 'JVBERi0x…' }
 * ```
 */
export type MediaPart = { readonly type: 'image' | 'file'; readonly name?: string } & (
  | { readonly data: string; readonly mediaType: string }
  | { readonly url: string; readonly mediaType?: string }
)
/**
 * A message from the user.
 *
 * @example
 * ```ts
 * const message: UserMessage = { role: 'user', text: 'Where is my parcel?' }
 * ```
 */
export interface UserMessage {
  readonly role: 'user'
  /** All text of the message. */
  readonly text: string
  /** All parts of a message that has images or files, including its texts. They are sent instead of `text`. */
  readonly parts?: readonly (TextPart | MediaPart)[]
}
/**
 * A reply of the model: text, tool calls, or both.
 *
 * @example
 * ```ts
 * const message: AssistantMessage = { role: 'assistant', text: 'It is on its way.', toolCalls: [] }
 * ```
 */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  /**
   * Why the reply is not whole: `'cut-off'` if it reached a limit, `'filtered'` if the provider stopped it because of its
   * content. Absent if it is whole.
   */
  readonly cut?: 'cut-off' | 'filtered'
  /** Content that the provider requires back unchanged, such as reasoning. Only the adapter that wrote it reads it. */
  readonly native?: { readonly adapter: string; readonly content: Json }
}
/**
 * The result of one call.
 *
 * @example
 * ```ts
 * const message: ToolMessage = { role: 'tool', callId: 'call_1', name: 'track_parcel', text: 'In Oslo.', isError: false }
 * ```
 */
export interface ToolMessage {
  readonly role: 'tool'
  readonly callId: string
  readonly name: string
  readonly text: string
  readonly isError: boolean
  /** Images in the result. Providers that do not accept images get only the text. */
  readonly images?: readonly ToolImage[]
}
/**
 * Marks the point from which these tools are offered too, and others no longer. Their definitions are in the
 * evaluation.
 *
 * @example
 * ```ts
 * const message: ToolsMessage = { role: 'tools', names: ['refund_order'] }
 * ```
 */
export interface ToolsMessage {
  readonly role: 'tools'
  readonly names: readonly string[]
  /** The tools that are no longer offered. Only adapters with `removesTools` receive them. */
  readonly removed?: readonly string[]
}
/**
 * One message of a conversation, without its system prompt. Plain data, so it can be stored and resumed.
 *
 * @example
 * ```ts
 * const isQuestion = (message: Message): boolean => message.role === 'user'
 * ```
 */
export type Message = UserMessage | AssistantMessage | ToolMessage | ToolsMessage

/**
 * The events that an adapter emits while it works.
 *
 * @example
 * ```ts
 * const onEvent = (event: ModelEvent): void => {
 *   if (event.type === 'text/delta') process.stdout.write(event.text)
 * }
 * ```
 */
export type ModelEvent =
  /** A request is sent, with this number of messages and these tools. */
  | { readonly type: 'request/sent'; readonly messages: number; readonly tools: readonly string[] }
  | { readonly type: 'text/delta'; readonly text: string }
  /** Part of the model's reasoning, if the provider shows it. It is not part of the answer. */
  | { readonly type: 'reasoning/delta'; readonly text: string }
  /**
   * Part of the arguments of a call, as the model writes them. Once the call is complete, the parts together are JSON.
   * If the request is sent again (`request/retried`), the call starts over with another id, or does not appear at all.
   */
  | { readonly type: 'call/delta'; readonly callId: string; readonly name: string; readonly text: string }
  /** A request was answered. */
  | { readonly type: 'reply/received'; readonly message: AssistantMessage; readonly usage: Usage }
  /** A reply was paid for and cannot be used: the model declined to answer, or the stream was cut off. */
  | { readonly type: 'reply/lost'; readonly usage: Usage }
  /** A request failed and is sent again. */
  | { readonly type: 'request/retried'; readonly attempt: number; readonly delayMs: number; readonly reason: string }
  /**
   * The provider says why it did not find the beginning of a request in its cache, and about how many tokens it would
   * have read.
   */
  | { readonly type: 'cache/diagnosed'; readonly reason: string; readonly tokens: number }
  /** A message for the developer. */
  | { readonly type: 'warning'; readonly message: string }

/**
 * The result of `callTools`, once the tools of a reply have run.
 *
 * @example
 * ```ts
 * const outcome: TurnOutcome = await evaluation.callTools(reply.message.toolCalls)
 * const isOver = outcome.type === 'halt'
 * ```
 */
export type TurnOutcome =
  | { readonly type: 'continue'; readonly results: readonly ToolMessage[]; readonly added: readonly AnyTool[] }
  /**
   * The evaluation ends here; its caller knows why. `isPaused`: calls wait for a person. They have no results yet, and
   * the adapter must not invent any.
   */
  | { readonly type: 'halt'; readonly results: readonly ToolMessage[]; readonly isPaused?: boolean }

/**
 * One evaluation of a rendered prompt. The adapter sends requests to the model; the caller runs the tools.
 *
 * @example
 * ```ts
 * async function evaluate(evaluation: Evaluation): Promise<EvaluationResult> {
 *   await evaluation.beforeRequest()
 *   const reply = await complete(evaluation.system, evaluation.messages, evaluation.signal)
 *   await evaluation.record(reply.message)
 *   return { type: 'final', text: reply.message.text, usage: reply.usage }
 * }
 * ```
 */
export interface Evaluation {
  readonly system: string
  /** The tools offered from the start. */
  readonly tools: readonly AnyTool[]
  /** The tools that `tools` messages add later, by name. */
  readonly addedTools: ReadonlyMap<string, AnyTool>
  readonly messages: readonly Message[]
  /** Whether a call may add tools: one that opens sections, or that finds tools. It is the same for a whole conversation. */
  readonly mayAddTools?: boolean
  /** Finds what an added tool belongs to, such as its server or section. It is the same for a whole conversation. */
  readonly findToolGroup?: (tool: string) => ToolGroup | undefined
  readonly output: OutputSpec<unknown> | undefined
  /** Aborts when the run is cancelled or its deadline passes. */
  readonly signal: AbortSignal
  /** Called before each request; an error that it throws ends the evaluation. */
  beforeRequest(): Promise<void>
  /** Runs the calls of one turn. */
  callTools(calls: readonly ToolCall[]): Promise<TurnOutcome>
  /** Called with each message as soon as it becomes part of the conversation. */
  record(message: Message): Promise<void>
  emit(event: ModelEvent): void
}

/**
 * How an evaluation ended. `usage` is the cost of all its requests. Each reply counts once: usage that was already
 * reported in a `reply/received` or `reply/lost` event is not counted again, so an adapter may emit events, return the
 * usage, or do both.
 *
 * @example
 * ```ts
 * const result: EvaluationResult = { type: 'final', text: 'It is on its way.', usage }
 * ```
 */
export type EvaluationResult =
  | { readonly type: 'final'; readonly text: string; readonly usage: Usage }
  | { readonly type: 'halted'; readonly usage: Usage }

/**
 * Remembers what endpoints have refused, so it is not tried again. A `Set` of strings is one; store its entries to keep
 * them beyond the process. The entries name the host, the model and the feature.
 *
 * @example
 * ```ts
 * const learned: RefusalMemory = new Set(['api.openai.com gpt-5.4 tool-search'])
 * const adapter = openai({ model: 'gpt-5.4', learned })
 * ```
 */
export interface RefusalMemory {
  has(refusal: string): boolean
  add(refusal: string): unknown
}

/**
 * A conversation that a provider is asked to compact.
 *
 * @example
 * ```ts
 * const isLong = ({ messages }: CompactionRequest): boolean => messages.length > 100
 * ```
 */
export interface CompactionRequest {
  readonly system: string
  readonly tools: readonly AnyTool[]
  readonly addedTools: ReadonlyMap<string, AnyTool>
  readonly messages: readonly Message[]
  readonly mayAddTools?: boolean
  /** Finds what an added tool belongs to, such as its server or section. It is the same for a whole conversation. */
  readonly findToolGroup?: (tool: string) => ToolGroup | undefined
  readonly signal: AbortSignal
  emit(event: ModelEvent): void
}

/**
 * What stands for a conversation that was compacted.
 *
 * @example
 * ```ts
 * const compaction: Compaction = { messages: [{ role: 'user', text: 'So far: …' }], usage: NO_USAGE, hasTools: false }
 * ```
 */
export interface Compaction {
  readonly messages: readonly Message[]
  readonly usage: Usage
  /** Whether these messages also bring the tools that were added to the conversation. */
  readonly hasTools: boolean
}

/**
 * A model behind a provider's API. For a stateless API, write a `ChatModel` and pass it to `chatAdapter`.
 *
 * @example
 * ```ts
 * const adapter: ProviderAdapter = openai({ model: 'gpt-5' })
 * await runAgent(bound, { adapter })
 * ```
 */
export interface ProviderAdapter {
  /** The provider's name in OpenTelemetry: `openai`, `anthropic`. */
  readonly name: string
  readonly model: string
  /** Whether tools can be added between two requests of one conversation. */
  readonly supportsDynamicTools: boolean
  /**
   * Whether added tools change nothing that was already sent, so the provider's cache keeps hitting. Exposures such as
   * `native()` then add the tools that a search finds. Default false.
   */
  readonly addsInPlace?: boolean
  /**
   * Whether a conversation can be interrupted between a reply and the results of its calls, and continue later. If not,
   * calls that a person has to approve fail. Default true.
   */
  readonly canPause?: boolean
  /**
   * Whether the service keeps the conversation itself, so that earlier messages cannot be sent in another form. Results
   * are then never folded. Default false.
   */
  readonly ownsConversation?: boolean
  /**
   * Whether replies have reasoning that is lost if the conversation before it changes. Results are then folded only
   * when the cache has expired or nothing else fits. Default false.
   */
  readonly bindsReasoning?: boolean
  /** Whether tools can be removed in the middle of a conversation, without changing what was already sent. Default false. */
  readonly removesTools?: boolean
  /** The maximum number of tokens for input and output together, if known. */
  readonly contextWindow?: number
  /** How the provider caches the beginning of requests, if known. */
  readonly promptCache?: PromptCache
  /** Compacts a conversation on demand, if the provider can. */
  compact?(request: CompactionRequest): Promise<Compaction>
  /**
   * Says in a sentence why this model does not accept an image or a file; undefined if it does. Without this method,
   * the model accepts only text.
   */
  refuseInput?(part: MediaPart): string | undefined
  evaluate(evaluation: Evaluation): Promise<EvaluationResult>
}

/**
 * A request to a stateless API, with the whole conversation.
 *
 * @example
 * ```ts
 * const complete = ({ system, messages, signal }: ChatRequest): Promise<ChatReply> => send({ system, messages }, signal)
 * ```
 */
export interface ChatRequest {
  readonly system: string
  /** The tools offered from the start, in order. */
  readonly tools: readonly AnyTool[]
  /** The tools that were added since, by name; a `tools` message marks the point where each was added. */
  readonly addedTools: ReadonlyMap<string, AnyTool>
  readonly messages: readonly Message[]
  /** Finds what an added tool belongs to, such as its server or section. It is the same for a whole conversation. */
  readonly findToolGroup?: (tool: string) => ToolGroup | undefined
  readonly output: OutputSpec<unknown> | undefined
  readonly signal: AbortSignal
  emit(event: ModelEvent): void
}

/**
 * The reply to one request.
 *
 * @example
 * ```ts
 * const reply: ChatReply = { message: { role: 'assistant', text: 'Hello.', toolCalls: [] }, usage: NO_USAGE }
 * ```
 */
export interface ChatReply {
  readonly message: AssistantMessage
  readonly usage: Usage
  /** Whether the provider stopped in the middle of its reply, and continues it when the conversation is sent again. */
  readonly isPaused?: boolean
}
