import { APICallError, type LanguageModel } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import type { AdapterSuiteOptions, EarlyEnd, ModelStep } from '../../packages/foldout/src/testing/adapter-peer.ts'

type CallOptions = MockLanguageModelV3['doStreamCalls'][number]
type StreamResult = Awaited<ReturnType<MockLanguageModelV3['doStream']>>
type Part = StreamResult['stream'] extends ReadableStream<infer P> ? P : never

export interface ModelRequest {
  readonly options: CallOptions
  /** Serialized when the request was made. */
  readonly tools: string
  readonly prompt: string
}

/** A model from the AI SDK's test package that answers request `n` with step `n`. */
export function scriptedModel(
  script: readonly ModelStep[],
  settings: Pick<NonNullable<ConstructorParameters<typeof MockLanguageModelV3>[0]>, 'supportedUrls'> = {},
): {
  readonly model: LanguageModel
  readonly requests: readonly ModelRequest[]
} {
  const requests: ModelRequest[] = []
  const model = new MockLanguageModelV3({
    provider: 'mock.chat',
    modelId: 'mock-model',
    ...settings,
    doStream(options) {
      const { tools = [], prompt } = options
      const step = script[requests.length]
      requests.push({ options, tools: JSON.stringify(tools), prompt: JSON.stringify(prompt) })
      if (step === undefined) return Promise.reject(new Error('The script has ended.'))
      if ('refuses' in step) return Promise.reject(refusal(step))
      return Promise.resolve({ stream: getStream(step, requests.length, options.abortSignal) })
    },
  })
  return { model, requests }
}

function refusal({ refuses, message = 'Refused.', headers = {} }: Extract<ModelStep, { readonly refuses: number }>) {
  return new APICallError({
    message,
    url: 'https://provider.test/v1',
    requestBodyValues: {},
    statusCode: refuses,
    responseHeaders: { ...headers },
  })
}

function getStream(
  step: Exclude<ModelStep, { readonly refuses: number }>,
  turn: number,
  signal: AbortSignal | undefined,
): ReadableStream<Part> {
  const { parts, end } = getParts(step, turn)
  const rest = parts.values()
  return new ReadableStream<Part>({
    pull(controller) {
      const { value, done } = rest.next()
      if (!done) return controller.enqueue(value)
      if (end === 'closed') return controller.close()
      if (end === 'cut') return controller.error(new TypeError('terminated'))
      return new Promise<void>((resolve) => {
        signal?.addEventListener('abort', () => {
          controller.error(signal.reason)
          resolve()
        })
      })
    },
  })
}

function getParts(
  step: Exclude<ModelStep, { readonly refuses: number }>,
  turn: number,
): { readonly parts: readonly Part[]; readonly end: EarlyEnd['how'] } {
  const start: Part = { type: 'stream-start', warnings: [] }
  const { inputTokens = 10, outputTokens = 5 } = step.usage ?? {}
  const finish = (reason: 'stop' | 'tool-calls'): Part => ({
    type: 'finish',
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: outputTokens, text: outputTokens, reasoning: 0 },
    },
  })
  if ('calls' in step) {
    const calls = step.calls.flatMap(({ name, arguments: args = {}, malformed }, index): Part[] => {
      const id = `call-${turn}-${index}`
      const input = malformed ?? JSON.stringify(args)
      return [
        { type: 'tool-input-start', id, toolName: name },
        ...(input.match(/.{1,8}/gsu) ?? []).map((delta): Part => ({ type: 'tool-input-delta', id, delta })),
        { type: 'tool-input-end', id },
        { type: 'tool-call', toolCallId: id, toolName: name, input },
      ]
    })
    return { parts: [start, ...calls, finish('tool-calls')], end: 'closed' }
  }
  const deltas = (step.says.match(/.{1,8}/gsu) ?? []).map((delta): Part => ({ type: 'text-delta', id: 't', delta }))
  const text: readonly Part[] = [{ type: 'text-start', id: 't' }, ...deltas]
  if (step.ends === undefined)
    return { parts: [start, ...text, { type: 'text-end', id: 't' }, finish('stop')], end: 'closed' }
  const { how, where } = step.ends
  return { parts: [start, ...(where === 'in text' ? text.slice(0, 2) : [])], end: how }
}

type Reading = Pick<
  AdapterSuiteOptions<ModelRequest>,
  'getTools' | 'getResults' | 'getPrefixes' | 'getOutputSchema' | 'sendsOutputSchema'
>

/** How to read a model's request. */
export const modelWire: Reading = {
  sendsOutputSchema: 'without tools',
  getTools: ({ options }) => (options.tools ?? []).map(({ name }) => name),
  getResults: ({ options }) =>
    options.prompt.flatMap(({ role, content }) =>
      role === 'tool'
        ? content.flatMap((part) =>
            part.type === 'tool-result' && 'value' in part.output && typeof part.output.value === 'string'
              ? [part.output.value]
              : [],
          )
        : [],
    ),
  getPrefixes: ({ tools, prompt }) => [tools.slice(0, -1), prompt.slice(0, -1)],
  getOutputSchema: ({ options }) =>
    options.responseFormat?.type === 'json' ? options.responseFormat.schema : undefined,
}
