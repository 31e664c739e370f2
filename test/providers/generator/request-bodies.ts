import type { Anthropic } from '@anthropic-ai/sdk'
import type { OpenAI } from 'openai'

export type OpenAIChat = OpenAI.ChatCompletionCreateParamsStreaming
export type OpenAIResponses = OpenAI.Responses.ResponseCreateParamsStreaming
/** Betas travel in a header. */
export type AnthropicMessages = Omit<Anthropic.Beta.Messages.MessageCreateParamsStreaming, 'betas'>
