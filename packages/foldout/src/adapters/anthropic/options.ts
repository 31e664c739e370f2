import type { Anthropic } from '@anthropic-ai/sdk'
import type { PromptCache } from '../../core/price/prompt-cache.ts'
import type { RefusalMemory } from '../contract.ts'

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
 * `through` defines them in the text that adds them, and has them called through one constant tool; `auto` is native
 * for Anthropic itself, AWS, Google Cloud and Azure until the endpoint rejects it. For any other address, it is
 * `through` if the model's cache makes that cheaper, or plain.
 *
 * @example
 * ```ts
 * const toolAdditions: AnthropicToolAdditions = 'plain'
 * ```
 */
export type AnthropicToolAdditions = 'auto' | 'native' | 'plain' | 'through'

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
  /**
   * Whether to ask why the cache missed, for `cache/diagnosed` events. Until the endpoint rejects it. Default false.
   */
  readonly cacheDiagnostics?: boolean
  /** Remembers what the endpoint has refused. Default: a memory that lives as long as the adapter. */
  readonly learned?: RefusalMemory
  /** Additional fields for every request. */
  readonly parameters?: AnthropicParameters
}
