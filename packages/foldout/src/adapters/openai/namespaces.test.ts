import { readFileSync } from 'node:fs'
import { Validator, type Schema } from '@cfworker/json-schema'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCatalog } from '../../catalog/live/catalog.ts'
import { native } from '../../catalog/exposures/native.ts'
import { tool as catalogTool } from '../../catalog/catalog.fixtures.ts'
import { openai, type OpenAIOptions } from '../../entries/openai.ts'
import { definePrompt, defineSection, defineTool, ok, runAgent, type AgentEvent } from '../../entries/index.ts'
import { createMemoryStore, openSession } from '../../entries/session.ts'
import { catalogSection } from '../../sections/catalog-section.ts'
import type { ProviderAdapter } from '../contract.ts'
import { events, failing, startWire, type Answer, type Wire } from './wire.fixtures.ts'

let wire: Wire
beforeEach(async () => {
  wire = await startWire()
})
afterEach(() => wire[Symbol.asyncDispose]())

const schema = new URL('../../../../../test/providers/wire-schemas/openai-responses.json', import.meta.url)
const validator = new Validator(JSON.parse(readFileSync(schema, 'utf8')) as Schema, '7', false)

function atOpenAI(options: Partial<OpenAIOptions> = {}): ProviderAdapter {
  return openai({
    model: 'gpt-5.4',
    apiKey: 'k',
    baseURL: 'https://api.openai.com/v1',
    fetch: (url, init) => fetch((url as string).replace('https://api.openai.com', wire.url), init),
    ...options,
  })
}

const named = (name: string) =>
  defineTool({ name, description: `Does ${name}.`, execute: () => ok(`${name} is done.`) })
const SERVERS = { 'post office': ' Parcels\nand \u200Bletters.', garden: '' }
const catalog = createCatalog(
  Object.keys(SERVERS).flatMap((source) =>
    ['create', 'find', 'print'].map((action) =>
      catalogTool(`${action}_${source === 'garden' ? 'lawn' : 'parcel'}`, {
        source,
        description: `Will ${action} one.`,
        inputSchema: { type: 'object', properties: { number: { type: 'integer' } } },
      }),
    ),
  ),
  { sources: SERVERS },
)
const prompt = definePrompt({
  ns: 'test',
  key: 'desk',
  sections: [
    defineSection({
      key: 'orders',
      title: 'Orders',
      template: 'Orders come first.',
      summary: 'Refunds and shipping.',
      visibility: 'summary',
      tools: [named('ship')],
      children: [
        defineSection({ key: 'refunds', title: 'Refunds', template: 'Within 30 days.', tools: [named('refund')] }),
      ],
    }),
    defineSection({
      key: 'gifts',
      title: 'Gifts',
      template: 'Wrap them.',
      summary: 'Gifts for ${name}.',
      visibility: 'summary',
      tools: [named('wrap')],
    }),
    catalogSection(catalog, { expose: native() }),
  ],
})
const bound = prompt.bind({ name: 'Ada' })

function reply(...output: readonly object[]): Answer {
  return events([
    ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: { status: 'completed', output } },
  ])
}
const reasons = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }
const searches = (id: string, query: string): object => ({
  type: 'tool_search_call',
  id: `tsc_${id}`,
  call_id: id,
  execution: 'client',
  status: 'completed',
  arguments: { query },
})
const calls = (id: string, name: string, args: object = {}, namespace?: string): object => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: JSON.stringify(args),
  status: 'completed',
  ...(namespace !== undefined && { namespace }),
})
const says = (text: string): object => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})

function expectValid(): void {
  for (const { body } of wire.requests) {
    const { valid, errors } = validator.validate(body)
    expect(valid || errors.at(-1)).toBe(true)
  }
}

function expectAppendOnly(): void {
  const sent = wire.requests.map(({ body }) => JSON.stringify(body.input).slice(0, -1))
  for (const [at, text] of sent.slice(1).entries()) expect(text.startsWith(sent[at] ?? '')).toBe(true)
  expect(new Set(wire.requests.map(({ body }) => JSON.stringify(body.tools))).size).toBe(1)
}

const lastInput = (): unknown => wire.requests.at(-1)?.body.input

describe('namespaces of OpenAI', () => {
  it('R82 are the servers of found tools and the sections that were opened, with their summaries', async () => {
    wire.answerNext(
      reply(reasons, searches('s1', 'print a parcel')),
      reply(reasons, calls('c1', 'print_parcel', { number: 7 }, 'post_office')),
      reply(searches('s2', 'print a lawn')),
      reply(calls('c2', 'read_section', { section_key: 'orders' })),
      reply(calls('c3', 'refund', {}, 'orders'), calls('c4', 'ship', {}, 'orders')),
      reply(calls('c5', 'read_section', { section_key: 'gifts' })),
      reply(says('Done.')),
    )
    const result = await runAgent(bound, { adapter: atOpenAI(), input: 'Print it.' })
    expect(result).toMatchObject({ status: 'completed', text: 'Done.' })
    expectValid()
    expectAppendOnly()
    expect(lastInput()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'tool_search_output',
          tools: [
            {
              type: 'namespace',
              name: 'post_office',
              description: 'Parcels and letters.',
              tools: expect.arrayContaining([
                expect.objectContaining({ type: 'function', name: 'print_parcel', defer_loading: true }),
              ]),
            },
          ],
        }),
        expect.objectContaining({
          type: 'tool_search_output',
          tools: [expect.objectContaining({ name: 'garden', description: 'Tools of garden.' })],
        }),
        expect.objectContaining({ type: 'function_call', name: 'print_parcel', namespace: 'post_office' }),
        expect.objectContaining({
          type: 'additional_tools',
          tools: [
            expect.objectContaining({
              type: 'namespace',
              name: 'orders',
              description: 'Refunds and shipping.',
              tools: [expect.objectContaining({ name: 'ship' }), expect.objectContaining({ name: 'refund' })],
            }),
          ],
        }),
        expect.objectContaining({ type: 'function_call', name: 'refund', namespace: 'orders' }),
        expect.objectContaining({
          type: 'additional_tools',
          tools: [expect.objectContaining({ name: 'gifts', description: 'Gifts for Ada.' })],
        }),
      ]),
    )
    expect(result.state.messages.filter((each) => each.role === 'tool' && each.isError)).toEqual([])
  })

  it('R82 R39 are the same in another process, and a later turn begins with the earlier one', async () => {
    const store = createMemoryStore()
    wire.answerNext(
      reply(calls('c1', 'read_section', { section_key: 'gifts' })),
      reply(says('Open.')),
      reply(searches('s1', 'print a parcel')),
      reply(calls('c2', 'wrap', {}, 'gifts')),
      reply(says('Wrapped.')),
      reply(says('Bye.')),
    )
    for (const input of ['Open it.', 'Wrap it.', 'Thanks.']) {
      const session = await openSession({ store, id: 'chat' })
      await runAgent(bound, { adapter: atOpenAI(), session, input })
      await session.saved()
    }
    expect(wire.requests).toHaveLength(6)
    expectAppendOnly()
    expectValid()
  })

  it.each([
    ['a refusal that names them', "Invalid value: 'namespace'. Supported values are: 'function' and 'custom'."],
    ['a refusal that explains nothing', 'Invalid request.'],
  ])('R82 are left out after %s, beyond the process', async (_what, message) => {
    const learned = new Set<string>()
    const warnings: string[] = []
    const onEvent = (event: AgentEvent): void => void (event.type === 'warning' && warnings.push(event.message))
    wire.answerNext(
      reply(reasons, calls('c1', 'read_section', { section_key: 'orders' })),
      failing(400, message),
      reply(reasons, calls('c2', 'refund')),
      reply(says('Done.')),
    )
    const result = await runAgent(bound, { adapter: atOpenAI({ learned }), input: 'Go on.', onEvent })
    expect(result).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(warnings).toEqual([expect.stringContaining('does not support namespaces')])
    expect([...learned]).toEqual(['api.openai.com gpt-5.4 namespaces'])
    expect(lastInput()).toContainEqual(
      expect.objectContaining({
        type: 'additional_tools',
        tools: [expect.objectContaining({ name: 'ship' }), expect.anything()],
      }),
    )
    wire.answerNext(reply(calls('c1', 'read_section', { section_key: 'orders' })), reply(says('Done.')))
    await runAgent(bound, { adapter: atOpenAI({ learned: new Set(learned) }), input: 'Go on.' })
    expect(JSON.stringify(lastInput())).not.toContain('namespace')
  })

  it('R82 are short and well-formed, whatever sections say of themselves', async () => {
    const summary = `\ud83d ${'long '.repeat(800_000)}`
    const section = {
      title: 'Lone',
      template: 'Alone.',
      summary,
      visibility: 'summary',
      tools: [named('stay')],
    } as const
    const lone = defineSection({ key: 'lone', ...section })
    wire.answerNext(reply(calls('c1', 'read_section', { section_key: 'lone' })), reply(says('Done.')))
    const alone = definePrompt({ ns: 'test', key: 'lone', sections: [lone] }).bind()
    await runAgent(alone, { adapter: atOpenAI(), input: 'Go on.' })
    const { tools } = wire.requests.at(-1)?.body.input.at(-1) ?? {}
    expect(tools[0].description).toMatch(/^\ufffd long [\s\S]{1,200}…$/)
  })

  it('R82 are not sent to models before GPT-5.4, nor where tools are added in another way', async () => {
    for (const options of [
      { model: 'gpt-5' },
      { toolAdditions: 'plain' as const },
      { toolAdditions: 'through' as const },
    ]) {
      wire.answerNext(reply(calls('c1', 'read_section', { section_key: 'orders' })), reply(says('Done.')))
      await runAgent(bound, { adapter: atOpenAI(options), input: 'Go on.' })
      expect(JSON.stringify(wire.requests.at(-1)?.body)).not.toContain('namespace')
    }
  })
})
