// Mastra: what is open is in the thread, so a memory of the last two messages is enough.
import { Agent } from '@mastra/core/agent'
import { MockMemory } from '@mastra/core/memory'
import { InMemoryStore } from '@mastra/core/storage'
import { FoldoutProcessor } from 'foldout/mastra'
import { checkDesk, desk, questions, reply } from './desk.ts'

/** Stands in for `'openai/gpt-5'`. */
const model = {
  specificationVersion: 'v2',
  provider: 'example',
  modelId: 'scripted',
  supportedUrls: {},
  async doGenerate({ tools = [] }: { readonly tools?: readonly { readonly name: string }[] }) {
    const { id, call, text } = reply(tools.map(({ name }) => name))
    const content = call
      ? { type: 'tool-call', toolCallId: id, toolName: call.name, input: JSON.stringify(call.arguments) }
      : { type: 'text', text }
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }
    return { content: [content], finishReason: call ? 'tool-calls' : 'stop', usage, warnings: [] }
  },
}

const agent = new Agent({
  id: 'desk',
  name: 'Desk',
  instructions: 'Be kind.',
  model,
  memory: new MockMemory({ storage: new InMemoryStore(), options: { lastMessages: 2 } }),
  inputProcessors: [new FoldoutProcessor(desk)],
})
const answers: string[] = []
for (const question of questions) {
  const { text } = await agent.generate(question, { memory: { thread: 'one', resource: 'ada' } })
  answers.push(text)
}
checkDesk(answers)
