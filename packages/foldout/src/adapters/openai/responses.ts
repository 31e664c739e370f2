import type { OpenAI } from 'openai'
import { isPlainObject } from '../../core/json/json.ts'
import type { ChatReply, ChatRequest } from '../chat.ts'
import { NO_USAGE, type ModelEvent, type Usage } from '../contract.ts'
import { cutStream } from '../failure.ts'
import { withRetries } from '../retry.ts'
import { isOpenAI } from './client.ts'
import type { Endpoint } from './endpoint.ts'
import type { Feature } from './features.ts'
import { responseInput, responseTool } from './responses-input.ts'
import { toNative, getText, toToolCalls } from './responses-output.ts'
import { failureInStream, wholeEvents } from './stream.ts'
import { getAdditions } from './tool-calls.ts'

type Body = OpenAI.Responses.ResponseCreateParamsStreaming
type StreamEvent = OpenAI.Responses.ResponseStreamEvent

/** One request to the Responses interface, which keeps nothing of it. */
export async function completeResponse(endpoint: Endpoint, request: ChatRequest): Promise<ChatReply> {
  const { signal } = request
  const client = await endpoint.client()
  const isNative = endpoint.toolAdditions === 'native'
  const wanted = wantedFeatures(endpoint, request, client)
  return withRetries(
    async (emit) => {
      const stream = await endpoint.features.send(
        wanted,
        (using) =>
          client.responses.create(responseBody(endpoint, request, using, isNative || using.has('added-tools')), {
            signal,
            maxRetries: 0,
          }),
        emit,
      )
      return readReply(wholeEvents(stream), emit)
    },
    { retries: endpoint.maxRetries, signal, emit: request.emit },
  )
}

function wantedFeatures(endpoint: Endpoint, request: ChatRequest, client: OpenAI): readonly Feature[] {
  const hasAdditions = getAdditions(request).some((added) => added.length > 0)
  const wanted: Feature[] = []
  if (hasAdditions && endpoint.toolAdditions === 'auto' && isOpenAI(client)) wanted.push('added-tools')
  // Responses takes no array as structured output.
  if (request.output?.container === 'object') wanted.push('output-format')
  if (endpoint.reasoning) wanted.push('reasoning')
  return wanted
}

function responseBody(endpoint: Endpoint, request: ChatRequest, using: ReadonlySet<Feature>, isNative: boolean): Body {
  const { system, output } = request
  const { text, ...parameters } = endpoint.parameters
  const tools = [...request.tools, ...(isNative ? [] : getAdditions(request).flat())].map(responseTool)
  const format =
    output && using.has('output-format')
      ? { format: { type: 'json_schema', name: 'output', schema: { ...output.jsonSchema }, strict: false } as const }
      : {}
  const texts = { ...(isPlainObject(text) ? text : {}), ...format }
  return {
    store: false,
    ...(using.has('reasoning') ? { include: ['reasoning.encrypted_content'] } : {}),
    ...parameters,
    model: endpoint.model,
    stream: true,
    ...(Object.keys(texts).length > 0 ? { text: texts } : {}),
    ...(system === '' ? {} : { instructions: system }),
    ...(tools.length > 0 ? { tools } : {}),
    // Last, so that each request begins with the bytes of the one before.
    input: responseInput(request, { isNative, hasReasoning: using.has('reasoning') }),
  }
}

async function readReply(events: AsyncIterable<StreamEvent>, emit: (event: ModelEvent) => void): Promise<ChatReply> {
  const items: OpenAI.Responses.ResponseOutputItem[] = []
  let response: OpenAI.Responses.Response | undefined
  let shown = ''
  const show = (text: string): void => {
    if (text === '') return
    shown += text
    emit({ type: 'text/delta', text })
  }
  for await (const event of events) {
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        show(event.delta)
        break
      case 'response.output_item.added':
        if (event.item.type === 'message' && shown !== '') show('\n\n')
        break
      case 'response.output_item.done':
        items[event.output_index] = event.item
        break
      case 'response.completed':
      case 'response.incomplete':
        response = event.response
        break
      case 'response.failed':
        throw failureInStream(event.response.error?.code, event.response.error?.message ?? 'The response failed.')
      case 'error':
        throw failureInStream(event.code, event.message)
      default:
    }
  }
  if (response === undefined) throw cutStream('The connection closed before the reply was finished.')
  if (response.status === 'incomplete') {
    const why = response.incomplete_details?.reason ?? 'no reason was given'
    emit({ type: 'warning', message: `The model stopped before it was finished: ${why}.` })
  }
  // Sparse where a server leaves out events; some leave the items out of the last one.
  const output = items.length > 0 ? items.filter(Boolean) : (response.output ?? [])
  const text = getText(output)
  if (shown === '') show(text)
  const native = toNative(output)
  return {
    message: {
      role: 'assistant',
      text,
      toolCalls: toToolCalls(output),
      ...(native === undefined ? {} : { native }),
    },
    usage: response.usage ? toUsage(response.usage) : NO_USAGE,
  }
}

function toUsage(usage: OpenAI.Responses.ResponseUsage): Usage {
  // Servers that are like OpenAI leave the details out.
  const details: Partial<OpenAI.Responses.ResponseUsage.InputTokensDetails> = usage.input_tokens_details ?? {}
  return {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cachedInputTokens: details.cached_tokens ?? 0,
    cacheWriteTokens: details.cache_write_tokens ?? 0,
  }
}
