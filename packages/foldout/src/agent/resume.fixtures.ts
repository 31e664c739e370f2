// A process that runs an agent in a stored session, and reports on standard output what it executes and what is on
// disk. It is started repeatedly, and killed in between.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  agentRun,
  defineSlice,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  openSession,
  runAgent,
} from '../entries/index.ts'
import { chatAdapter } from '../entries/adapter.ts'
import type { SessionStore } from '../entries/session.ts'
import { createLibsqlStore } from '../entries/libsql.ts'
import * as z from 'zod'

export const TURNS = 12

const done = defineSlice({
  name: 'done',
  initial: [] as readonly number[],
  reducers: { added: (state, n: number) => [...state, n] },
})
const tool = (name: string) =>
  defineTool({
    name,
    description: name,
    annotations: { idempotentHint: true },
    params: z.object({ n: z.number() }),
    execute: async ({ n }, { session }) => {
      console.log(`exec ${n}`)
      // Of two concurrent calls, one ends long before the other; the process is killed in between.
      await sleep(n % 2 === 0 ? 1 : 60)
      session.dispatch(done.events.added(n))
      return ok(`did ${n}`)
    },
  })
const prompt = definePrompt({
  ns: 't',
  key: 't',
  sections: [
    defineSection({ key: 'a', title: 'A', template: '', tools: [tool('work')] }),
    defineSection({
      key: 'b',
      title: 'B',
      template: 'More.',
      summary: 's',
      visibility: 'summary',
      tools: [tool('extra')],
    }),
  ],
})

/** Derives the next reply from the conversation alone, like a model. */
const model = chatAdapter({
  name: 'scripted',
  model: 'script',
  async complete({ messages }) {
    const turn = messages.filter(({ role }) => role === 'assistant').length
    const call = (name: string, args: object, i: number) => ({ id: `call-${turn}-${i}`, name, arguments: args })
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
    await sleep(Math.random() * 4)
    if (turn >= TURNS) return { message: { role: 'assistant', text: 'Done.', toolCalls: [] }, usage }
    if (turn === 3)
      return {
        message: { role: 'assistant', text: '', toolCalls: [call('read_section', { section_key: 'b' }, 0)] },
        usage,
      }
    const name = turn > 3 ? 'extra' : 'work'
    const toolCalls = [0, 1].map((i) => call(name, { n: turn * 2 + i }, i))
    return { message: { role: 'assistant', text: '', toolCalls }, usage }
  },
})

/** Reports each result as soon as it is on disk. */
function telling(store: SessionStore): SessionStore {
  return {
    ...store,
    async append(id, events) {
      await store.append(id, events)
      for (const { event } of events) {
        if (event.type === done.events.added.type) console.log(`ack ${String(event.payload)}`)
      }
    },
  }
}

const [path] = process.argv.slice(2)
if (path) {
  const store = telling(await createLibsqlStore({ path }))
  const session = await openSession({ store, id: 'run', slices: [agentRun, done] })
  const isNew = session.get(agentRun).status === 'new'
  const result = await runAgent(prompt.bind(), {
    adapter: model,
    session,
    lease: { ms: 300 },
    ...(isNew ? { input: 'Go.' } : {}),
  })
  await session.saved()
  console.log(
    `end ${JSON.stringify({ text: result.text, done: session.get(done), turns: result.state.turns, usage: result.usage })}`,
  )
  await store.close()
}
