import type { Json } from '../core/json/json.ts'
import type { OutputSpec } from '../prompt/output.ts'
import type { ToolImage } from '../tools/result.ts'
import type { AnyTool } from '../tools/tool.ts'

/** A tool call that a model makes. */
export interface ToolCall {
  /** Unique in its conversation; the result is matched by it. */
  readonly id: string
  readonly name: string
  readonly arguments: unknown
  /** The arguments as the model wrote them, where they could not be read as JSON. */
  readonly malformed?: string
}

export interface UserMessage {
  readonly role: 'user'
  readonly text: string
}
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  /** What the provider wants back as it was, such as reasoning; only the adapter that wrote it reads it. */
  readonly native?: { readonly adapter: string; readonly content: Json }
}
export interface ToolMessage {
  readonly role: 'tool'
  readonly callId: string
  readonly name: string
  readonly text: string
  readonly isError: boolean
  /** Where a provider takes no pictures in results, the text has to do. */
  readonly images?: readonly ToolImage[]
}
/** From here on these tools are offered too. Their definitions are in the evaluation. */
export interface ToolsMessage {
  readonly role: 'tools'
  readonly names: readonly string[]
}
/** A conversation without its system prompt. Plain data, so that it can be written down and resumed. */
export type Message = UserMessage | AssistantMessage | ToolMessage | ToolsMessage

/** Tokens as the provider bills them. */
export interface Usage {
  /** All of the input, cached or not. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** Of the input, what was read from the provider's cache. */
  readonly cachedInputTokens: number
  /** Of the input, what was written to the provider's cache. */
  readonly cacheWriteTokens: number
}

export const NO_USAGE: Usage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
})

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
  }
}

/** What an adapter tells while it works. */
export type ModelEvent =
  /** A request goes out: how many messages the conversation has, and which tools are offered. */
  | { readonly type: 'request/sent'; readonly messages: number; readonly tools: readonly string[] }
  | { readonly type: 'text/delta'; readonly text: string }
  /** A request is answered. */
  | { readonly type: 'reply/received'; readonly message: AssistantMessage; readonly usage: Usage }
  /** A request failed and is sent again. */
  | { readonly type: 'request/retried'; readonly attempt: number; readonly delayMs: number; readonly reason: string }
  /** Something a developer should know. */
  | { readonly type: 'warning'; readonly message: string }

/** What becomes of a turn once its tools have run. */
export type TurnOutcome =
  | { readonly type: 'continue'; readonly results: readonly ToolMessage[]; readonly added: readonly AnyTool[] }
  /** The evaluation ends here; its caller knows why. */
  | { readonly type: 'halt'; readonly results: readonly ToolMessage[] }

/** One evaluation of a rendered prompt. The adapter asks the model; the caller runs the tools. */
export interface Evaluation {
  readonly system: string
  /** The tools offered from the start. */
  readonly tools: readonly AnyTool[]
  /** Those offered later in `messages`, by name. */
  readonly addedTools: ReadonlyMap<string, AnyTool>
  readonly messages: readonly Message[]
  readonly output: OutputSpec<unknown> | undefined
  /** Aborts when the run is cancelled or its deadline has passed. */
  readonly signal: AbortSignal
  /** Called before each request; what it throws ends the evaluation. */
  beforeRequest(): Promise<void>
  /** Runs the calls of one turn. */
  callTools(calls: readonly ToolCall[]): Promise<TurnOutcome>
  /** Called with each message as soon as it belongs to the conversation. */
  record(message: Message): Promise<void>
  emit(event: ModelEvent): void
}

/**
 * How an evaluation ended. `usage` is what all of it has cost. It counts once: what `reply/received` events have told of it
 * is not counted again, so that an adapter may tell, return, or do both.
 */
export type EvaluationResult =
  | { readonly type: 'final'; readonly text: string; readonly usage: Usage }
  | { readonly type: 'halted'; readonly usage: Usage }

/** A model behind a provider's interface. Each is a value that you pass in; a new one is one folder. */
export interface ProviderAdapter {
  /** As OpenTelemetry names the system: `openai`, `anthropic`. */
  readonly name: string
  readonly model: string
  /** Whether tools can be added between two requests of one conversation. */
  readonly supportsDynamicTools: boolean
  /** Tokens that input and output may have together, where it is known. */
  readonly contextWindow?: number
  evaluate(evaluation: Evaluation): Promise<EvaluationResult>
}
