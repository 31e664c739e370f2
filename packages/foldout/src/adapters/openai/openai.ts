import type { OpenAI } from 'openai'
import type { Json } from '../../core/json/json.ts'
import { chatAdapter } from '../chat.ts'
import type { ProviderAdapter } from '../contract.ts'
import { completeChat } from './chat-completions.ts'
import { lazyClient, type Fetch } from './client.ts'
import { createFeatures } from './features.ts'
import type { Endpoint, ToolAdditions } from './endpoint.ts'
import { completeResponse } from './responses.ts'

interface CommonOptions {
  readonly model: string
  readonly apiKey?: string
  readonly fetch?: Fetch
  /** How often a request that failed is sent again. Default 3. */
  readonly maxRetries?: number
  /** Tokens that input and output may have together. */
  readonly contextWindow?: number
  /** More fields for every request, as the interface names them: `{ temperature: 0, reasoning: { effort: 'low' } }`. */
  readonly parameters?: Readonly<Record<string, Json>>
}

export interface OpenAIOptions extends CommonOptions {
  /** Default: OPENAI_API_KEY of the environment. */
  readonly apiKey?: string
  /** Default: OPENAI_BASE_URL of the environment, or OpenAI itself. */
  readonly baseURL?: string
  /** Default `responses`; `chat` is Chat Completions. */
  readonly interface?: 'responses' | 'chat'
  /** A client of the package openai to use in place of one made from `apiKey`, `baseURL` and `fetch`. */
  readonly client?: OpenAI
  /**
   * How tools that come in mid-conversation are sent. `native`: as an item at their place in the conversation, so that all
   * before it stays cached (Responses only). `plain`: at the end of the tool list. Default `auto`: natively to OpenAI's
   * Responses, unless it answers that it does not know them.
   */
  readonly toolAdditions?: ToolAdditions
  /** Whether to ask for encrypted reasoning and pass it back (Responses only). Default: by the model's name. */
  readonly reasoning?: boolean
}

export interface OpenAICompatibleOptions extends CommonOptions {
  /** With the version: `http://localhost:11434/v1`. */
  readonly baseURL: string
  /** Default: no key is sent. The environment is not looked at, so that no key of OpenAI goes elsewhere. */
  readonly apiKey?: string
  /** As OpenTelemetry names the system. Default `openai-compatible`. */
  readonly name?: string
}

const REASONING_MODELS = /^(o\d|codex|gpt-([5-9]|\d\d)(?!.*-chat))/

/** OpenAI's models, through the Responses interface or Chat Completions. */
export function openai(options: OpenAIOptions): ProviderAdapter {
  const { model, apiKey, baseURL, client, fetch, toolAdditions = 'auto' } = options
  const isChat = options.interface === 'chat'
  return getAdapter(isChat, options, {
    name: 'openai',
    toolAdditions: isChat ? 'plain' : toolAdditions,
    reasoning: options.reasoning ?? REASONING_MODELS.test(model),
    client: lazyClient(client ?? { apiKey, baseURL, fetch }),
  })
}

/** A server that speaks Chat Completions: a LiteLLM proxy, vLLM, Ollama and others. */
export function openaiCompatible(options: OpenAICompatibleOptions): ProviderAdapter {
  const { baseURL, apiKey, fetch, name = 'openai-compatible' } = options
  return getAdapter(true, options, {
    name,
    toolAdditions: 'plain',
    reasoning: false,
    client: lazyClient({ baseURL, apiKey, fetch, isForeign: true }),
  })
}

function getAdapter(
  isChat: boolean,
  { model, maxRetries, parameters = {}, contextWindow }: CommonOptions,
  rest: Pick<Endpoint, 'name' | 'toolAdditions' | 'reasoning' | 'client'>,
): ProviderAdapter {
  const endpoint: Endpoint = { ...rest, model, maxRetries, parameters, features: createFeatures() }
  return chatAdapter({
    name: rest.name,
    model,
    ...(contextWindow === undefined ? {} : { contextWindow }),
    complete: (request) => (isChat ? completeChat(endpoint, request) : completeResponse(endpoint, request)),
  })
}
