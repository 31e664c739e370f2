// The parts of openai-agents that `agent.ts` uses. Users have the real types: this file is not part of the package.
// The suite of hosts runs it with the real package.

declare module '@openai/agents' {
  export interface Usage {
    readonly inputTokens: number
    readonly outputTokens: number
    readonly inputTokensDetails: readonly Readonly<Record<string, number>>[]
  }
  export interface RunContext<TContext = unknown> {
    context: TContext
    readonly usage: Usage
  }
  export interface AgentInputItem {
    readonly type?: string
    readonly role?: string
    readonly name?: string
    readonly content?: unknown
    readonly output?: unknown
  }
  export type AgentOutputType = unknown
  export interface Tool<TContext = unknown> {
    readonly type: string
    readonly name: string
    readonly '~context'?: TContext
  }
  export interface ToolCallDetails {
    readonly toolCall?: { readonly callId: string; readonly name: string; readonly arguments?: string }
    readonly signal?: AbortSignal
  }
  export interface AgentOptions<TContext = unknown, TOutput extends AgentOutputType = 'text'> {
    readonly name: string
    readonly instructions?:
      | string
      | ((runContext: RunContext<TContext>, agent: Agent<TContext, TOutput>) => string | Promise<string>)
    readonly tools?: Tool<TContext>[]
  }
  type ToolListener<TContext, Rest extends unknown[]> = (
    context: RunContext<TContext>,
    tool: Tool,
    ...rest: Rest
  ) => void
  export class Agent<TContext = unknown, TOutput extends AgentOutputType = 'text'> {
    constructor(options: AgentOptions<TContext, TOutput>)
    readonly name: string
    getSystemPrompt(runContext: RunContext<TContext>): Promise<string | undefined>
    getAllTools(runContext: RunContext<TContext>): Promise<Tool<TContext>[]>
    on(
      event: 'agent_start',
      listener: (context: RunContext<TContext>, agent: unknown, input?: AgentInputItem[]) => void,
    ): void
    on(event: 'agent_end', listener: (context: RunContext<TContext>, output: string) => void): void
    on(event: 'agent_tool_start', listener: ToolListener<TContext, [details: ToolCallDetails]>): void
    on(event: 'agent_tool_end', listener: ToolListener<TContext, [result: string, details: ToolCallDetails]>): void
  }
  export function tool<TContext>(options: {
    readonly name: string
    readonly description: string
    readonly parameters: object
    readonly strict: false
    readonly needsApproval: (context: RunContext<TContext>, input: unknown, callId?: string) => Promise<boolean>
    readonly execute: (
      input: unknown,
      context: RunContext<TContext> | undefined,
      details: ToolCallDetails | undefined,
    ) => unknown
  }): Tool<TContext>
  export interface ModelInputData {
    readonly input: AgentInputItem[]
    readonly instructions?: string
  }
  export interface CallModelInputFilter<TContext = unknown> {
    (args: {
      readonly modelData: ModelInputData
      readonly agent: unknown
      readonly context: TContext | undefined
    }): ModelInputData | Promise<ModelInputData>
    preserveInputIdentity?: boolean
  }
  export type ToolErrorFormatter<TContext = unknown> = (args: {
    readonly kind: 'approval_rejected' | 'tool_not_found'
    readonly toolName: string
    readonly callId: string
    readonly runContext: RunContext<TContext>
  }) => string | undefined | Promise<string | undefined>
}
