// A catalog of forty tools as a section of a prompt: the model is offered two tools, finds the one it needs and runs it.
import assert from 'node:assert/strict'
import { all, catalogSection, createCatalog, hybrid, type Exposure } from 'foldout/catalog'
import { createSession, definePrompt, defineSection, defineSlice, defineTool, ok, runAgent } from 'foldout'
import { calls, says, scriptedAdapter } from 'foldout/testing'
import * as z from 'zod'

const shipped = defineSlice({
  name: 'shipped',
  initial: [] as readonly string[],
  reducers: { add: (orders, order: string) => [...orders, order] },
})

const shipOrder = defineTool({
  name: 'ship_order',
  description: 'Hand a packed order to the carrier.',
  params: z.object({ order: z.string(), carrier: z.enum(['post', 'courier']).default('post') }),
  execute({ order, carrier }, { session }) {
    session.dispatch(shipped.events.add(order))
    return ok(`Order ${order} goes by ${carrier}.`)
  },
})
const reports = ['sales', 'stock', 'returns'].flatMap((topic) =>
  Array.from({ length: 13 }, (_, week) =>
    defineTool({
      name: `${topic}_report_week_${week + 1}`,
      description: `Figures on ${topic} of week ${week + 1}.`,
      execute: () => ok('Nothing unusual.'),
    }),
  ),
)

const catalog = createCatalog([shipOrder, ...reports])
const task = defineSection({ key: 'task', title: 'Task', template: 'Run the warehouse of ${shop}.' })
const promptWith = (expose: Exposure) =>
  definePrompt({ ns: 'shops', key: 'warehouse', sections: [task, catalogSection(catalog, { expose })] }).bind({
    shop: 'Lampworks',
  })

const bound = promptWith(hybrid())
const { text, tokens } = bound.render()
const everything = promptWith(all()).render().tokens
console.log(
  `${text}\n\n   tokens  ~${tokens.total} with tools, ~${everything.total} with all ${catalog.tools.length} listed\n`,
)
assert(tokens.total < everything.total / 5)

const adapter = scriptedAdapter([
  calls('search_tools', { query: 'give a parcel to the courier', limit: 1 }),
  calls('use_tool', { name: 'ship_order', arguments: { order: 'A-17', carrier: 'courier' } }),
  says('Order A-17 is on its way.'),
])
const session = createSession({ slices: [shipped] })
const ran: string[] = []
const { messages } = await runAgent(bound, {
  adapter,
  session,
  input: 'Send A-17 by courier.',
  onEvent(event) {
    // Approvals and recordings see the tool that is actually run.
    if (event.type === 'tool/called') ran.push(event.target?.name ?? event.call.name)
  },
})
for (const message of messages) {
  if (message.role === 'assistant') {
    for (const call of message.toolCalls) console.log(`→ ${call.name} ${JSON.stringify(call.arguments)}`)
    if (message.text) console.log(message.text)
  } else if (message.role === 'tool') console.log(`  ${message.text}`)
}
adapter.assertDone()
assert.deepEqual(adapter.requests[0]!.tools, ['search_tools', 'use_tool'])
assert.deepEqual(ran, ['search_tools', 'ship_order'])
assert.deepEqual(session.get(shipped), ['A-17'])
