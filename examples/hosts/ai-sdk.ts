// The AI SDK, version 6 or 7: the session and the messages are on the server.
import { generateText, stepCountIs, type ModelMessage } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { createSession } from 'foldout'
import { createDisclosure } from 'foldout/ai-sdk'
import { checkDesk, desk, questions, reply } from './desk.ts'

/** Stands in for `'openai/gpt-5'`. */
const model = new MockLanguageModelV3({
  async doGenerate({ tools = [] }) {
    const { id, call, text } = reply(tools.map(({ name }) => name))
    const reason = call ? ('tool-calls' as const) : ('stop' as const)
    return {
      content: call
        ? [{ type: 'tool-call', toolCallId: id, toolName: call.name, input: JSON.stringify(call.arguments) }]
        : [{ type: 'text', text }],
      finishReason: { unified: reason, raw: reason },
      usage: {
        inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 0, text: 0, reasoning: 0 },
      },
      warnings: [],
    }
  },
})

const session = createSession()
const messages: ModelMessage[] = []
const answers: string[] = []
for (const content of questions) {
  messages.push({ role: 'user', content })
  const disclosure = await createDisclosure({ prompt: desk, session })
  const result = await generateText({ model, ...disclosure, messages, stopWhen: stepCountIs(10) })
  // Version 7 has the messages of all steps in `responseMessages`.
  messages.push(
    ...('responseMessages' in result ? (result.responseMessages as ModelMessage[]) : result.response.messages),
  )
  answers.push(result.text)
}
checkDesk(answers)
