import { expect, it } from 'vitest'
import { chatAdapter, NO_USAGE } from '../entries/adapter.ts'
import { createSession, definePrompt, defineSection, defineTool, ok, runAgent } from '../entries/index.ts'
import { visibility } from '../session/visibility.ts'
import { startCpuClock } from '../core/cpu.fixtures.ts'
import * as z from 'zod'

const PER_REPLY = 10

/** Opens all sections of a prompt, ten in each reply, and returns the processor time in milliseconds. */
async function measure(count: number): Promise<number> {
  const createTool = (at: number) =>
    defineTool({ name: `act-${at}`, description: 'Acts.', params: z.object({}), execute: () => ok('Done.') })
  const sections = Array.from({ length: count }, (_, at) =>
    defineSection({
      key: `part-${at}`,
      title: `Part ${at}`,
      template: `What part ${at} says.`,
      summary: `Part ${at}.`,
      visibility: 'summary',
      tools: [createTool(at)],
    }),
  )
  const bound = definePrompt({ ns: 'docs', key: 'many', sections }).bind()
  let opened = 0
  const adapter = chatAdapter({
    name: 'opens',
    model: 'everything',
    async complete() {
      const keys = sections.slice(opened, opened + PER_REPLY).map(({ key }) => key)
      opened += PER_REPLY
      const toolCalls = keys.map((key) => ({
        id: `call-${key}`,
        name: 'read_section',
        arguments: { section_key: key },
      }))
      return { message: { role: 'assistant', text: keys.length > 0 ? '' : 'Done.', toolCalls }, usage: NO_USAGE }
    },
  })
  const session = createSession()
  const getMilliseconds = startCpuClock()
  const { status } = await runAgent(bound, { adapter, session, input: 'Open everything.', maxTurns: count })
  const milliseconds = getMilliseconds()
  expect(status).toBe('completed')
  expect(Object.keys(session.get(visibility))).toHaveLength(count)
  return milliseconds
}

it('R35 opening every section of a large prompt takes time in proportion to their number', async () => {
  await measure(50)
  let growth = Infinity
  // A busy machine may disturb one measurement.
  for (let attempt = 0; attempt < 3 && growth > 8; attempt++) {
    const few = await measure(200)
    growth = Math.min(growth, (await measure(800)) / few)
  }
  // Four times as many sections: 4 is linear, and 16 is quadratic.
  expect(growth).toBeLessThan(8)
}, 60_000)
