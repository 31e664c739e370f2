import { afterEach, describe, expect, it } from 'vitest'
import { anthropic, type AnthropicToolAdditions } from '../../packages/foldout/src/entries/anthropic.ts'
import { asAnthropic } from '../../packages/foldout/src/adapters/anthropic/harness.fixtures.ts'
import {
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  openSections,
  readSection,
  runAgent,
} from '../../packages/foldout/src/entries/index.ts'
import { startStrictServer, type Block, type Reply, type StrictServer } from './anthropic-server.ts'

let server: StrictServer | undefined
afterEach(() => server?.stop())

const text = (said: string): Block => ({ type: 'text', text: said })
const think = (): Block => ({ type: 'thinking', thinking: 'Let me think.' })

const prompt = definePrompt({
  ns: 'shop',
  key: 'chat',
  sections: [
    defineSection({ key: 'intro', title: 'Intro', template: 'You help customers of a shop.' }),
    defineSection({
      key: 'refunds',
      title: 'Refunds',
      template: 'Refunds take five days.',
      summary: 'How refunds work.',
      visibility: 'summary',
      tools: [defineTool({ name: 'refund', description: 'Refunds an order.', execute: () => ok('Refunded.') })],
    }),
  ],
})

const call = (name: string, input: object = {}): Reply => ({
  content: [think(), { type: 'tool_use', id: `toolu_${name}`, name, input }],
})
const OPENINGS = {
  read_section: { section_key: 'refunds', reason: 'A refund.' },
  open_sections: { section_keys: ['refunds'], reason: 'A refund.' },
}

describe('a chat with a model whose thinking is bound to its conversation', () => {
  it.each<[keyof typeof OPENINGS, AnthropicToolAdditions]>([
    ['read_section', 'auto'],
    ['read_section', 'plain'],
    ['open_sections', 'auto'],
    ['open_sections', 'plain'],
  ])('continues after an opening: %s, tools added %s', async (opener, toolAdditions) => {
    server = await startStrictServer([
      call(opener, OPENINGS[opener]),
      call('refund'),
      { content: [think(), text('It is refunded.')] },
      { content: [think(), text('Five days.')] },
      { content: [think(), text('You are welcome.')] },
    ])
    const adapter = anthropic({ model: 'claude-opus-5-5', apiKey: 'test', ...asAnthropic(server.url), toolAdditions })
    const session = createSession()
    const disclosure = opener === 'read_section' ? readSection() : openSections()
    const answers: string[] = []
    for (const input of ['Refund A-17.', 'How long?', 'Thanks.'])
      answers.push((await runAgent(prompt.bind(), { adapter, session, input, disclosure })).text)
    expect(answers).toEqual(['It is refunded.', 'Five days.', 'You are welcome.'])
    expect(server.refused).toEqual([])
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain('Refunded.')
    // What the model thought since the tools last changed goes back to it.
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain('"thinking"')
  })
})
