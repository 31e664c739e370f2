import type { OpenAI } from 'openai'
import { checkNumber } from '../../core/check-number.ts'
import type { Json } from '../../core/json/json.ts'
import type { PromptCache } from '../../core/price/prompt-cache.ts'
import { chatAdapter, toCallThrough } from '../chat.ts'
import type { CompactionRequest, ProviderAdapter, RefusalMemory } from '../contract.ts'
import { getHost, getRefusals } from '../quirks.ts'
import type { InputKind } from '../user-parts.ts'
import { completeChat } from './chat-completions.ts'
import { createLazyClient, isOpenAI, type Endpoint, type Fetch, type ToolAdditions } from './endpoint.ts'
import { createFeatures } from './features.ts'
import { getInputKinds, refuseMedia } from './input.ts'
import { compactResponse, completeResponse } from './responses.ts'

interface CommonOptions {
  /** The provider's name of the model. */
  readonly model: string
  /** Replaces the global `fetch` for every request. */
  readonly fetch?: Fetch
  /** How often a failed request is retried. Default 3. */
  readonly maxRetries?: number
  /** The maximum number of tokens for input and output together. */
  readonly contextWindow?: number
  /** How the provider caches the beginning of requests. Default: what is known about the model. */
  readonly promptCache?: Partial<PromptCache>
  /**
   * The kinds of input that the model accepts besides text; other input is rejected before a run begins. Default:
   * images and files for OpenAI models that read them, images for compatible servers.
   */
  readonly input?: readonly InputKind[]
  /**
   * Additional fields for every request, as the API names them: `{ temperature: 0, reasoning: { effort: 'low' } }`. Its
   * `tools` are tools that the provider runs, such as `{ type: 'web_search' }`. They are offered in addition to yours.
   */
  readonly parameters?: Readonly<Record<string, Json>>
  /** Remembers what the endpoint has refused. Default: a memory that lives as long as the adapter. */
  readonly learned?: RefusalMemory
}

/**
 * The options of {@link openai}.
 *
 * @example
 * ```ts
 * const options: OpenAIOptions = { model: 'gpt-5', interface: 'responses', maxRetries: 5 }
 * ```
 */
export interface OpenAIOptions extends CommonOptions {
  /** The API key. Default: the environment variable OPENAI_API_KEY. */
  readonly apiKey?: string
  /** The address of the API. Default: the environment variable OPENAI_BASE_URL, or OpenAI itself. */
  readonly baseURL?: string
  /** The API to use. Default `responses`; `chat` is Chat Completions. */
  readonly interface?: 'responses' | 'chat'
  /** A client of the package `openai`, instead of one created from `apiKey`, `baseURL` and `fetch`. */
  readonly client?: OpenAI
  /**
   * How tools that are added during a conversation are sent. `native`: as an item at their point in the conversation,
   * so everything before it stays cached (Responses only). `plain`: at the end of the tool list. `through`: in the text
   * that adds them, and called through one constant tool, so the list never changes and has no limit. Default `auto`:
   * natively to OpenAI's Responses API, unless the server answers that it does not know such items; otherwise `through`
   * if the model's cache makes that cheaper, or `plain`.
   */
  readonly toolAdditions?: ToolAdditions
  /**
   * Sent as `prompt_cache_key`: requests with the same key are routed to the same cache. Use one key for conversations
   * that start alike. Default: a hash of the prompt and its tools for GPT-5.6 and later at OpenAI's own address, which
   * need a key; otherwise no key.
   */
  readonly promptCacheKey?: string
  /**
   * Whether to ask why the cache missed, for `cache/diagnosed` events (Responses at OpenAI's own address, from GPT-5.6
   * on). Until the endpoint rejects it. Default false.
   */
  readonly cacheDiagnostics?: boolean
  /** Whether to request encrypted reasoning and pass it back (Responses only). Default: depends on the model's name. */
  readonly reasoning?: boolean
}

/**
 * The options of {@link openaiCompatible}.
 *
 * @example
 * ```ts
 * const options: OpenAICompatibleOptions = { model: 'qwen3', baseURL: 'http://localhost:11434/v1', name: 'ollama' }
 * ```
 */
export interface OpenAICompatibleOptions extends CommonOptions {
  /** The address of the API with its version: `http://localhost:11434/v1`. */
  readonly baseURL: string
  /**
   * The API key. Default: no key is sent. The environment is not read, so OpenAI's key never reaches another server.
   */
  readonly apiKey?: string
  /** The system's name in OpenTelemetry. Default `openai-compatible`. */
  readonly name?: string
  /** How tools that are added during a conversation are sent, as in {@link OpenAIOptions}. Default `auto`. */
  readonly toolAdditions?: 'auto' | 'plain' | 'through'
}

const REASONING_MODELS = /^(ft:)?(o\d|codex|gpt-([5-9]|\d\d)(?!.*-chat))/

/**
 * Uses OpenAI models through the Responses API or Chat Completions. Requires the package `openai`.
 *
 * @example
 * ```ts
 * const adapter = openai({ model: 'gpt-5', parameters: { reasoning: { effort: 'low' } } })
 * const { text } = await runAgent(bound, { adapter, input: 'Where is my parcel?' })
 * ```
 */
export function openai(options: OpenAIOptions): ProviderAdapter {
  const { model, apiKey, baseURL, client, fetch, toolAdditions = 'auto' } = options
  const isChat = options.interface === 'chat'
  const address = client?.baseURL ?? baseURL ?? getDefaultAddress()
  const isOwn = isOpenAI({ baseURL: address })
  return createAdapter(isChat, options, {
    name: 'openai',
    toolAdditions: isChat && toolAdditions === 'native' ? 'plain' : toolAdditions,
    isOwn,
    address,
    reasoning: options.reasoning ?? REASONING_MODELS.test(model),
    cacheKey: options.promptCacheKey,
    cacheDiagnostics: options.cacheDiagnostics === true,
    client: createLazyClient(client ?? { apiKey, baseURL, fetch }),
    kinds: options.input ?? getInputKinds(model),
    canCompact: !isChat && isOwn,
  })
}

/**
 * Uses a server that speaks Chat Completions: a LiteLLM proxy, vLLM, Ollama and others. Requires the package `openai`.
 *
 * @example
 * ```ts
 * const adapter = openaiCompatible({ model: 'qwen3', baseURL: 'http://localhost:11434/v1' })
 * ```
 */
export function openaiCompatible(options: OpenAICompatibleOptions): ProviderAdapter {
  const { baseURL, apiKey, fetch, name = 'openai-compatible', toolAdditions = 'auto' } = options
  return createAdapter(true, options, {
    name,
    toolAdditions,
    isOwn: false,
    address: baseURL,
    reasoning: false,
    cacheKey: undefined,
    cacheDiagnostics: false,
    client: createLazyClient({ baseURL, apiKey, fetch, isForeign: true }),
    kinds: options.input ?? ['image'],
    canCompact: false,
  })
}

/** The address that the package uses. */
function getDefaultAddress(): string {
  return globalThis.process?.env?.['OPENAI_BASE_URL']?.trim() || 'https://api.openai.com/v1'
}

function createAdapter(
  isChat: boolean,
  { model, maxRetries, parameters = {}, contextWindow, promptCache, learned }: CommonOptions,
  {
    kinds,
    canCompact,
    isOwn,
    address,
    ...rest
  }: Pick<Endpoint, 'name' | 'toolAdditions' | 'reasoning' | 'cacheKey' | 'cacheDiagnostics' | 'client'> & {
    readonly kinds: readonly InputKind[]
    /** Whether the provider compacts conversations on demand. Only OpenAI itself does. */
    readonly canCompact: boolean
    /** Whether the address is OpenAI's own. */
    readonly isOwn: boolean
    readonly address: string
  },
): ProviderAdapter {
  checkNumber('maxRetries', maxRetries, { code: 'adapter-config' })
  const endpoint: Endpoint = {
    ...rest,
    model,
    maxRetries,
    parameters,
    features: createFeatures(getRefusals(learned, getHost(address), model)),
    refusedReasoning: new WeakSet(),
  }
  const { toolAdditions } = rest
  const isNative = !isChat && (toolAdditions === 'native' || (toolAdditions === 'auto' && isOwn))
  return chatAdapter({
    name: rest.name,
    model,
    contextWindow,
    promptCache,
    get addsInPlace() {
      return isNative && !endpoint.features.isRefused('added-tools')
    },
    callThrough: isNative ? 'never' : toCallThrough(toolAdditions),
    refuseInput: (part) => refuseMedia(part, { kinds, model, isChat }),
    ...(canCompact && { compact: (request: CompactionRequest) => compactResponse(endpoint, request) }),
    complete: (request) => (isChat ? completeChat(endpoint, request) : completeResponse(endpoint, request)),
  })
}
