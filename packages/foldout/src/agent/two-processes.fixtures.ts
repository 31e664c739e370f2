// A process that runs an agent with a slow tool in a stored session, and reports on standard output what it does.
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { definePrompt, defineSection, defineTool, FoldoutError, ok, openSession, runAgent } from '../entries/index.ts'
import { chatAdapter } from '../entries/adapter.ts'
import { createLibsqlStore } from '../entries/libsql.ts'
import * as z from 'zod'

const [path = '', effects = '', ms = '1000', ifHeld = 'refuse', calls = '1', payMs = '1500'] = process.argv.slice(2)

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  params: z.object({}),
  async execute() {
    appendFileSync(effects, `${process.pid}\n`)
    console.log('paying')
    await sleep(Number(payMs))
    return ok('paid')
  },
})
const prompt = definePrompt({
  ns: 't',
  key: 't',
  sections: [defineSection({ key: 'a', title: 'A', template: 'Pay.', tools: [pay] })],
})
const adapter = chatAdapter({
  name: 'scripted',
  model: 'script',
  async complete({ messages }) {
    const turn = messages.filter(({ role }) => role === 'assistant').length
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
    const toolCalls = turn < Number(calls) ? [{ id: `call-${turn}`, name: 'pay', arguments: {} }] : []
    return { message: { role: 'assistant', text: toolCalls.length > 0 ? '' : 'Done.', toolCalls }, usage }
  },
})
const store = await createLibsqlStore({ path })
const session = await openSession({ store, id: 'run' })
console.log('opened')
try {
  const lease = { ms: Number(ms), ifHeld: ifHeld as 'refuse' }
  const { text } = await runAgent(prompt.bind(), {
    adapter,
    session,
    lease,
    ...(ifHeld === 'wait' ? {} : { input: 'Go.' }),
  })
  console.log(`end ${text}`)
} catch (error) {
  console.log(`refused ${error instanceof FoldoutError ? error.code : String(error)}`)
}
await store.close()
