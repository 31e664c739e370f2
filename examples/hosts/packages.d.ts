// What the examples use of packages that only the tests of each host install. In your own program, these are the
// packages' own types.
declare module 'langchain' {
  export function createAgent(options: object): {
    invoke(input: object, options: object): Promise<{ readonly messages: readonly { readonly text: string }[] }>
  }
}
declare module '@langchain/core/messages' {
  export class AIMessage {
    constructor(fields: { readonly content: string; readonly tool_calls: readonly object[] })
    readonly text: string
  }
}
declare module '@langchain/core/language_models/chat_models' {
  export interface Offered {
    readonly name: string
  }
  export class BaseChatModel {
    constructor(options: object)
    readonly disableStreaming: boolean
  }
}
declare module '@langchain/langgraph' {
  export class MemorySaver {
    readonly storage: object
  }
}
declare module '@openai/agents' {
  export interface Model {
    getResponse(request: { readonly tools: readonly { readonly name: string }[] }): Promise<object>
    getStreamedResponse(request: object): AsyncIterable<object>
  }
  export interface AgentOptions<TContext = unknown, TOutput extends AgentOutputType = 'text'> {
    readonly model?: Model | string
  }
  export function setTracingDisabled(isDisabled: boolean): void
  export function run(
    agent: Agent,
    input: readonly object[],
    options: object,
  ): Promise<{ readonly finalOutput?: string; readonly history: AgentInputItem[] }>
  export class Usage {
    readonly totalTokens: number
  }
}
declare module '@mastra/core/agent' {
  export class Agent {
    constructor(options: object)
    generate(input: string, options: object): Promise<{ readonly text: string }>
  }
}
declare module '@mastra/core/memory' {
  export class MockMemory {
    constructor(options: object)
    readonly id: string
  }
}
declare module '@mastra/core/storage' {
  export class InMemoryStore {
    readonly id: string
  }
}
