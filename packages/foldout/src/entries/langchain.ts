/**
 * A prompt inside agents of LangChain, LangGraph and deepagents.
 *
 * @module foldout/langchain
 */

export { foldoutMiddleware } from '../agent/hosts/langchain/middleware.ts'
