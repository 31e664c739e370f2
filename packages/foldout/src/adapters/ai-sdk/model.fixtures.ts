import { simulateReadableStream } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'

export type StreamPart =
  Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never
export type CallOptions = Parameters<MockLanguageModelV3['doStream']>[0]
export type Generated = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>

export const usage = {
  inputTokens: { total: 100, noCache: 60, cacheRead: 30, cacheWrite: 10 },
  outputTokens: { total: 7, text: 7, reasoning: 0 },
}

export function call(name: string, input: unknown, id = `call_${name}`): StreamPart {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return { type: 'tool-call', toolCallId: id, toolName: name, input: text }
}

export function says(...deltas: readonly string[]): StreamPart[] {
  return [
    { type: 'text-start', id: '1' },
    ...deltas.map((delta) => ({ type: 'text-delta' as const, id: '1', delta })),
    { type: 'text-end', id: '1' },
  ]
}

export function finish(unified: 'stop' | 'tool-calls' | 'length' = 'stop'): StreamPart {
  return { type: 'finish', usage, finishReason: { unified, raw: unified } }
}

/** A model that streams one scripted reply after another, or throws if the reply is an error. */
export function scripted(...replies: readonly (readonly StreamPart[] | Error)[]): MockLanguageModelV3 {
  const left = [...replies]
  return new MockLanguageModelV3({
    provider: 'test.chat',
    modelId: 'test-1',
    doStream: async () => {
      const reply = left.shift()
      if (reply === undefined) throw new Error('The script is over.')
      if (reply instanceof Error) throw reply
      return { stream: simulateReadableStream({ chunks: [...reply], initialDelayInMs: null, chunkDelayInMs: null }) }
    },
  })
}

/**
 * A model for `generateText` that answers each request with the result of a function, which receives the request and
 * its number.
 */
export function answering(answer: (number: number, options: CallOptions) => Generated['content']): MockLanguageModelV3 {
  let number = 0
  return new MockLanguageModelV3({
    doGenerate: async (options) => {
      const content = answer(number++, options)
      const unified = content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop'
      return { content, usage, warnings: [], finishReason: { unified, raw: unified } }
    },
  })
}

export function toolNames(options: CallOptions | undefined): string[] {
  return (options?.tools ?? []).map(({ name }) => name)
}
