import { specTypeSchemas } from '@modelcontextprotocol/client'
import { ListToolsResultSchema as LegacyListSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, vi } from 'vitest'
import { createCatalog } from '../../catalog/live/catalog.ts'
import type { Catalog } from '../../catalog/contract.ts'
import { getListing } from '../../catalog/listing.ts'
import type { RawTool } from '../../catalog/tool.ts'
import { toMcpTool } from '../serve/views/list.ts'
import { toolsFromMcp } from './tools-from-mcp.ts'
import { connect, LINES, type Line } from '../client/server.fixtures.ts'

const anything = { type: 'object' }
const good = { name: 'good', description: 'All is well with it.', inputSchema: anything }
const getNames = ({ tools }: Catalog): string[] => tools.map(({ name }) => name)

/** The tools of a server that answers each call with the server's name, the tool's name and the arguments. */
async function untidy(line: Line, tools: readonly unknown[], name = 'untidy'): Promise<readonly RawTool[]> {
  const { client } = await connect(line, {
    name,
    answer: ({ method, params }) =>
      method === 'tools/list'
        ? { tools }
        : { content: [{ type: 'text', text: JSON.stringify([name, params['name'], params['arguments']]) }] },
  })
  return toolsFromMcp(client)
}

async function getAnswer(catalog: Catalog, name: string, args: object = {}): Promise<unknown> {
  const { content } = await catalog.call(name, args)
  // An error is not JSON, so parsing it shows the error.
  return JSON.parse(String(content[0]!['text']))
}

async function found(catalog: Catalog, query: string): Promise<string[]> {
  return (await catalog.search(query)).hits.map(({ tool }) => tool.name)
}

describe.each(LINES)('an untidy server, with a client of %s', (line) => {
  it('R43 R49 shares names with another server: each stays callable, in any order of connection', async () => {
    const shared = Array.from({ length: 293 }, (_, i) => ({ name: `do_${i}`, inputSchema: anything }))
    const one = await untidy(line, [...shared, { name: 'only-here', inputSchema: anything }], 'one')
    const other = await untidy(line, shared, 'other')
    const catalog = createCatalog([...one, ...other])
    expect(catalog.broken).toEqual([])
    expect(catalog.tools).toHaveLength(587)
    expect(new Set(getNames(catalog)).size).toBe(587)
    expect(await getAnswer(catalog, 'one__do_7')).toEqual(['one', 'do_7', {}])
    expect(await getAnswer(catalog, 'other__do_7')).toEqual(['other', 'do_7', {}])
    expect(await getAnswer(catalog, 'only-here')).toEqual(['one', 'only-here', {}])
    expect((await catalog.call('do_7', {})).content[0]!['text']).toBe(
      "More than one tool is called 'do_7': one__do_7, other__do_7. Use one of these names.",
    )
    expect(getNames(createCatalog([...other, ...one]))).toEqual(getNames(catalog))
  })

  it('R43 has names that are too long with a prefix: they are cut for models, and sent in full', async () => {
    const long = 'create_or_update_the_configuration_of_a_deployment_in_a_region'
    const servers = ['a-cloud-with-a-long-name', 'another-cloud-with-a-long-name']
    const tools = await Promise.all(
      servers.map((name) =>
        untidy(line, [good, ...['x', 'y'].map((end) => ({ name: long + end, inputSchema: anything }))], name),
      ),
    )
    const catalog = createCatalog(tools.flat())
    expect(catalog.tools).toHaveLength(6)
    expect(new Set(getNames(catalog)).size).toBe(6)
    for (const { name, source, declared } of catalog.tools) {
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      expect(await getAnswer(catalog, name)).toEqual([source, declared, {}])
    }
    const veryLong = `x${'_and_more'.repeat(20)}`
    const alone = createCatalog(await untidy(line, [good, { name: veryLong, inputSchema: anything }]))
    expect(getNames(alone).every((name) => name.length <= 64)).toBe(true)
    expect(await getAnswer(alone, alone.tools[1]!.name)).toEqual(['untidy', veryLong, {}])
  })

  it('R43 has tools without a description: they are described by their names and parameters', async () => {
    const inputSchema = { type: 'object', properties: { invoiceId: { type: 'string' } } }
    const catalog = createCatalog(
      await untidy(line, [good, { name: 'void_invoice', inputSchema }, { name: 'x', description: null, inputSchema }]),
    )
    expect(catalog.broken).toEqual([])
    expect(getNames(catalog)).toEqual(['good', 'void_invoice', 'x'])
    expect(catalog.tools[1]).toMatchObject({ description: '', problem: undefined })
    expect(catalog.tools[1]!.shortDescription).toMatch(/void invoice/i)
    expect((await found(catalog, 'void an invoice'))[0]).toBe('void_invoice')
    expect(await getAnswer(catalog, 'void_invoice', { invoiceId: '7' })).toEqual([
      'untidy',
      'void_invoice',
      { invoiceId: '7' },
    ])
  })

  it('R43 has bare routes for descriptions and names: they are found and called', async () => {
    const routes = [
      { name: 'ai-one', description: 'GET /ai.one', inputSchema: anything },
      { name: 'POST /users/{id}/avatar', description: 'POST /users/{id}/avatar', inputSchema: anything },
    ]
    const catalog = createCatalog(await untidy(line, [good, ...routes]))
    expect(catalog.broken).toEqual([])
    expect(getNames(catalog).every((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name))).toBe(true)
    expect((await found(catalog, 'ai one'))[0]).toBe('ai-one')
    const [avatar] = await found(catalog, 'change the avatar of a user')
    expect(await getAnswer(catalog, avatar!)).toEqual(['untidy', 'POST /users/{id}/avatar', {}])
    expect(await getAnswer(catalog, 'POST /users/{id}/avatar')).toEqual(['untidy', 'POST /users/{id}/avatar', {}])
  })

  it('R43 has its only descriptive words in enum values: they are searched', async () => {
    const action = { type: 'string', enum: ['reboot_printer', 'defragment_disk', 'rotate_logs'] }
    const router = {
      name: 'execute',
      description: 'Executes.',
      inputSchema: { type: 'object', properties: { action } },
    }
    const neighbors = ['weather', 'calendar', 'mail'].map((name) => ({
      name,
      description: `The ${name} of today.`,
      inputSchema: anything,
    }))
    const catalog = createCatalog(await untidy(line, [good, ...neighbors, router]))
    expect((await found(catalog, 'defragment the disk'))[0]).toBe('execute')
    expect(await getAnswer(catalog, 'execute', { action: 'rotate_logs' })).toEqual([
      'untidy',
      'execute',
      { action: 'rotate_logs' },
    ])
  })

  it("R43 violates the protocol's schema: tools with a name are callable, the others are listed with the reason", async () => {
    const catalog = createCatalog(
      await untidy(line, [
        null,
        ['list'],
        { title: 'Nameless', inputSchema: anything },
        { name: 7, inputSchema: anything },
        { name: '  ', inputSchema: anything },
        good,
        { name: 'good', description: 'The same again.', inputSchema: anything },
        { name: 'no-schema' },
        { name: 'null-schema', inputSchema: null },
        { name: 'text-schema', inputSchema: '{"type":"object"}' },
        { name: 'string-schema', inputSchema: { type: 'string' } },
        { name: 'list-schema', inputSchema: [] },
        { name: 'typeless', inputSchema: { properties: { a: { type: 'string' } } } },
        { name: 'wrong-texts', description: { en: 'Hello' }, title: 7, inputSchema: anything },
        { name: 'wrong-output', inputSchema: anything, outputSchema: 'text' },
        { name: 'list-output', inputSchema: anything, outputSchema: { type: 'array', items: { type: 'string' } } },
        { name: 'wrong-annotations', inputSchema: anything, annotations: ['readOnly'], _meta: 'none', icons: {} },
        { name: 'wrong-hint', inputSchema: anything, annotations: { readOnlyHint: 'yes' } },
        { name: 'boolean-property', inputSchema: { type: 'object', properties: { a: true } } },
        { name: 'wrong-properties', inputSchema: { type: 'object', properties: ['a'], required: 'a' } },
      ]),
    )
    expect(catalog.broken).toEqual([
      { source: 'untidy', name: 'null', reason: 'Its definition has no name.' },
      { source: 'untidy', name: '["list"]', reason: 'Its definition has no name.' },
      { source: 'untidy', name: 'Nameless', reason: 'Its definition has no name.' },
      { source: 'untidy', name: '?', reason: 'Its definition has no name.' },
      { source: 'untidy', name: '?', reason: 'Its definition has no name.' },
      { source: 'untidy', name: 'good', reason: "There is another tool 'untidy/good'; the first one is kept." },
    ])
    expect(catalog.tools).toHaveLength(14)
    for (const { name } of catalog.tools) expect(await getAnswer(catalog, name)).toEqual(['untidy', name, {}])
    expect(catalog.tools.filter(({ problem }) => problem !== undefined).map(({ name }) => name)).toEqual([
      'list-schema',
      'string-schema',
      'text-schema',
      'wrong-annotations',
      'wrong-output',
      'wrong-properties',
      'wrong-texts',
    ])
    // Listed tools must not break the lists of clients.
    const list = (era: 'legacy' | 'modern') => ({
      tools: catalog.tools.map((entry) => toMcpTool(getListing(entry), era)),
    })
    expect(LegacyListSchema.safeParse(list('legacy'))).toMatchObject({ success: true })
    expect(specTypeSchemas.ListToolsResult['~standard'].validate(list('modern'))).not.toHaveProperty('issues')
  })

  it('R43 has schemas that do not compile: they are shown with their fault, and arguments are not checked', async () => {
    const schemas = {
      type: { type: 'object', properties: { a: { type: 'strin' } } },
      pattern: { type: 'object', properties: { a: { type: 'string', pattern: '(' } } },
      reference: { type: 'object', properties: { a: { $ref: '#/$defs/missing' } } },
      required: { type: 'object', properties: { a: { type: 'string' } }, required: true },
      enum: { type: 'object', properties: { a: { enum: 'x' } } },
      nested: { type: 'object', properties: { a: { anyOf: { type: 'string' } } } },
    }
    const tools = Object.entries(schemas).map(([name, inputSchema]) => ({ name, inputSchema }))
    const catalog = createCatalog(await untidy(line, [good, ...tools]))
    expect(catalog.broken).toEqual([])
    expect(getNames(catalog)).toEqual(['enum', 'good', 'nested', 'pattern', 'reference', 'required', 'type'])
    expect(catalog.resolve('good')).toMatchObject({ problem: undefined })
    for (const { name, problem } of catalog.tools.filter((tool) => tool.name !== 'good')) {
      expect(problem).toMatch(/^Its input schema .+ Arguments are passed on unchecked\.$/)
      expect(await getAnswer(catalog, name, { a: { b: 1 } })).toEqual(['untidy', name, { a: { b: 1 } }])
    }
  })

  it('R43 has empty schemas: any arguments are accepted', async () => {
    const schemas = [
      {},
      { type: 'object' },
      { properties: {} },
      { type: 'object', properties: {}, required: [] },
      undefined,
    ]
    const catalog = createCatalog(
      await untidy(line, [good, ...schemas.map((inputSchema, i) => ({ name: `t${i}`, inputSchema }))]),
    )
    expect(catalog.broken).toEqual([])
    expect(catalog.tools).toHaveLength(6)
    for (const { name, problem, inputSchema } of catalog.tools) {
      expect(problem).toBeUndefined()
      expect(inputSchema['type']).toBe('object')
      expect(await getAnswer(catalog, name, { any: [1] })).toEqual(['untidy', name, { any: [1] }])
    }
  })

  it('R43 has broken tools: they are listed once, however often the tools change', async () => {
    let round = 0
    const { client, server } = await connect(line, {
      name: 'restless',
      answer: () => ({
        tools: [null, { inputSchema: anything }, { name: `of_round_${round++}`, inputSchema: anything }],
      }),
    })
    const catalog = createCatalog([])
    const tools = await toolsFromMcp(client, { onChange: (changed) => catalog.replace('restless', changed) })
    catalog.add(tools)
    for (const name of ['of_round_1', 'of_round_2']) {
      server.notify('notifications/tools/list_changed')
      await vi.waitFor(() => expect(getNames(catalog)).toEqual([name]))
    }
    expect(catalog.broken).toHaveLength(2)
  })
})
