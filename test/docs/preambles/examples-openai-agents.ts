import type { Agent } from '@openai/agents'

export { run } from '@openai/agents'
export declare const lookUp: object
export declare const agent: Agent
export declare const input: string
