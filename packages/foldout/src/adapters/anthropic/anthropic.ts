import type { AnthropicClient, AnthropicOptions } from './options.ts'
import { checkNumber } from '../../core/check-number.ts'
import { getErrorMessage } from '../../core/errors.ts'
import type { PromptCache } from '../../core/price/prompt-cache.ts'
import { importPeer } from '../../core/peer.ts'
import { AdapterError } from '../adapter-error.ts'
import { chatAdapter, toCallThrough } from '../chat.ts'
import type { ChatReply, ChatRequest, CompactionRequest, ProviderAdapter } from '../contract.ts'
import { withRetries } from '../retry.ts'
import { getAddedTools } from '../tool-calls.ts'
import { compactConversation } from './compact.ts'
import { toWireConversation, type WireConversation } from './conversation.ts'
import { refuseMedia } from './input.ts'
import { createMemory, type Loss } from './memory.ts'
import { ADAPTER_NAME } from './native.ts'
import { createFinalRefusal, getAnswer, isBadRequest, isThinkingRefused, reduceFeatures } from './refusals.ts'
import { readReply } from './reply.ts'
import { bindsThinking } from './model-version.ts'
import { getParams, toOutputFormat, type Features } from './request.ts'

/**
 * Uses Claude through the Messages API. Requires the package `@anthropic-ai/sdk`.
 *
 * @example
 * ```ts
 * const adapter = anthropic({ model: 'claude-sonnet-5-5', maxTokens: 16_000 })
 * const { text } = await runAgent(bound, { adapter, input: 'Where is my parcel?' })
 * ```
 */
export function anthropic(options: AnthropicOptions): ProviderAdapter {
  const { model, contextWindow, toolAdditions = 'auto', parameters = {} } = options
  checkNumber('maxTokens', options.maxTokens, { code: 'adapter-config', least: 1 })
  checkNumber('maxRetries', options.maxRetries, { code: 'adapter-config' })
  const memory = createMemory(options)
  const getClient = createClientOnce(options)
  const send = createSender(options, getClient)
  return chatAdapter({
    name: ADAPTER_NAME,
    model,
    contextWindow,
    promptCache: getCacheTerms(options),
    bindsReasoning: bindsThinking(model),
    get removesTools() {
      return memory.additions === 'inline' || memory.additions === 'reference'
    },
    get addsInPlace() {
      return memory.additions !== 'plain'
    },
    callThrough: memory.additions === 'plain' ? toCallThrough(toolAdditions) : 'never',
    refuseInput: refuseMedia,
    // Other servers that speak this API do not know it.
    ...(memory.additions !== 'plain' && {
      compact: (request: CompactionRequest) => compactConversation(request, { options, memory, getClient }),
    }),
    async complete(request) {
      const { output } = request
      const format = output && memory.refusedOutputs.has(output) ? undefined : await toOutputFormat(output)
      const { additions, maxTokens, hasUpdates, hasDiagnostics } = memory
      let features: Features = { additions, format, maxTokens, hasUpdates, hasDiagnostics, hasContainer: true }
      const losses: Loss[] = []
      let first: AdapterError | undefined
      for (;;) {
        const wire = toWireConversation(request, { model, ...memory.wiring, additions: features.additions })
        try {
          const reply = await send(request, wire, features)
          for (const loss of losses) memory.keep(request, loss)
          return reply
        } catch (error) {
          if (!isBadRequest(error)) throw error
          first ??= error
          const answer = getAnswer(error)
          if (wire.thinking.length > 0 && isThinkingRefused(answer)) {
            memory.refuseThinking(wire.thinking)
            continue
          }
          const fewer = reduceFeatures(
            {
              features,
              toolAdditions,
              hasAddedTools: getAddedTools(request).size > 0,
              ownBetas: parameters.betas ?? [],
              hasOwnMaxTokens: options.maxTokens !== undefined,
            },
            answer,
          )
          if (!fewer) throw createFinalRefusal(error, first)
          losses.push({ before: features, after: fewer, refusal: error })
          features = fewer
        }
      }
    },
  })
}

/** An hour costs more to write than five minutes. */
function getCacheTerms({ cache, promptCache }: AnthropicOptions): Partial<PromptCache> | undefined {
  if (typeof cache !== 'object' || cache.ttl !== '1h') return promptCache
  return { write: 2, ttlMs: 3_600_000, ...promptCache }
}

type Send = (request: ChatRequest, wire: WireConversation, features: Features) => Promise<ChatReply>

/** The package is loaded with the first request. */
function createClientOnce(options: AnthropicOptions): () => Promise<AnthropicClient> {
  let client: Promise<AnthropicClient> | undefined
  return () => (client ??= createClient(options))
}

function createSender(options: AnthropicOptions, getClient: () => Promise<AnthropicClient>): Send {
  return (request, { params, prefix, container, previous }, features) =>
    withRetries(
      async (emit, signal) => {
        const { beta } = await getClient()
        const named = container !== undefined && features.hasContainer ? { container } : {}
        const { hasDiagnostics } = features
        const asked = hasDiagnostics ? { diagnostics: { previous_message_id: previous ?? null } } : {}
        const body = { ...named, ...getParams(options, request, features), ...asked, ...params }
        // withRetries does the retries and reports them.
        const events = await beta.messages.create(body, { signal, maxRetries: 0 }).catch(throwReadable)
        return readReply(events, { conversation: request.messages, prefix, hasDiagnostics, signal, emit })
      },
      {
        adapter: ADAPTER_NAME,
        retries: options.maxRetries,
        signal: request.signal,
        emit: (event) => request.emit(event),
      },
    )
}

async function createClient({ apiKey, baseURL, fetch, client }: AnthropicOptions): Promise<AnthropicClient> {
  if (client) return client
  const sdk = await importPeer('@anthropic-ai/sdk', () => import('@anthropic-ai/sdk'))
  return new sdk.Anthropic({
    ...(apiKey !== undefined && { apiKey }),
    ...(baseURL !== undefined && { baseURL }),
    ...(fetch !== undefined && { fetch }),
  })
}

function throwReadable(error: unknown): never {
  if (!/authentication method/i.test(getErrorMessage(error))) throw error
  throw new AdapterError(
    'adapter-config',
    'There is no API key for Anthropic. Set the environment variable ANTHROPIC_API_KEY, or pass apiKey or a client.',
    { adapter: ADAPTER_NAME, cause: error },
  )
}
