import { countTokens } from 'gpt-tokenizer'
import { afterEach, describe, expect, it } from 'vitest'
import { hybrid } from '../../../catalog/exposures/hybrid.ts'
import { definePrompt } from '../../../prompt/prompt.ts'
import { defineSection } from '../../../prompt/definition/section.ts'
import { ok } from '../../../tools/result.ts'
import { defineTool } from '../../../tools/tool.ts'
import { manyKinds } from '../catalog.fixtures.ts'
import { allKinds, getText, inMemory, type TestClient } from '../clients.fixtures.ts'
import { serveMcp } from '../serve-mcp.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

const closing = defineTool({
  name: 'close_account_7392',
  description: 'Closes a bank account.',
  params: { type: 'object' },
  execute: () => ok('Closed.'),
})
const page = (key: string, title: string, template: string, more: object = {}) =>
  defineSection({ key, title, template, summary: `About ${title.toLowerCase()}.`, visibility: 'summary', ...more })
const PRODUCTS = ['Amber', 'Birch', 'Cedar', 'Dahlia', 'Elm', 'Fern', 'Ginger', 'Hazel', 'Iris', 'Juniper'] as const

const bank = definePrompt({
  ns: 'bank',
  key: 'desk',
  sections: [
    page('closing', 'Closing an account', 'The balance must be zero.', { tools: [closing] }),
    ...PRODUCTS.map((name) =>
      page(name.toLowerCase(), name, `Everything about the ${name} account.`, {
        children: [
          page('fees', `${name} fees`, `The ${name} account costs ${name.length} dollars a month.`),
          page('limits', `${name} limits`, `A day's withdrawals from ${name} end at ${name.length * 100} dollars.`),
        ],
      }),
    ),
  ],
}).bind()

describe.each(allKinds)('R85 sections found by what they say, for a %s', (kind) => {
  async function connect(): Promise<TestClient> {
    const served = serveMcp(manyKinds(), { name: 'bank', version: '1.0.0', expose: hybrid(), prompt: bank })
    const client = await inMemory(served, kind)
    open.push(served, client)
    return client
  }

  it('R85 a query opens the section that clearly fits, with its tools', async () => {
    const client = await connect()
    const text = getText(await client.call('read_section', { query: 'close_account_7392' }))
    expect(text).toMatch(/^# Closing an account\n\nThe balance must be zero\./)
    expect(text).toContain('close_account_7392')
    const run = { name: 'close_account_7392', arguments: {} }
    expect(getText(await client.call('use_tool', run))).toBe('Closed.')
  })

  it('R85 a query that fits several answers with their keys, costs and lines, and one of them can be read', async () => {
    const client = await connect()
    const text = getText(await client.call('read_section', { query: 'how many dollars a month does an account cost' }))
    expect(text).toMatch(/Call `read_section` with the key of one:\n- [a-z]+\.fees: .* \(\d+ tokens\)\n {2}The /)
    const [, key = ''] = /- ([a-z.]+):/.exec(text) ?? []
    expect(getText(await client.call('read_section', { section_key: key }))).toContain('dollars a month')
  })

  it('R85 a query that nothing answers, or that is no text, says so', async () => {
    const client = await connect()
    const none = await client.call('read_section', { query: '?!' })
    expect([none.isError, getText(none)]).toEqual([true, 'No section says anything about "?!". Use other words.'])
    expect(getText(await client.call('read_section', { query: 7 }))).toBe("'query' must be a string, in a few words.")
    expect(getText(await client.call('read_section', { search: 'fees' }))).toContain('there is: section_key, query.')
    const long = await client.call('read_section', { query: 'fees '.repeat(800_000) })
    expect(getText(long).length).toBeLessThan(4_000)
  })

  it('R85 the tool and the instructions say that it finds', async () => {
    const client = await connect()
    const { tools } = await client.list()
    expect(tools.find(({ name }) => name === 'read_section')).toMatchObject({
      inputSchema: { properties: { section_key: {}, query: {} } },
    })
    expect(client.instructions()).toMatch(/read_section with a query/)
    expect(countTokens(client.instructions() ?? '')).toBeLessThan(150)
  })
})
