/**
 * Building blocks for an adapter to another provider, and the errors of all adapters.
 *
 * @module foldout/adapter
 */

export { AdapterError, type AdapterErrorCode, type AdapterErrorDetails } from '../adapters/adapter-error.ts'
export { chatAdapter, type ChatModel } from '../adapters/chat.ts'
export type { ChatReply, ChatRequest } from '../adapters/contract.ts'
export {
  NO_USAGE,
  addUsage,
  type AssistantMessage,
  type Compaction,
  type CompactionRequest,
  type Evaluation,
  type EvaluationResult,
  type MediaPart,
  type Message,
  type ModelEvent,
  type ProviderAdapter,
  type RefusalMemory,
  type TextPart,
  type ToolCall,
  type ToolMessage,
  type ToolsMessage,
  type TurnOutcome,
  type Usage,
  type UserMessage,
} from '../adapters/contract.ts'
export { findPromptCache } from '../adapters/cache/known-caches.ts'
export type { PromptCache } from '../core/price/prompt-cache.ts'
export type { RequestFailure } from '../adapters/failure.ts'
export { withRetries, type Attempt, type RetryOptions } from '../adapters/retry.ts'
