import {
  contextFiles,
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  openOrRead,
  openSections,
  readSection,
  runAgent,
  type AgentOptions,
  type DisclosureStrategy,
} from 'foldout'
import { createMemoryFilesystem, filesSection } from 'foldout/files'
import { calls, callsAll, says, scriptedAdapter, type ScriptStep } from 'foldout/testing'
import { visibility } from 'foldout/session'
import * as z from 'zod'
import type { Page } from './page.ts'

const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refund an order in full.',
  params: z.object({ order: z.string(), region: z.enum(['north', 'south']).optional() }),
  execute: ({ order }) => ok(`Order ${order} is refunded.`),
})
const breaks = defineTool({
  name: 'breaks',
  description: 'Throws.',
  execute: () => {
    throw new Error('the warehouse does not answer')
  },
})
const sections = [
  defineSection({ key: 'role', title: 'Role', template: 'You answer customers.', tools: [breaks] }),
  defineSection({
    key: 'refunds',
    title: 'Refunds',
    template: 'Refund orders within 30 days.',
    summary: 'The refund policy.',
    visibility: 'summary',
    tools: [refundOrder],
    children: [defineSection({ key: 'vouchers', title: 'Vouchers', template: 'A voucher is valid for a year.' })],
  }),
  defineSection({
    key: 'tone',
    title: 'Tone',
    template: 'Write two sentences at most.',
    summary: 'How to write.',
    visibility: 'summary',
  }),
  filesSection({ readOnly: true }),
] as const
const prompt = definePrompt({ ns: 'desk', key: 'support', sections, output: z.object({ answer: z.string() }) })

type Settings = Partial<AgentOptions> & { readonly supportsDynamicTools?: boolean }

/** Runs a script and records what the model reads, call by call. */
async function play(page: Page, script: readonly ScriptStep[], settings: Settings = {}): Promise<void> {
  const { supportsDynamicTools = true, ...options } = settings
  const adapter = scriptedAdapter([...script, says('{"answer":"Done."}')], { supportsDynamicTools })
  const { messages } = await runAgent(prompt.bind({}), {
    adapter,
    session: createSession(),
    filesystem: createMemoryFilesystem(),
    input: 'Hello.',
    ...options,
  })
  const made = new Map<string, string>()
  for (const message of messages) {
    if (message.role === 'assistant') {
      for (const { id, name, arguments: args, malformed } of message.toolCalls)
        made.set(id, `${name} ${malformed ?? JSON.stringify(args)}`)
    }
    if (message.role === 'tool') page.text(made.get(message.callId) ?? message.name, message.text)
    if (message.role === 'user' && message.text !== 'Hello.') page.text('said to the model', message.text)
  }
}

export async function writeDisclosure(page: Page): Promise<void> {
  for (const strategy of [readSection(), openSections(), openOrRead(), contextFiles()]) {
    page.heading(`${strategy.name}: the prompt and its disclosure tools`)
    const rendered = prompt.bind({}).render({ disclosure: strategy })
    for (const path of rendered.summarized) {
      const node = rendered.nodes.find((found) => found.path === path)
      page.text(`section ${path}, folded`, node?.text ?? '')
    }
    for (const tool of rendered.tools.filter(({ name }) => /_sections?$/.test(name))) {
      page.text(`tool ${tool.name}`, `${tool.description}\n${JSON.stringify(tool.inputSchema, undefined, 2)}`)
    }
  }
  await writeReading(page)
  await writeOpening(page, openSections())
  await writeOpening(page, contextFiles())
}

const read = (key: unknown): ScriptStep => calls('read_section', { section_key: key })
const open = (keys: unknown, reason = 'The customer asks.'): ScriptStep =>
  calls('open_sections', { section_keys: keys, reason })

async function writeReading(page: Page): Promise<void> {
  page.heading('readSection: answers, where tools can be added')
  await play(page, [
    calls('refund_order', { order: 'A-17' }),
    read('refund'),
    read('2'),
    read('refunds'),
    read('Tone'),
    read(['tone']),
    calls('read_section', { key: 'tone' }),
  ])
  page.heading('readSection: answers, where the run restarts')
  await play(page, [callsAll(['read_section', { section_key: 'refunds' }], ['breaks', {}]), read('tone')], {
    supportsDynamicTools: false,
  })
  page.heading('readSection: an opening that does not fit the window')
  await play(page, [read('refunds')], { contextWindow: 950 })
}

async function writeOpening(page: Page, disclosure: DisclosureStrategy): Promise<void> {
  page.heading(`${disclosure.name}: answers`)
  await play(page, [open([]), open(['refund']), open(['tone']), open(['refunds']), open(['role'])], { disclosure })
  page.heading(`${disclosure.name}: one section at a time`)
  await play(page, [open(['refunds', 'tone'])], { disclosure, opening: 'conservative' })
}

export async function writeCalls(page: Page): Promise<void> {
  page.heading('Calls of tools: mistakes and failures')
  await play(page, [
    calls('refund', { order: 'A-17' }),
    calls('breaks', {}),
    calls('breaks', { hard: true }),
    read('refunds'),
    calls('refund_order', {}),
    calls('refund_order', { order: 7, region: 'west' }),
    calls('refund_order', { order: 'A-17', who: 'me' }),
    calls('refund_order', { order: 'A-17' }),
  ])
  page.heading('Calls of tools that a person has to approve, and a section that a tool opens')
  await writeApprovals(page)
  page.heading('Structured output: what a model is told to fix')
  for (const answer of ['I am done.', '["done"]', '{}', '{"answer": 7}', '{"answer": "Done.", "mood": "good"}']) {
    await play(page, [says(answer)])
  }
}

async function writeApprovals(page: Page): Promise<void> {
  const pay = defineTool({ name: 'pay', description: 'Pays.', needsApproval: true, execute: () => ok('Paid.') })
  const unlock = defineTool({
    name: 'unlock',
    description: 'Unlocks.',
    execute: (_, { session }) => (
      session.dispatch(visibility.events.set({ path: 'tone', visibility: 'full' })),
      ok('Unlocked.')
    ),
  })
  const desk = defineSection({ key: 'desk', title: 'Desk', template: 'Pay.', tools: [pay, unlock] })
  const bound = definePrompt({ ns: 'desk', key: 'approvals', sections: [desk, sections[2]] }).bind({})
  const session = createSession()
  const script = [callsAll(['pay', {}], ['pay', {}], ['pay', {}]), calls('unlock', {}), says('Done.')]
  const adapter = scriptedAdapter(script)
  const { approvals } = await runAgent(bound, { adapter, session, input: 'Hello.' })
  const [first, second] = approvals.map(({ callId, digest }) => ({ callId, digest, approved: false }))
  if (!first || !second) throw new Error('Nobody was asked.')
  const answers = [{ ...first, reason: 'It is too expensive.' }, second]
  const { messages } = await runAgent(bound, { adapter, session, approvals: answers, input: 'Never mind.' })
  const cannotWait = { ...scriptedAdapter([calls('pay'), says('Done.')]), canPause: false }
  const refused = await runAgent(bound, { adapter: cannotWait, input: 'Hello.' })
  const when = [
    'not approved, with a reason',
    'not approved',
    'the user went on',
    'a section was opened',
    'it cannot wait',
  ]
  const results = [...messages, ...refused.messages].flatMap((message) =>
    message.role === 'tool' ? [message.text] : [],
  )
  for (const [at, text] of results.entries()) page.text(when[at] ?? '', text)
}
