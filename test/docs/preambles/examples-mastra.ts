export { Agent } from '@mastra/core/agent'
export declare const instructions: string
export declare const model: object
export declare const memory: object
