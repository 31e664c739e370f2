// A loop of your own: it keeps events, which are plain JSON, with its messages.
import { createHost } from 'foldout/disclosure'
import type { Event } from 'foldout/session'
import { checkDesk, desk, questions, reply } from './desk.ts'

const host = createHost(desk)
let saved = JSON.stringify({ events: [], messages: [] })
const answers: string[] = []
for (const text of questions) {
  const chat = JSON.parse(saved) as { events: Event[]; messages: { role: string; text: string }[] }
  chat.messages.push({ role: 'user', text })
  answers.push(await answer(chat))
  saved = JSON.stringify(chat)
}
checkDesk(answers)

async function answer(chat: { events: Event[]; messages: { role: string; text: string }[] }): Promise<string> {
  for (;;) {
    const now = host.at(chat.events)
    const results = chat.messages.filter(({ role }) => role === 'tool').map(({ text }) => text)
    // Send `system`, `chat.messages` and `now.tools` to a model.
    const { text: system } = now.getPrompt(results)
    if (system === '') throw new Error('There is nothing to send.')
    const { id, call, text } = reply(now.tools.map(({ name }) => name))
    chat.messages.push({ role: 'assistant', text })
    if (!call) return text
    const result = await now.call({ id, ...call })
    chat.events.push(...result.events)
    chat.messages.push({ role: 'tool', text: result.text })
  }
}
