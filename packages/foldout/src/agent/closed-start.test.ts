import { describe, expect, it } from 'vitest'
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
} from '../entries/index.ts'
import { createMemoryFilesystem } from '../entries/files.ts'
import { visibility } from '../session/visibility.ts'
import { calls, says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import * as z from 'zod'

const TEXT = 'Refund within 30 days. '.repeat(500)
const refund = defineTool({
  name: 'refund_order',
  description: 'Refunds.',
  params: z.object({}),
  execute: () => ok('Refunded.'),
})
const refunds = defineSection({
  key: 'refunds',
  title: 'Refunds',
  template: TEXT,
  summary: 'When to refund.',
  visibility: 'summary',
  tools: [refund],
})
const guide = defineSection({
  key: 'guide',
  title: 'Guide',
  template: 'Be kind.',
  summary: 'How to talk.',
  visibility: 'summary',
  tools: [defineTool({ name: 'talk', description: 'Talks.', params: z.object({}), execute: () => ok('Said.') })],
})
const bound = definePrompt({ ns: 'shop', key: 'closed', sections: [refunds, guide] }).bind()

/** Two inputs of a chat, and what the second one sends; the section is closed between them. */
async function chat(disclosure: DisclosureStrategy, options: Partial<AgentOptions>) {
  const isRead = bound.render({ disclosure }).tools.every(({ name }) => name === 'read_section')
  const adapter = scriptedAdapter(
    [
      isRead
        ? calls('read_section', { section_key: 'refunds' })
        : calls('open_sections', { section_keys: ['refunds'], reason: 'To refund.' }),
      says('Open.'),
      calls('refund_order'),
      says('Done.'),
    ],
    { supportsDynamicTools: false },
  )
  const session = createSession()
  const { input: last = 'And now?', ...others } = options
  const all = { adapter, session, disclosure, filesystem: createMemoryFilesystem(), ...others } as const
  await runAgent(bound, { ...all, input: 'Refund it.' })
  session.dispatch(visibility.events.cleared({ path: 'refunds' }))
  const { messages } = await runAgent(bound, { ...all, input: last })
  return {
    before: adapter.requests[1],
    after: adapter.requests[2],
    answer: messages.findLast(({ role }) => role === 'tool'),
  }
}

const strategies = { readSection, openSections, openOrRead, contextFiles }
describe.each(Object.entries(strategies))('R70 a closed section in the system text: %s', (_name, strategy) => {
  it('leaves it once the cache has expired, and its tools with it', async () => {
    const expired = { refold: { cache: { read: 0.1, write: 1.25, ttlMs: 0 } } }
    const { before, after, answer } = await chat(strategy(), expired)
    expect(before?.system).toContain(TEXT.trim())
    expect(after?.system).not.toContain('30 days')
    expect(after?.tools).not.toContain('refund_order')
    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining("'refunds', which is not open") })
  })

  it('leaves it if the next request would not fit otherwise', async () => {
    const { before, after } = await chat(strategy(), { contextWindow: 4_000, input: `${'And now? '.repeat(500)}` })
    expect(before?.system).toContain(TEXT.trim())
    expect(after?.system).not.toContain('30 days')
  })

  it('stays while the provider has it in its cache', async () => {
    const { before, after } = await chat(strategy(), {})
    expect(after?.system).toBe(before?.system)
  })
})
