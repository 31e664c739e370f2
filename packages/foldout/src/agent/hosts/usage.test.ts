import { expect, it } from 'vitest'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import type { HostReply, HostReport } from './core/contract.ts'
import { reportReply } from './ai-sdk/report.ts'
import { watchMessages } from './claude-agent/report.ts'
import { readChunks } from './mastra/prompt.ts'

const STEP = {
  inputTokens: 100,
  inputTokenDetails: { cacheReadTokens: 60, cacheWriteTokens: 30 },
  outputTokens: 20,
  outputTokenDetails: { reasoningTokens: 5 },
  raw: { cache_creation: { ephemeral_1h_input_tokens: 30 } },
}
const BILLED = {
  inputTokens: 100,
  outputTokens: 20,
  cachedInputTokens: 60,
  cacheWriteTokens: 30,
  cacheWriteTokens1h: 30,
  reasoningTokens: 5,
}

/** A report that keeps the usage of replies. */
function listen(): { readonly report: HostReport; readonly usages: HostReply['usage'][] } {
  const usages: HostReply['usage'][] = []
  const report: Partial<HostReport> = {
    isOn: true,
    sent: () => undefined,
    finished: () => undefined,
    replied: ({ usage }) => void usages.push(usage),
  }
  return { report: report as HostReport, usages }
}

it('R77 the loops of the AI SDK and Mastra report writes, reasoning and prices, not only reads', () => {
  const { report, usages } = listen()
  reportReply(report, { text: 'Done.', usage: STEP, providerMetadata: { gateway: { cost: '0.0045' } } }, [])
  expect(usages).toEqual([{ ...BILLED, costUsd: 0.0045 }])
  expect(readChunks([{ type: 'finish', payload: { output: { usage: STEP } } }]).usage).toEqual(BILLED)
})

it('R77 the loop of the Claude Agent SDK counts what compaction costs, and writes for an hour', () => {
  const { report, usages } = listen()
  const { onMessage } = watchMessages(report, { prompt: {} as RenderedPrompt, getTools: () => [] })
  const usage = {
    input_tokens: 10,
    output_tokens: 20,
    cache_creation_input_tokens: 30,
    cache_creation: { ephemeral_1h_input_tokens: 30 },
    iterations: [{ type: 'compaction', input_tokens: 180_000, output_tokens: 3_500 }],
  }
  onMessage({ type: 'assistant', message: { content: [{ type: 'text', text: 'Done.' }], usage } })
  onMessage({ type: 'result' })
  expect(usages).toMatchObject([
    { inputTokens: 180_040, outputTokens: 3_520, cacheWriteTokens: 30, cacheWriteTokens1h: 30 },
  ])
})
