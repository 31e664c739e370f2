export { createAgent } from 'langchain'
export declare const model: object
export declare const lookUp: object
export declare const checkpointer: object
