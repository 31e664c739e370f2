import type { OpenAI } from 'openai'
import type { AnyTool } from '../../tools/tool.ts'
import type { ChatReply, ChatRequest } from '../chat.ts'
import { NO_USAGE, type Message, type ModelEvent, type ToolCall, type Usage } from '../contract.ts'
import { cutStream } from '../failure.ts'
import { withRetries } from '../retry.ts'
import { measureText, readStream } from '../stream.ts'
import { createCallIds, getAddedTools, readToolCall, toResultText } from '../tool-calls.ts'
import { toToolParameters } from '../tool-schemas.ts'
import type { Endpoint } from './endpoint.ts'
import type { Feature } from './features.ts'

type ChatBody = OpenAI.ChatCompletionCreateParamsStreaming
type ChatMessage = OpenAI.ChatCompletionMessageParam
type Chunk = OpenAI.ChatCompletionChunk
type ToolCallDelta = OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall

/** One request to Chat Completions. */
export async function completeChat(endpoint: Endpoint, request: ChatRequest): Promise<ChatReply> {
  const { name: adapter, maxRetries: retries } = endpoint
  const client = await endpoint.client()
  // Chat Completions does not take a list as structured output.
  const wanted: readonly Feature[] = request.output?.container === 'object' ? ['output-format'] : []
  return withRetries(
    async (emit, signal) => {
      const stream = await endpoint.features.send(
        wanted,
        (using) => client.chat.completions.create(chatBody(endpoint, request, using), { signal, maxRetries: 0 }),
        emit,
      )
      const chunks = readStream(stream, { adapter, signal, measure: measureChunk })
      return readReply(chunks, { adapter, conversation: request.messages, emit })
    },
    { adapter, retries, signal: request.signal, emit: request.emit },
  )
}

function chatBody(endpoint: Endpoint, request: ChatRequest, using: ReadonlySet<Feature>): ChatBody {
  const { system, messages, output } = request
  const tools = [...request.tools, ...[...getAddedTools(request).values()].flat()].map(chatTool)
  return {
    stream_options: { include_usage: true },
    ...endpoint.parameters,
    model: endpoint.model,
    stream: true,
    ...(output && using.has('output-format')
      ? {
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'output', schema: { ...output.jsonSchema }, strict: false },
          },
        }
      : {}),
    ...(tools.length > 0 ? { tools } : {}),
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system } as const]),
      ...messages.flatMap(chatMessage),
    ],
  }
}

function chatTool({ name, description, inputSchema }: AnyTool): OpenAI.ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters: toToolParameters(inputSchema, 'openai') } }
}

function chatMessage(message: Message): readonly ChatMessage[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.text }]
    case 'tool':
      return [{ role: 'tool', tool_call_id: message.callId, content: toResultText(message) }]
    case 'assistant': {
      const { text, toolCalls } = message
      if (toolCalls.length === 0) return [{ role: 'assistant', content: text }]
      return [{ role: 'assistant', content: text === '' ? null : text, tool_calls: toolCalls.map(chatToolCall) }]
    }
    default:
      return []
  }
}

function chatToolCall({
  id,
  name,
  arguments: input,
  malformed,
}: ToolCall): OpenAI.ChatCompletionMessageFunctionToolCall {
  // Servers that put calls into a template of their own read the arguments, and fail if they are not valid JSON.
  const written = JSON.stringify(malformed === undefined ? (input ?? {}) : { malformed })
  return { id, type: 'function', function: { name, arguments: written } }
}

interface CallInParts {
  id: string
  name: string
  text: string
}

/** Puts the calls of a reply together from their parts. */
function createCallReader() {
  const calls: CallInParts[] = []
  const latest = new Map<number, CallInParts>()
  return {
    calls,
    read(delta: ToolCallDelta): void {
      const { id, function: called } = delta
      const index = delta.index ?? 0
      const given = typeof id === 'string' ? id : ''
      let call = latest.get(index)
      // Some servers give every call of a turn the same index; only the id tells them apart.
      if (call === undefined || (given !== '' && call.id !== '' && given !== call.id)) {
        call = { id: given, name: '', text: '' }
        latest.set(index, call)
        calls.push(call)
      }
      call.id ||= given
      call.name ||= called?.name ?? ''
      call.text += called?.arguments ?? ''
    },
  }
}

async function readReply(
  chunks: AsyncIterable<Chunk>,
  options: {
    readonly adapter: string
    readonly conversation: readonly Message[]
    emit(this: void, event: ModelEvent): void
  },
): Promise<ChatReply> {
  const { adapter, conversation, emit } = options
  const reader = createCallReader()
  let text = ''
  let usage = NO_USAGE
  let finishReason: string | null | undefined
  for await (const chunk of chunks) {
    if (chunk.usage) usage = toUsage(chunk.usage)
    const choice = chunk.choices?.[0]
    if (choice === undefined) continue
    const said = choice.delta?.content ?? choice.delta?.refusal ?? ''
    if (said !== '') {
      text += said
      emit({ type: 'text/delta', text: said })
    }
    for (const delta of choice.delta?.tool_calls ?? []) reader.read(delta)
    finishReason = choice.finish_reason ?? finishReason
  }
  if (finishReason === undefined || finishReason === null) {
    throw cutStream(adapter, 'The connection closed before the reply was finished.')
  }
  if (finishReason === 'length' || finishReason === 'content_filter') {
    emit({ type: 'warning', message: `The model stopped before it was finished: ${finishReason}.` })
  }
  const toId = createCallIds(conversation)
  const toolCalls = reader.calls.map((call) => readToolCall({ ...call, id: toId(call.id) }))
  return { message: { role: 'assistant', text, toolCalls }, usage }
}

function measureChunk({ choices }: Chunk): number {
  const delta = choices?.[0]?.delta
  const calls = delta?.tool_calls ?? []
  return calls.reduce((sum, call) => sum + measureText(call.function?.arguments), measureText(delta?.content))
}

function toUsage(usage: OpenAI.CompletionUsage): Usage {
  return {
    inputTokens: usage.prompt_tokens ?? 0,
    outputTokens: usage.completion_tokens ?? 0,
    cachedInputTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    cacheWriteTokens: usage.prompt_tokens_details?.cache_write_tokens ?? 0,
  }
}
