// openai-agents: what is open is in the context of the run, which is plain JSON.
import { run, setTracingDisabled, Usage, type AgentInputItem, type Model } from '@openai/agents'
import { foldedAgent, runOptions } from 'foldout/openai-agents'
import { checkDesk, desk, questions, reply } from './desk.ts'

/** Stands in for `'gpt-5'`. */
const model: Model = {
  async getResponse({ tools }) {
    const { id, call, text } = reply(tools.map(({ name }) => name))
    const content = [{ type: 'output_text', text }]
    const output = call
      ? { type: 'function_call', callId: id, name: call.name, arguments: JSON.stringify(call.arguments) }
      : { type: 'message', role: 'assistant', content }
    return { usage: new Usage(), responseId: id, output: [{ ...output, status: 'completed' }] }
  },
  getStreamedResponse() {
    throw new Error('Nothing here is streamed.')
  },
}

setTracingDisabled(true)
const agent = foldedAgent(desk, { name: 'desk', model })
let saved = { context: {}, history: [] as AgentInputItem[] }
const answers: unknown[] = []
for (const content of questions) {
  const { context, history } = JSON.parse(JSON.stringify(saved)) as typeof saved
  const result = await run(agent, [...history, { role: 'user', content }], { ...runOptions(agent), context })
  saved = { context, history: result.history }
  answers.push(result.finalOutput)
}
checkDesk(answers)
