export { createUIMessageStreamResponse, generateText, stepCountIs } from 'ai'
import { simulateReadableStream, type LanguageModel } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
}
const finishReason = { unified: 'stop' as const, raw: 'stop' }

/** A model that answers every request. */
export const google = (_model: string): Exclude<LanguageModel, string> =>
  new MockLanguageModelV3({
    doGenerate: async () => ({ content: [{ type: 'text', text: 'Done.' }], finishReason, usage, warnings: [] }),
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: 'Done.' },
          { type: 'text-end', id: '1' },
          { type: 'finish', finishReason, usage },
        ],
      }),
    }),
  })
export const model: LanguageModel = google('gemini-3-pro')
