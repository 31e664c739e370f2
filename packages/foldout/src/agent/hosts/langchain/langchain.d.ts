// The parts of LangChain that `middleware.ts` uses. Users have the real types: this file is not part of the package.
// The suite of hosts runs it with the real package.

declare module 'langchain' {
  export interface ToolCall {
    readonly id?: string
    readonly name: string
    readonly args: Record<string, unknown>
  }
  export interface BaseMessage {
    readonly content: unknown
    readonly text: string
    readonly response_metadata?: Readonly<Record<string, unknown>>
    getType(): string
  }
  export class HumanMessage implements BaseMessage {
    constructor(text: string)
    readonly content: unknown
    readonly text: string
    getType(): string
  }
  export class AIMessage implements BaseMessage {
    readonly content: unknown
    readonly text: string
    readonly tool_calls?: readonly ToolCall[]
    response_metadata?: Readonly<Record<string, unknown>>
    readonly usage_metadata?: {
      readonly input_tokens: number
      readonly output_tokens: number
      readonly input_token_details?: { readonly cache_read?: number; readonly cache_creation?: number }
      readonly output_token_details?: { readonly reasoning?: number }
    }
    getType(): string
  }
  export class ToolMessage implements BaseMessage {
    constructor(fields: {
      readonly content: string | readonly object[]
      readonly name: string
      readonly tool_call_id: string
      readonly status: 'success' | 'error'
    })
    readonly content: unknown
    readonly text: string
    readonly status?: 'success' | 'error'
    getType(): string
    static isInstance(value: unknown): value is ToolMessage
  }
  export class SystemMessage implements BaseMessage {
    readonly content: unknown
    readonly text: string
    concat(text: string): SystemMessage
    getType(): string
  }
  export interface ModelRequest {
    readonly model: unknown
    readonly messages: readonly BaseMessage[]
    readonly systemMessage: SystemMessage
    readonly tools: readonly (object & { readonly name?: unknown })[]
    readonly state: Readonly<Record<string, unknown>>
  }
  export interface ToolCallRequest {
    readonly toolCall: ToolCall
    readonly tool: object | undefined
    readonly state: Readonly<Record<string, unknown>>
    readonly runtime: { readonly signal?: AbortSignal }
  }
  export interface AgentMiddleware {
    readonly name: string
  }
  type Step = (state: Readonly<Record<string, unknown>>) => object | undefined | void | Promise<object | undefined>
  export function createMiddleware(options: {
    readonly name: string
    readonly stateSchema: object
    readonly beforeAgent?: Step
    readonly afterAgent?: Step
    readonly wrapModelCall: (
      request: ModelRequest,
      handler: (request: ModelRequest) => AIMessage | Promise<AIMessage>,
    ) => Promise<AIMessage>
    readonly wrapToolCall: (
      request: ToolCallRequest,
      handler: (request: ToolCallRequest) => ToolMessage | object | Promise<ToolMessage | object>,
    ) => Promise<never>
  }): AgentMiddleware
}

declare module '@langchain/langgraph' {
  export class StateSchema {
    readonly fields: object
    constructor(fields: Readonly<Record<string, object>>)
  }
  export class ReducedValue<Value> {
    readonly '~value'?: Value
    constructor(
      schema: object,
      options: { readonly inputSchema: object; readonly reducer: (current: Value, next: Value) => Value },
    )
  }
  export class Command {
    readonly lg_name: 'Command'
    constructor(options: { readonly update: Readonly<Record<string, unknown>> })
  }
  export function interrupt(value: unknown): unknown
  export function isGraphInterrupt(error: unknown): boolean
}
