import type { Anthropic } from '@anthropic-ai/sdk'
import { AdapterError } from '../adapter-error.ts'
import type { Compaction, CompactionRequest } from '../contract.ts'
import { withRetries } from '../retry.ts'
import type { AnthropicClient, AnthropicOptions } from './options.ts'
import { toWireConversation } from './conversation.ts'
import type { Memory } from './memory.ts'
import { ADAPTER_NAME, toNative } from './native.ts'
import { getParams } from './request.ts'
import { readReport } from './usage.ts'

const BETA = 'compact-2026-09-04'

/** A summary is far shorter than the longest reply, and only short replies may come in one piece. */
const MAX_TOKENS = 16_384

/**
 * Compacts a conversation on demand. The request has the bytes of the one before it, so the provider finds them in its
 * cache. The signed block that it answers with brings the tools that were added.
 */
export async function compactConversation(
  request: CompactionRequest,
  { options, memory, getClient }: CompactOptions,
): Promise<Compaction> {
  const { additions, maxTokens, hasUpdates, wiring } = memory
  const chat = { ...request, output: undefined }
  const { params } = toWireConversation(chat, { model: options.model, ...wiring, additions })
  const limit = Math.min(maxTokens, MAX_TOKENS)
  const features = {
    additions,
    format: undefined,
    maxTokens: limit,
    hasUpdates,
    hasDiagnostics: false,
    hasContainer: false,
  }
  const { betas = [], context_management: _, ...others } = getParams(options, chat, features)
  const body = {
    ...others,
    ...params,
    betas: [...betas, BETA],
    compaction: { type: 'summarize' as const },
    stream: false as const,
  }
  const answer = await withRetries(
    async (_emit, signal) => (await getClient()).beta.messages.create(body, { signal, maxRetries: 0 }),
    {
      adapter: ADAPTER_NAME,
      retries: options.maxRetries,
      signal: request.signal,
      emit: (event) => request.emit(event),
    },
  )
  const block = answer.content.find((one) => one.type === 'compaction')
  // A block without content is a failed compaction, which the provider ignores when it is sent back.
  if (!block?.content) throw createFailure(answer.stop_reason)
  const native = toNative([block], { prefix: '' })
  return {
    messages: [{ role: 'assistant', text: '', toolCalls: [], native }],
    usage: readReport(answer.usage),
    hasTools: Array.isArray(block.tool_changes),
  }
}

export interface CompactOptions {
  readonly options: AnthropicOptions
  readonly memory: Memory
  getClient(): Promise<AnthropicClient>
}

function createFailure(reason: Anthropic.Beta.Messages.BetaStopReason | null): AdapterError {
  const message = `Anthropic did not compact the conversation (${reason ?? 'no reason was given'}). Pass refold.summarize to summarize it yourself.`
  return new AdapterError('adapter-reply-invalid', message, { adapter: ADAPTER_NAME })
}
