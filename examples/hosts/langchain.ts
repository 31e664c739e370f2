// LangChain on LangGraph: the second question comes to another agent, which only shares the checkpointer.
import { BaseChatModel, type Offered } from '@langchain/core/language_models/chat_models'
import { AIMessage } from '@langchain/core/messages'
import { MemorySaver } from '@langchain/langgraph'
import { foldoutMiddleware } from 'foldout/langchain'
import { createAgent } from 'langchain'
import { checkDesk, desk, questions, reply } from './desk.ts'

/** Stands in for `new ChatOpenAI({ model: 'gpt-5' })`. */
class ScriptedModel extends BaseChatModel {
  tools: readonly Offered[] = []
  constructor() {
    super({})
  }
  _llmType(): string {
    return 'scripted'
  }
  bindTools(tools: readonly Offered[]): ScriptedModel {
    return Object.assign(new ScriptedModel(), { tools })
  }
  async _generate() {
    const { id, call, text } = reply(this.tools.map(({ name }) => name))
    const calls = call ? [{ id, name: call.name, args: call.arguments }] : []
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls: calls }) }] }
  }
}

const checkpointer = new MemorySaver()
const answers: string[] = []
for (const question of questions) {
  const agent = createAgent({ model: new ScriptedModel(), middleware: [foldoutMiddleware(desk)], checkpointer })
  const { messages } = await agent.invoke({ messages: question }, { configurable: { thread_id: 'ada' } })
  answers.push(messages.at(-1)?.text ?? '')
}
checkDesk(answers)
