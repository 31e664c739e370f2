// The part of Mastra that `tools.ts` uses. Users have the real types: this file is not part of the package.
// The suite of hosts runs it with the real package.

declare module '@mastra/core/tools' {
  export interface MastraTool {
    readonly id: string
  }
  export interface Thread {
    readonly title?: string
    readonly metadata?: Record<string, unknown>
  }
  export interface Memory {
    getThreadById(options: { threadId: string }): Promise<Thread | null>
    updateThread(options: { id: string; title: string; metadata: Record<string, unknown> }): Promise<unknown>
  }
  export interface ExecutionContext {
    readonly abortSignal?: AbortSignal
    readonly memory?: Memory
    readonly agent?: {
      readonly toolCallId?: string
      readonly threadId?: string
      readonly messages?: readonly unknown[]
    }
  }
  export function createTool(options: {
    readonly id: string
    readonly description: string
    readonly inputSchema: object
    readonly requireApproval: (input: unknown) => boolean | Promise<boolean>
    readonly execute: (input: unknown, context: ExecutionContext) => Promise<unknown>
    readonly toModelOutput: (output: never) => unknown
  }): MastraTool
}
