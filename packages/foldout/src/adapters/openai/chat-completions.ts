import type { OpenAI } from 'openai'
import type { AnyTool } from '../../tools/tool.ts'
import type { ChatReply, ChatRequest } from '../chat.ts'
import { NO_USAGE, type Message, type ModelEvent, type ToolCall, type Usage } from '../contract.ts'
import { cutStream } from '../failure.ts'
import { withRetries } from '../retry.ts'
import type { Endpoint } from './endpoint.ts'
import type { Feature } from './features.ts'
import { wholeEvents } from './stream.ts'
import { getAdditions, readToolCall, resultText } from './tool-calls.ts'

type ChatBody = OpenAI.ChatCompletionCreateParamsStreaming
type ChatMessage = OpenAI.ChatCompletionMessageParam
type Chunk = OpenAI.ChatCompletionChunk

/** One request to Chat Completions. */
export async function completeChat(endpoint: Endpoint, request: ChatRequest): Promise<ChatReply> {
  const { signal, output } = request
  const client = await endpoint.client()
  // Chat Completions takes no array as structured output.
  const wanted: readonly Feature[] = output?.container === 'object' ? ['output-format'] : []
  return withRetries(
    async (emit) => {
      const stream = await endpoint.features.send(
        wanted,
        (using) => client.chat.completions.create(chatBody(endpoint, request, using), { signal, maxRetries: 0 }),
        emit,
      )
      return readReply(wholeEvents(stream), request.messages, emit)
    },
    { retries: endpoint.maxRetries, signal, emit: request.emit },
  )
}

function chatBody(endpoint: Endpoint, request: ChatRequest, using: ReadonlySet<Feature>): ChatBody {
  const { system, messages, output } = request
  const tools = [...request.tools, ...getAdditions(request).flat()].map(chatTool)
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
  return { type: 'function', function: { name, description, parameters: { ...inputSchema } } }
}

function chatMessage(message: Message): readonly ChatMessage[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: message.text }]
    case 'tool':
      return [{ role: 'tool', tool_call_id: message.callId, content: resultText(message) }]
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
  // Servers that put calls into a template of their own read the arguments, and fail on what is no JSON.
  const written = JSON.stringify(malformed === undefined ? (input ?? {}) : { malformed })
  return { id, type: 'function', function: { name, arguments: written } }
}

interface CallInParts {
  id: string
  name: string
  arguments: string
}

async function readReply(
  chunks: AsyncIterable<Chunk>,
  conversation: readonly Message[],
  emit: (event: ModelEvent) => void,
): Promise<ChatReply> {
  let text = ''
  let usage = NO_USAGE
  let finishReason: string | null | undefined
  const parts: CallInParts[] = []
  const latest = new Map<number, CallInParts>()
  for await (const chunk of chunks) {
    if (chunk.usage) usage = toUsage(chunk.usage)
    const choice = chunk.choices?.[0]
    if (choice === undefined) continue
    const said = choice.delta?.content ?? choice.delta?.refusal ?? ''
    if (said !== '') {
      text += said
      emit({ type: 'text/delta', text: said })
    }
    for (const { index = 0, id = '', function: called } of choice.delta?.tool_calls ?? []) {
      let part = latest.get(index)
      // Some servers give every call of a turn the same index; only the id tells them apart.
      if (part === undefined || (id !== '' && part.id !== '' && id !== part.id)) {
        part = { id, name: '', arguments: '' }
        latest.set(index, part)
        parts.push(part)
      }
      part.id ||= id
      part.name ||= called?.name ?? ''
      part.arguments += called?.arguments ?? ''
    }
    finishReason = choice.finish_reason ?? finishReason
  }
  if (finishReason === undefined || finishReason === null) {
    throw cutStream('The connection closed before the reply was finished.')
  }
  if (finishReason === 'length' || finishReason === 'content_filter') {
    emit({ type: 'warning', message: `The model stopped before it was finished: ${finishReason}.` })
  }
  return { message: { role: 'assistant', text, toolCalls: withOwnIds(parts, conversation) }, usage }
}

/** Results are matched by id; some servers give none, or the same ones in every turn. */
function withOwnIds(parts: readonly CallInParts[], conversation: readonly Message[]): readonly ToolCall[] {
  const taken = new Set(
    conversation.flatMap((message) => (message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : [])),
  )
  return parts.map((part, position) => {
    const id = part.id === '' || taken.has(part.id) ? `call_${conversation.length}_${position}` : part.id
    taken.add(id)
    return readToolCall(id, part.name, part.arguments)
  })
}

function toUsage(usage: OpenAI.CompletionUsage): Usage {
  return {
    inputTokens: usage.prompt_tokens ?? 0,
    outputTokens: usage.completion_tokens ?? 0,
    cachedInputTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    cacheWriteTokens: usage.prompt_tokens_details?.cache_write_tokens ?? 0,
  }
}
