import type { Anthropic } from '@anthropic-ai/sdk'
import { getErrorMessage } from '../../core/errors.ts'
import { importPeer } from '../../core/peer.ts'
import { AdapterError } from '../adapter-error.ts'
import { chatAdapter, type ChatReply, type ChatRequest } from '../chat.ts'
import type { ProviderAdapter } from '../contract.ts'
import { withRetries } from '../retry.ts'
import { getAddedTools } from '../tool-calls.ts'
import { ADAPTER_NAME, wireConversation } from './conversation.ts'
import { readReply } from './reply.ts'
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
 * How tools that a conversation adds reach the model: `native` defines them where they were added, which leaves the
 * cached prefix as it is; `plain` appends them to the tool list; `auto` is native until the endpoint refuses it.
 *
 * @example
 * ```ts
 * const toolAdditions: AnthropicToolAdditions = 'plain'
 * ```
 */
export type AnthropicToolAdditions = 'auto' | 'native' | 'plain'

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
  /** Default: what the SDK finds, such as the environment variable `ANTHROPIC_API_KEY`. */
  readonly apiKey?: string
  /** Default: Anthropic's own. */
  readonly baseURL?: string
  /** A client of your own, instead of `apiKey`, `baseURL` and `fetch`. */
  readonly client?: AnthropicClient
  /** Used for every request instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** The most tokens of a reply. Default 8192. */
  readonly maxTokens?: number
  /** How often a failed request is sent again. Default 3. */
  readonly maxRetries?: number
  /** Default `auto`. */
  readonly toolAdditions?: AnthropicToolAdditions
  /** Whether to mark what the provider should cache. Default true. */
  readonly cache?: boolean
  /** Tokens that input and output may have together. */
  readonly contextWindow?: number
  /** More fields for every request. */
  readonly parameters?: AnthropicParameters
}

/**
 * Claude through the Messages interface. Needs the package `@anthropic-ai/sdk`.
 *
 * @example
 * ```ts
 * const adapter = anthropic({ model: 'claude-sonnet-5-5', maxTokens: 16_000 })
 * const { text } = await runAgent(bound, { adapter, input: 'Where is my parcel?' })
 * ```
 */
export function anthropic(options: AnthropicOptions): ProviderAdapter {
  const { model, maxRetries, contextWindow, cache = true, toolAdditions = 'auto' } = options
  let client: Promise<AnthropicClient> | undefined
  let inlineTools = toolAdditions !== 'plain'
  const refusedOutputs = new WeakSet<object>()

  const send = (request: ChatRequest, features: Features): Promise<ChatReply> =>
    withRetries(
      async (emit, signal) => {
        const { beta } = await (client ??= createClient(options))
        const params = {
          ...getParams(options, request, features),
          ...wireConversation(request, { ...features, cache }),
        }
        // Retries are made, and told, by withRetries.
        const events = await beta.messages.create(params, { signal, maxRetries: 0 }).catch(throwReadable)
        return readReply(events, { conversation: request.messages, signal, emit })
      },
      { adapter: ADAPTER_NAME, retries: maxRetries, signal: request.signal, emit: (event) => request.emit(event) },
    )

  const remember = (request: ChatRequest, used: Features, wanted: Features, refusal: AdapterError): void => {
    if (wanted.inlineTools && !used.inlineTools) {
      inlineTools = false
      request.emit({ type: 'warning', message: inlineToolsRefused(refusal) })
    }
    if (wanted.format && !used.format && request.output) {
      refusedOutputs.add(request.output)
      request.emit({ type: 'warning', message: formatRefused(refusal) })
    }
  }

  return chatAdapter({
    name: ADAPTER_NAME,
    model,
    contextWindow,
    async complete(request) {
      const { output } = request
      const format = output && refusedOutputs.has(output) ? undefined : await toOutputFormat(output)
      const wanted: Features = { inlineTools, format }
      let refusal: AdapterError
      try {
        return await send(request, wanted)
      } catch (error) {
        if (!isBadRequest(error)) throw error
        refusal = error
      }
      let last = refusal
      for (const fewer of fallbacks(request, wanted, refusal, toolAdditions)) {
        try {
          const reply = await send(request, fewer)
          remember(request, fewer, wanted, refusal)
          return reply
        } catch (error) {
          if (!isBadRequest(error)) throw error
          last = error
        }
      }
      throw last === refusal || last.message === refusal.message ? refusal : refusedBothWays(last, refusal)
    },
  })
}

async function createClient({ apiKey, baseURL, fetch, client }: AnthropicOptions): Promise<AnthropicClient> {
  if (client) return client
  const sdk = await importPeer('@anthropic-ai/sdk', () => import('@anthropic-ai/sdk'))
  return new sdk.Anthropic({
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(fetch === undefined ? {} : { fetch }),
  })
}

/** What may be left out of a refused request, the likely cause first. */
function fallbacks(
  request: ChatRequest,
  { inlineTools, format }: Features,
  refusal: AdapterError,
  toolAdditions: AnthropicToolAdditions,
): readonly Features[] {
  // Before any tool is added the request says nothing new but the name of the beta.
  const isInlineInUse = getAddedTools(request).size > 0 || /beta/i.test(getErrorMessage(refusal.cause))
  const withoutInline = inlineTools && toolAdditions === 'auto' && isInlineInUse && { inlineTools: false, format }
  const withoutFormat = format && { inlineTools, format: undefined }
  const isFormatNamed = /output_config|output_format|json_schema|structured/i.test(getErrorMessage(refusal.cause))
  const single = isFormatNamed ? [withoutFormat, withoutInline] : [withoutInline, withoutFormat]
  const without = single.filter((features) => features !== false && features !== undefined)
  return without.length === 2 ? [...without, { inlineTools: false, format: undefined }] : without
}

/** Some gateways answer 422 to fields they do not know. */
function isBadRequest(error: unknown): error is AdapterError {
  if (!(error instanceof AdapterError) || error.code !== 'adapter-refused') return false
  return error.status === 400 || error.status === 422
}

function throwReadable(error: unknown): never {
  if (!/authentication method/i.test(getErrorMessage(error))) throw error
  throw new AdapterError(
    'adapter-config',
    'There is no key for the Anthropic interface. Set the environment variable ANTHROPIC_API_KEY, or pass apiKey or a client.',
    { adapter: ADAPTER_NAME, cause: error },
  )
}

function inlineToolsRefused({ cause }: AdapterError): string {
  return `The endpoint does not take tools that are defined in the conversation, so added tools go to the end of the tool list, and each addition costs the cached prefix behind it. To begin with that, set toolAdditions: 'plain'. It said: ${getErrorMessage(cause)}`
}

function formatRefused({ cause }: AdapterError): string {
  return `The endpoint does not take this output schema, so the answer is read from what the model writes. It said: ${getErrorMessage(cause)}`
}

function refusedBothWays(last: AdapterError, first: AdapterError): AdapterError {
  return new AdapterError(
    'adapter-refused',
    `${last.message} The first attempt, with all the features that the adapter uses, was answered: ${getErrorMessage(first.cause)}`,
    { adapter: ADAPTER_NAME, status: last.status, retryAfterMs: last.retryAfterMs, cause: last.cause },
  )
}
