import { readFileSync } from 'node:fs'
import { Validator, type Schema } from '@cfworker/json-schema'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCatalog } from '../../catalog/live/catalog.ts'
import { native } from '../../catalog/exposures/native.ts'
import { tool as catalogTool } from '../../catalog/catalog.fixtures.ts'
import { openai, type OpenAIOptions } from '../../entries/openai.ts'
import { definePrompt, defineSection, runAgent, type AgentEvent } from '../../entries/index.ts'
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

const NUMBER = { type: 'object', properties: { number: { type: 'integer' } } } as const
const bound = definePrompt({
  ns: 'test',
  key: 'desk',
  sections: [
    defineSection({ key: 'role', title: 'Role', template: 'You help.' }),
    catalogSection(
      createCatalog(
        ['invoice', 'parcel', 'garden', 'violin', 'lantern'].flatMap((thing) =>
          ['create', 'delete', 'find', 'print'].map((action) =>
            catalogTool(`${action}_${thing}`, { description: `Will ${action} one ${thing}.`, inputSchema: NUMBER }),
          ),
        ),
      ),
      { expose: native() },
    ),
  ],
}).bind()

function reply(...output: readonly object[]): Answer {
  return events([
    ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: { status: 'completed', output } },
  ])
}
const reasons = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }
const searches = (id: string, args: unknown): object => ({
  type: 'tool_search_call',
  id: `tsc_${id}`,
  call_id: id,
  execution: 'client',
  status: 'completed',
  arguments: args,
})
const calls = (name: string, id: string): object => {
  return { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: '{"number":7}', status: 'completed' }
}
const says = (text: string): object => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})

async function run(adapter: ProviderAdapter) {
  const warnings: AgentEvent[] = []
  const onEvent = (event: AgentEvent): void => void (event.type === 'warning' && warnings.push(event))
  return { result: await runAgent(bound, { adapter, input: 'Print it.', onEvent }), warnings }
}

describe("OpenAI's own search for tools", () => {
  it('R82 is answered by our ranking with whole definitions, and every request begins with the one before', async () => {
    wire.answerNext(
      reply(reasons, searches('s1', { query: 'print an invoice' })),
      reply(calls('print_invoice', 'c1')),
      reply(searches('s2', '{"query":"find a parcel"}')),
      reply(says('Done.')),
    )
    const { result, warnings } = await run(atOpenAI())
    expect(result).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(warnings).toEqual([])
    for (const { body } of wire.requests) {
      const { valid, errors } = validator.validate(body)
      expect(valid || errors.at(-1)).toBe(true)
      expect(body.tools).toMatchObject([
        { type: 'tool_search', execution: 'client', parameters: { required: ['query'] } },
        { type: 'function', name: 'use_tool' },
      ])
    }
    const { input } = wire.requests[2]?.body ?? {}
    expect(input.slice(1)).toMatchObject([
      { type: 'reasoning', encrypted_content: 'x' },
      { type: 'tool_search_call', call_id: 's1', execution: 'client', arguments: { query: 'print an invoice' } },
      { type: 'tool_search_output', call_id: 's1', execution: 'client', status: 'completed' },
      { role: 'developer', content: expect.stringMatching(/^Callable now by name: print_invoice/) },
      { type: 'function_call', name: 'print_invoice' },
      { type: 'function_call_output', output: 'print_invoice {"number":7}' },
    ])
    expect(input[3].tools[0]).toMatchObject({ type: 'function', name: 'print_invoice', parameters: NUMBER })
    expect(input[3].tools.length).toBeLessThanOrEqual(5)
    const sent = wire.requests.map(({ body }) => JSON.stringify(body.input).slice(0, -1))
    for (const [at, text] of sent.slice(1).entries()) expect(text.startsWith(sent[at] ?? '')).toBe(true)
    // The rest of the program sees a call of the tool that answers.
    expect(result.state.messages[1]).toMatchObject({
      toolCalls: [{ id: 's1', name: 'search_tools', arguments: { query: 'print an invoice' } }],
    })
  })

  it('R82 is a function for models and endpoints without it, and after a refusal, which is remembered', async () => {
    const refusal = failing(400, "Invalid value: 'tool_search'. Supported values are: 'function' and 'web_search'.")
    const search = { ...calls('search_tools', 's1'), arguments: '{"query":"print an invoice"}' }
    const adapter = atOpenAI()
    wire.answerNext(refusal, reply(search), reply(calls('print_invoice', 'c1')), reply(says('Done.')))
    const { result, warnings } = await run(adapter)
    expect(result).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(warnings).toHaveLength(1)
    expect(JSON.stringify(wire.requests.slice(1).map(({ body }) => body))).not.toContain('tool_search')
    expect(wire.requests[2]?.body.input).toContainEqual(expect.objectContaining({ type: 'additional_tools' }))
    for (const other of [adapter, atOpenAI({ model: 'gpt-5' }), atOpenAI({ toolAdditions: 'plain' })]) {
      wire.answerNext(reply(says('Done.')))
      await run(other)
      expect(JSON.stringify(wire.requests.at(-1)?.body)).not.toContain('tool_search')
    }
  })

  it.each([
    ['null', null],
    ['a number', 7],
    ['half a text', '{"quer'],
    ['a wrong type', { query: 7 }],
    ['lists in 2,000 lists', JSON.parse(`${'['.repeat(2000)}${']'.repeat(2000)}`) as unknown],
  ])('R37 answers arguments that make no sense: %s', async (_what, args) => {
    wire.answerNext(reply(searches('s1', args)), reply(says('Done.')))
    const { result } = await run(atOpenAI())
    expect(result.status).toBe('completed')
    const { valid, errors } = validator.validate(wire.requests[1]?.body)
    expect(valid || errors.at(-1)).toBe(true)
  })
})
