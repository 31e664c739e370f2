import type { Anthropic } from '@anthropic-ai/sdk'
import { FoldoutError, getErrorMessage } from '../../core/errors.ts'
import { importPeer } from '../../core/peer.ts'
import { chatAdapter, type ChatReply, type ChatRequest } from '../chat.ts'
import type { ProviderAdapter } from '../contract.ts'
import { toFailure } from '../failure.ts'
import { withRetries } from '../retry.ts'
import { ADAPTER_NAME, addsTools, wireConversation } from './conversation.ts'
import { outputFormat, type OutputFormat } from './output-format.ts'
import { readReply } from './reply.ts'

type Params = Anthropic.Beta.Messages.MessageCreateParamsStreaming

/** What is needed of a client: that of `@anthropic-ai/sdk`, or one of its kin for another platform. */
export type AnthropicClient = Pick<Anthropic, 'beta'>

/** Anything else a request may say, such as `thinking`, `tool_choice` or `betas`. */
export type AnthropicParameters = Readonly<
  Omit<Params, 'model' | 'max_tokens' | 'messages' | 'system' | 'tools' | 'stream' | 'cache_control' | 'output_format'>
>

/**
 * How tools that a conversation adds reach the model: `native` defines them where they were added, which leaves the
 * cached prefix as it is; `plain` appends them to the tool list; `auto` is native until the endpoint refuses it.
 */
export type AnthropicToolAdditions = 'auto' | 'native' | 'plain'

export interface AnthropicOptions {
  readonly model: string
  /** Default: what the SDK finds, such as the environment variable `ANTHROPIC_API_KEY`. */
  readonly apiKey?: string
  readonly baseURL?: string
  /** A client of your own, instead of `apiKey`, `baseURL` and `fetch`. */
  readonly client?: AnthropicClient
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
  readonly parameters?: AnthropicParameters
}

const INLINE_TOOLS_BETA = 'inline-tools-2026-09-15'
const DEFAULT_MAX_TOKENS = 8192

/** What of a request an endpoint may not know. */
interface Features {
  readonly inlineTools: boolean
  readonly format: OutputFormat | undefined
}

/** Claude through the Messages interface, with the package `@anthropic-ai/sdk`. */
export function anthropic(options: AnthropicOptions): ProviderAdapter {
  const { model, maxRetries, contextWindow, cache = true, toolAdditions = 'auto' } = options
  let client: Promise<AnthropicClient> | undefined
  let inlineTools = toolAdditions !== 'plain'
  const refusedOutputs = new WeakSet<object>()

  const send = (request: ChatRequest, features: Features): Promise<ChatReply> =>
    withRetries(
      async (emit) => {
        const { beta } = await (client ??= createClient(options))
        const params = {
          ...getParams(options, request, features),
          ...wireConversation(request, { ...features, cache }),
        }
        // Retries are made, and told, by withRetries.
        const requested = { signal: request.signal, maxRetries: 0 }
        return readReply(await beta.messages.create(params, requested).catch(throwReadable), emit)
      },
      { retries: maxRetries, signal: request.signal, emit: (event) => request.emit(event) },
    )

  const remember = (request: ChatRequest, used: Features, wanted: Features, refusal: FoldoutError): void => {
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
    ...(contextWindow === undefined ? {} : { contextWindow }),
    async complete(request) {
      const { output } = request
      const format = output && refusedOutputs.has(output) ? undefined : await outputFormat(output)
      const wanted: Features = { inlineTools, format }
      let refusal: FoldoutError
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

function getParams(options: AnthropicOptions, request: ChatRequest, { inlineTools, format }: Features) {
  const { model, maxTokens = DEFAULT_MAX_TOKENS, parameters = {} } = options
  const { betas: ownBetas = [], output_config: ownConfig, ...others } = parameters
  // From the first request on, though it adds nothing yet: all requests of a conversation should look alike to the cache.
  const needsBeta = inlineTools && (request.tools.length > 0 || addsTools(request))
  const betas = needsBeta ? [...new Set([...ownBetas, INLINE_TOOLS_BETA])] : ownBetas
  const outputConfig = format ? { ...ownConfig, format } : ownConfig
  return {
    model,
    max_tokens: maxTokens,
    ...others,
    ...(outputConfig === undefined ? {} : { output_config: outputConfig }),
    ...(betas.length === 0 ? {} : { betas }),
    stream: true as const,
  }
}

/** What may be left out of a refused request, the likely cause first. */
function fallbacks(
  request: ChatRequest,
  { inlineTools, format }: Features,
  refusal: FoldoutError,
  toolAdditions: AnthropicToolAdditions,
): readonly Features[] {
  // Before any tool is added the request says nothing new but the name of the beta.
  const isInlineInUse = addsTools(request) || /beta/i.test(getErrorMessage(refusal.cause))
  const withoutInline = inlineTools && toolAdditions === 'auto' && isInlineInUse && { inlineTools: false, format }
  const withoutFormat = format && { inlineTools, format: undefined }
  const isFormatNamed = /output_config|output_format|json_schema|structured/i.test(getErrorMessage(refusal.cause))
  const single = isFormatNamed ? [withoutFormat, withoutInline] : [withoutInline, withoutFormat]
  const without = single.filter((features) => features !== false && features !== undefined)
  return without.length === 2 ? [...without, { inlineTools: false, format: undefined }] : without
}

/** Some gateways answer 422 to fields they do not know. */
function isBadRequest(error: unknown): error is FoldoutError {
  if (!(error instanceof FoldoutError) || error.code !== 'adapter-refused') return false
  const status = toFailure(error.cause)?.status
  return status === 400 || status === 422
}

function throwReadable(error: unknown): never {
  if (!/authentication method/i.test(getErrorMessage(error))) throw error
  throw new FoldoutError(
    'adapter-unauthenticated',
    'There is no key for the Anthropic interface. Set the environment variable ANTHROPIC_API_KEY, or pass apiKey or a client.',
    { cause: error },
  )
}

function inlineToolsRefused({ cause }: FoldoutError): string {
  return `The endpoint does not take tools that are defined in the conversation, so added tools go to the end of the tool list, and each addition costs the cached prefix behind it. To begin with that, set toolAdditions: 'plain'. It said: ${getErrorMessage(cause)}`
}

function formatRefused({ cause }: FoldoutError): string {
  return `The endpoint does not take this output schema, so the answer is read from what the model writes. It said: ${getErrorMessage(cause)}`
}

function refusedBothWays(last: FoldoutError, first: FoldoutError): FoldoutError {
  return new FoldoutError(
    'adapter-refused',
    `${last.message} Before that, with all that the adapter makes use of, it said: ${getErrorMessage(first.cause)}`,
    { cause: last.cause },
  )
}
