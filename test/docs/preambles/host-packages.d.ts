// The hosts are large optional peers, which are installed only for their own tests.
declare module 'langchain' {
  export interface AgentMiddleware {
    readonly name: string
  }
  export function createAgent(options: object): { invoke(input: object, options?: object): Promise<object> }
}
declare module '@langchain/langgraph' {
  export class MemorySaver {
    readonly storage: object
  }
}
declare module '@openai/agents' {
  export interface AgentOptions {
    readonly name: string
    readonly model?: string
    readonly tools?: object[]
  }
  export class Agent<Context = unknown, Output = unknown> {
    readonly name: string
    readonly '~types'?: readonly [Context, Output]
  }
  export type AgentOutputType = unknown
  export type CallModelInputFilter = (data: object) => object
  export type ToolErrorFormatter = (data: object) => string
  export function run(agent: Agent, input: string, options: object): Promise<{ readonly finalOutput?: string }>
}
declare module '@mastra/core/agent' {
  export class Agent {
    constructor(options: object)
    generate(input: string, options: object): Promise<{ readonly text: string }>
  }
}
declare module '@mastra/core/tools' {
  export interface MastraTool {
    readonly id: string
  }
}
