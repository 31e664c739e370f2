/**
 * What an adapter for another provider is made of.
 *
 * @module foldout/adapter
 */

export { chatAdapter, type ChatModel, type ChatReply, type ChatRequest } from '../adapters/chat.ts'
export {
  NO_USAGE,
  addUsage,
  type AssistantMessage,
  type Evaluation,
  type EvaluationResult,
  type Message,
  type ModelEvent,
  type ProviderAdapter,
  type ToolCall,
  type ToolMessage,
  type ToolsMessage,
  type TurnOutcome,
  type Usage,
  type UserMessage,
} from '../adapters/contract.ts'
