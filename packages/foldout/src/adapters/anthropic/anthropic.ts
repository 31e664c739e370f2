import { checkNumber } from '../../core/check-number.ts'
import type { Anthropic } from '@anthropic-ai/sdk'
import { getErrorMessage } from '../../core/errors.ts'
import type { PromptCache } from '../../core/price/prompt-cache.ts'
import { importPeer } from '../../core/peer.ts'
import { AdapterError } from '../adapter-error.ts'
import { chatAdapter, type ChatReply, type ChatRequest } from '../chat.ts'
import type { CompactionRequest, ProviderAdapter } from '../contract.ts'
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

type Params = Anthropic.Beta.Messages.MessageCreateParamsStreaming

/**
 * A client of `@anthropic-ai/sdk`, or one of its variants for another platform.
 *
 * @example
 * ```ts
 * const client: AnthropicClient = new AnthropicBedrock()
 * const adapter = anthropic({ model: 'claude-sonnet-5-5', client })
 * ```
 */
export type AnthropicClient = Pick<Anthropic, 'beta'>

/**
 * Any other field of a request, such as `thinking`, `tool_choice` or `betas`.
 *
 * @example
 * ```ts
 * const parameters: AnthropicParameters = { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }
 * ```
 */
export type AnthropicParameters = Readonly<
  Omit<Params, 'model' | 'max_tokens' | 'messages' | 'system' | 'tools' | 'stream' | 'cache_control' | 'output_format'>
>

/**
 * How tools that are added during a conversation reach the model: `native` defines them at that point, or names them
 * there if the endpoint accepts only that, which preserves the cached prefix; `plain` appends them to the tool list;
 * `auto` is native for Anthropic itself, AWS, Google Cloud and Azure until the endpoint rejects it, and plain for any
 * other address.
 *
 * @example
 * ```ts
 * const toolAdditions: AnthropicToolAdditions = 'plain'
 * ```
 */
export type AnthropicToolAdditions = 'auto' | 'native' | 'plain'

/**
 * A tool that Anthropic defines, in the form that its API accepts.
 *
 * @example
 * ```ts
 * const search: AnthropicServerTool = { type: 'web_search_20260318', name: 'web_search', max_uses: 5 }
 * ```
 */
export type AnthropicServerTool = Exclude<Anthropic.Beta.Messages.BetaToolUnion, Anthropic.Beta.Messages.BetaTool>

/**
 * How long the provider keeps a cached prefix after it was last used.
 *
 * @example
 * ```ts
 * const cache: AnthropicCache = { ttl: '1h' }
 * ```
 */
export interface AnthropicCache {
  readonly ttl: '5m' | '1h'
}

/**
 * The options of {@link anthropic}.
 *
 * @example
 * ```ts
 * const options: AnthropicOptions = { model: 'claude-sonnet-5-5', maxTokens: 16_000 }
 * ```
 */
export interface AnthropicOptions {
  /** The model's name. */
  readonly model: string
  /** The API key. Default: the SDK's own lookup, such as the environment variable `ANTHROPIC_API_KEY`. */
  readonly apiKey?: string
  /** The address of the API. Default: Anthropic's own. */
  readonly baseURL?: string
  /** Your own client, instead of `apiKey`, `baseURL` and `fetch`. */
  readonly client?: AnthropicClient
  /** Replaces the global `fetch` for every request. */
  readonly fetch?: typeof globalThis.fetch
  /**
   * The maximum number of tokens in a reply, including thinking. Default: 128,000 since Claude 4.6, 64,000 for 4.5,
   * otherwise 8192.
   */
  readonly maxTokens?: number
  /** How often a failed request is retried. Default 3. */
  readonly maxRetries?: number
  /** Tools that Anthropic runs, such as its web search. They are offered before the prompt's own tools. */
  readonly serverTools?: readonly AnthropicServerTool[]
  /** How added tools are sent. Default `auto`. */
  readonly toolAdditions?: AnthropicToolAdditions
  /**
   * Whether to mark the parts that the provider should cache, and for how long: five minutes (`true`), or an hour,
   * which costs more to write. Default true.
   */
  readonly cache?: boolean | AnthropicCache
  /** The maximum number of tokens for input and output together. */
  readonly contextWindow?: number
  /** How the provider caches the beginning of requests. Default: what is known about the model. */
  readonly promptCache?: Partial<PromptCache>
  /**
   * Whether the model says what it is doing between its calls, as `reasoning/delta` events. From Claude 5.5 on, models
   * say nothing by default, and earlier ones ignore this. Until the endpoint rejects it. Default false.
   */
  readonly updates?: boolean
  /** Additional fields for every request. */
  readonly parameters?: AnthropicParameters
}

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
      return memory.additions !== 'plain'
    },
    refuseInput: refuseMedia,
    // Other servers that speak this API do not know it.
    ...(memory.additions !== 'plain' && {
      compact: (request: CompactionRequest) => compactConversation(request, { options, memory, getClient }),
    }),
    async complete(request) {
      const { output } = request
      const format = output && memory.refusedOutputs.has(output) ? undefined : await toOutputFormat(output)
      const { additions, maxTokens, hasUpdates } = memory
      let features: Features = { additions, format, maxTokens, hasUpdates, hasContainer: true }
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
  return (request, { params, prefix, container }, features) =>
    withRetries(
      async (emit, signal) => {
        const { beta } = await getClient()
        const named = container !== undefined && features.hasContainer ? { container } : {}
        const body = { ...named, ...getParams(options, request, features), ...params }
        // withRetries does the retries and reports them.
        const events = await beta.messages.create(body, { signal, maxRetries: 0 }).catch(throwReadable)
        return readReply(events, { conversation: request.messages, prefix, signal, emit })
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
