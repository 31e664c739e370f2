import type { OpenAI } from 'openai'
import { cutText } from '../../core/text.ts'
import type { OutputSpec } from '../../prompt/definition/output.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { ChatReply, ChatRequest } from '../contract.ts'
import { isRepair } from '../repair.ts'
import { withRetries } from '../retry.ts'
import { readStream } from '../stream.ts'
import { getAddedTools } from '../tool-calls.ts'
import { toToolParameters } from '../tool-schemas.ts'
import { getNativeAdapter, hasReasoning, toChatMessages } from './chat-messages.ts'
import { measureChunk, readChatReply } from './chat-reply.ts'
import { isOpenAI, type Endpoint } from './endpoint.ts'
import type { Feature, Using } from './features.ts'
import { isStrictSchema, toNamedSchema } from './strict-schema.ts'
import { getKnownQuirks, type Quirk } from '../quirks.ts'

type ChatBody = OpenAI.ChatCompletionCreateParamsStreaming

/** Sends one request to Chat Completions. */
export async function completeChat(endpoint: Endpoint, request: ChatRequest): Promise<ChatReply> {
  const { name: adapter, maxRetries: retries } = endpoint
  const client = await endpoint.client()
  const nativeAdapter = getNativeAdapter(client.baseURL)
  const quirks = getKnownQuirks(client.baseURL)
  const wanted = [
    ...getWantedFeatures(endpoint, request, { nativeAdapter, quirks, isStrict: isOpenAI(client) }),
    ...quirks,
  ]
  return withRetries(
    async (emit, signal) => {
      const stream = await endpoint.features.send(
        wanted,
        (using) => {
          const body = toChatBody(endpoint, request, { nativeAdapter, using })
          return client.chat.completions.create(body, { signal, maxRetries: 0 })
        },
        emit,
      )
      const chunks = readStream(stream, { adapter, signal, measure: measureChunk })
      return readChatReply(chunks, { adapter, nativeAdapter, conversation: request.messages, emit })
    },
    { adapter, retries, signal: request.signal, emit: request.emit },
  )
}

interface ServerTraits {
  readonly nativeAdapter: string
  readonly quirks: readonly Quirk[]
  /** Whether the server enforces schemas. */
  readonly isStrict: boolean
}

function getWantedFeatures(
  endpoint: Endpoint,
  request: ChatRequest,
  { nativeAdapter, quirks, isStrict }: ServerTraits,
): readonly Feature[] {
  const wanted: Feature[] = quirks.includes('no-stream-options') ? [] : ['stream-usage']
  if (isStrict) wanted.push('strict')
  const format = getFormatFeature(request, quirks)
  if (format !== undefined) wanted.push(format)
  if (endpoint.cacheKey !== undefined) wanted.push('cache-key')
  if (hasReasoning(request.messages, nativeAdapter)) wanted.push('passed-reasoning')
  return wanted
}

function getFormatFeature(request: ChatRequest, quirks: readonly Quirk[]): Feature | undefined {
  // Chat Completions does not accept an array as structured output.
  if (request.output?.container !== 'object') return undefined
  if (getOfferedTools(request).length === 0) return 'output-format'
  if (quirks.includes('format-without-tools') && !isRepair(request)) return undefined
  return 'format-beside-tools'
}

function getOfferedTools(request: ChatRequest): readonly AnyTool[] {
  return [...request.tools, ...[...getAddedTools(request).values()].flat()]
}

function toChatBody(
  endpoint: Endpoint,
  request: ChatRequest,
  { nativeAdapter, using }: { readonly nativeAdapter: string; readonly using: Using },
): ChatBody {
  const { system, messages, output } = request
  const { tools: ownTools, ...parameters } = endpoint.parameters
  const tools = [
    ...toServerTools(ownTools),
    ...getOfferedTools(request).map((tool) => toChatTool(tool, using.has('strict'))),
  ]
  const hasFormat = using.has('output-format') || using.has('format-beside-tools')
  return {
    ...(using.has('stream-usage') && { stream_options: { include_usage: true } }),
    ...(endpoint.cacheKey !== undefined && using.has('cache-key') && { prompt_cache_key: endpoint.cacheKey }),
    ...parameters,
    model: endpoint.model,
    stream: true,
    ...(output && hasFormat && { response_format: toResponseFormat(output, using.has('strict')) }),
    ...(tools.length > 0 && { tools }),
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system } as const]),
      ...toChatMessages(messages, nativeAdapter, using),
    ],
  }
}

function toResponseFormat(output: OutputSpec<unknown>, isStrict: boolean): OpenAI.ResponseFormatJSONSchema {
  return { type: 'json_schema', json_schema: toNamedSchema(output, isStrict) }
}

/** Returns the tools that run on the server, from the adapter's `parameters`. */
function toServerTools(tools: unknown): readonly OpenAI.ChatCompletionTool[] {
  if (Array.isArray(tools)) return tools as readonly OpenAI.ChatCompletionTool[]
  return []
}

/** OpenAI rejects longer ones here, though not in the Responses API. */
const MAX_DESCRIPTION_CHARACTERS = 1024

function toChatTool({ name, description, inputSchema }: AnyTool, isStrict: boolean): OpenAI.ChatCompletionFunctionTool {
  const shown = cutText(description, MAX_DESCRIPTION_CHARACTERS)
  const parameters = toToolParameters(inputSchema, 'openai')
  const strict = isStrict && isStrictSchema(parameters)
  return { type: 'function', function: { name, description: shown, parameters, ...(strict && { strict }) } }
}
