// Any model of the Vercel AI SDK, and the reverse: Foldout's disclosure inside the AI SDK's own loop.
import assert from 'node:assert/strict'
import { generateText, stepCountIs, simulateReadableStream, type LanguageModel } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { createSession } from 'foldout'
import { visibility } from 'foldout/session'
import { aiSdk, createDisclosure } from 'foldout/ai-sdk'
import { runSupportDesk } from './support/run-support-desk.ts'
import { question, refunds, supportDesk } from './support/support-desk.ts'

const isReal = process.env['AI_GATEWAY_API_KEY'] !== undefined
const model = (): LanguageModel => (isReal ? 'openai/gpt-5' : scripted())

console.log("The AI SDK's model in Foldout's loop")
await runSupportDesk(aiSdk({ model: model() }), { isReal })

console.log("\nFoldout's disclosure in the AI SDK's loop")
const session = createSession({ slices: [refunds] })
const disclosure = await createDisclosure({ prompt: supportDesk.bind({ shop: 'Lampworks' }), session })
const { text, steps } = await generateText({
  model: model(),
  ...disclosure,
  prompt: question,
  stopWhen: stepCountIs(10),
})
for (const step of steps) for (const call of step.toolCalls) console.log(`called   ${call.toolName}`)
console.log(`answer   ${text}`)
if (!isReal) {
  assert.deepEqual(session.get(refunds), ['A-17'])
  assert.equal(session.get(visibility)['refunds'], 'full')
}

/** A model that reads the policy, refunds the order and answers. */
function scripted(): LanguageModel {
  const usage = {
    inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 10, text: 10, reasoning: 0 },
  }
  const call = (toolName: string, input: object) => ({
    type: 'tool-call' as const,
    toolCallId: toolName,
    toolName,
    input: JSON.stringify(input),
  })
  const answer = 'Order A-17 is refunded; the money is back within five days.'
  const replies = [[call('read_section', { section_key: 'refunds' })], [call('refund_order', { order: 'A-17' })], []]
  const next = () => {
    const calls = replies.shift() ?? []
    const reason = calls.length > 0 ? ('tool-calls' as const) : ('stop' as const)
    return { calls, finishReason: { unified: reason, raw: reason } }
  }
  return new MockLanguageModelV3({
    doGenerate: async () => {
      const { calls, finishReason } = next()
      return { content: calls.length > 0 ? calls : [{ type: 'text', text: answer }], finishReason, usage, warnings: [] }
    },
    doStream: async () => {
      const { calls, finishReason } = next()
      const text = [
        { type: 'text-start' as const, id: '1' },
        { type: 'text-delta' as const, id: '1', delta: answer },
        { type: 'text-end' as const, id: '1' },
      ]
      const chunks = [...(calls.length > 0 ? calls : text), { type: 'finish' as const, finishReason, usage }]
      return { stream: simulateReadableStream({ chunks }) }
    },
  })
}
