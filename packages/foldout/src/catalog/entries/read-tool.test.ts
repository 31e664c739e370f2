import { ToolSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createCatalog, type CatalogEntry, type CatalogInput } from '../../entries/catalog.ts'
import { createSession, defineTool, fail, ok, type JsonSchema } from '../../entries/index.ts'
import { visibility } from '../../entries/session.ts'
import { said, getText, tool } from '../catalog.fixtures.ts'
import { getListing } from '../listing.ts'

const good = tool('good')

/** A catalog of one odd definition and a good tool, which must not be affected by it. */
function withOdd(odd: unknown) {
  const catalog = createCatalog([odd as CatalogInput, good])
  expect(catalog.tools.map(({ name }) => name)).toContain('good')
  for (const entry of catalog.tools) expectListable(entry)
  return catalog
}

function expectListable(entry: CatalogEntry): void {
  const { meta, outputSchema, ...listing } = getListing(entry)
  // Servers leave out other output schemas for the clients that have this check.
  const shown = outputSchema?.['type'] === 'object' ? { outputSchema } : {}
  expect(() => ToolSchema.parse({ ...listing, ...shown, _meta: meta })).not.toThrow()
}

function readOdd(odd: Record<string, unknown>): CatalogEntry {
  const entry = withOdd({ ...tool('odd'), ...odd }).tools.find(({ name }) => name !== 'good')
  expect(entry).toBeDefined()
  return entry!
}

describe('R43 definitions', () => {
  it('R43 keep every field if they are raw', () => {
    const inputSchema: JsonSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const outputSchema: JsonSchema = { type: 'object', properties: { degrees: { type: 'number' } } }
    const [entry] = createCatalog([
      {
        name: 'forecast',
        source: 'weather',
        title: 'Forecast',
        description: 'Says what the weather will be like. It asks three services.',
        inputSchema,
        outputSchema,
        annotations: { readOnlyHint: true, audience: 'all' },
        icons: [{ src: 'https://example.com/a.png' }],
        meta: { 'x/y': 1 },
        category: 'outdoors',
        tags: ['rain', 'sun'],
        shortDescription: 'The weather to come',
        core: true,
      },
    ]).tools
    expect(entry).toEqual({
      name: 'forecast',
      qualified: 'weather/forecast',
      declared: 'forecast',
      source: 'weather',
      title: 'Forecast',
      description: 'Says what the weather will be like. It asks three services.',
      shortDescription: 'The weather to come',
      category: 'outdoors',
      tags: ['rain', 'sun'],
      core: true,
      inputSchema,
      outputSchema,
      annotations: { readOnlyHint: true, audience: 'all' },
      icons: [{ src: 'https://example.com/a.png' }],
      meta: { 'x/y': 1 },
      problem: undefined,
    })
  })

  it('R43 without metadata get their source as category, and a short description from the long one', () => {
    const [entry] = createCatalog([{ name: 'a', source: 's', description: 'Sends a letter. Then waits.' }]).tools
    expect(entry).toMatchObject({
      category: 's',
      tags: [],
      core: false,
      shortDescription: 'Sends a letter',
      inputSchema: { type: 'object' },
    })
  })

  it('R43 get metadata by name or by source and name', () => {
    const catalog = createCatalog(
      [tool('a', { source: 's' }), tool('a', { source: 't' }), tool('b', { tags: ['x'] })],
      {
        metadata: { a: { core: true }, 't/a': { category: 'special' }, b: { shortDescription: 'B!' } },
      },
    )
    expect(catalog.tools.map(({ name, core, category, tags }) => ({ name, core, category, tags }))).toEqual([
      { name: 'b', core: false, category: undefined, tags: ['x'] },
      { name: 's__a', core: true, category: 's', tags: [] },
      { name: 't__a', core: false, category: 'special', tags: [] },
    ])
    expect(catalog.tools[0]!.shortDescription).toBe('B!')
  })

  it('R43 from defineTool run as in a run, and may have a source and metadata', async () => {
    const add = defineTool({
      name: 'add',
      description: 'Adds two numbers.',
      params: z.object({ a: z.number(), b: z.number().default(1) }),
      result: z.object({ sum: z.number() }),
      execute: ({ a, b }) => (a < 0 ? fail('No.') : ok(`${a + b}`, { sum: a + b })),
    })
    const catalog = createCatalog([{ ...add, source: 'maths', core: true, tags: ['sum'] }])
    expect(catalog.tools[0]).toMatchObject({
      qualified: 'maths/add',
      core: true,
      tags: ['sum'],
      category: 'maths',
      inputSchema: { type: 'object', required: ['a'] },
      outputSchema: { type: 'object', required: ['sum'] },
    })
    expect(await catalog.call('add', { a: 2 })).toEqual({ ...said('3'), structuredContent: { sum: 3 } })
    expect(await catalog.call('add', { a: -1 })).toEqual({ ...said('No.'), isError: true })
    expect(getText(await catalog.call('add', { a: 'x' }))).toBe(
      `Wrong arguments for tool 'add': a must be a number, not a string. Nothing was run. Schema: {"a":{"type":"number"}}`,
    )
  })

  it("R43 from defineTool share the catalog's session outside a run, and use the run's session inside one", async () => {
    const open = defineTool({
      name: 'open',
      description: 'Opens a door more with every call.',
      execute: (_, { session }) => {
        const doors = Object.keys(session.get(visibility)).length
        session.dispatch(visibility.events.set({ path: `door-${doors}`, visibility: 'full' }))
        return ok(`${doors} were open`)
      },
    })
    const catalog = createCatalog([open])
    expect(await catalog.call('open', {})).toEqual(said('0 were open'))
    expect(await catalog.call('open', {})).toEqual(said('1 were open'))
    expect(await catalog.call('open', {}, { session: createSession() })).toEqual(said('0 were open'))
  })
})

describe('R43 a bad definition loses only its bad part', () => {
  const unreadable = [
    [undefined, { source: undefined, name: '?', reason: 'Its definition is not an object.' }],
    ['text', { source: undefined, name: '?', reason: 'Its definition is not an object.' }],
    [{}, { source: undefined, name: '?', reason: 'Its definition has no name.' }],
    [
      { name: ' ', title: 'A title', source: 's' },
      { source: 's', name: 'A title', reason: 'Its definition has no name.' },
    ],
    [
      { name: 5, source: 5 },
      { source: undefined, name: '?', reason: 'Its definition has no name.' },
    ],
  ] as const
  it.each(unreadable)('R43 %j is listed as broken with its reason', (odd, broken) => {
    const catalog = withOdd(odd)
    expect(catalog.broken).toEqual([broken])
    expect(catalog.tools).toHaveLength(1)
  })

  it('R43 a definition that throws when it is read is listed as broken', () => {
    const trap = {
      name: 'trap',
      get description(): string {
        throw new Error('gone')
      },
    }
    expect(withOdd(trap).broken).toEqual([
      { source: undefined, name: 'trap', reason: 'Its definition cannot be read: gone' },
    ])
  })

  it('R43 a second tool of one source and name is listed as broken, and the first is kept', async () => {
    const catalog = createCatalog([
      tool('a', { source: 's' }),
      tool('a', { source: 's', call: async () => said('second') }),
    ])
    expect(catalog.broken).toEqual([
      { source: 's', name: 'a', reason: "There is another tool 's/a'; the first one is kept." },
    ])
    expect(getText(await catalog.call('a', {}))).toBe('a {}')
  })

  it('R43 a missing description is replaced by the name, in lists too', () => {
    for (const description of [undefined, null, '']) {
      const entry = readOdd({ name: 'read_mail', description })
      expect(entry).toMatchObject({ description: '', problem: undefined })
      expect(entry.shortDescription.toLowerCase()).toContain('read mail')
      expect(getListing(entry).description).toBe(entry.shortDescription)
    }
  })

  it('R43 a description that is a bare route does not become the short one', () => {
    const entry = readOdd({ name: 'get_ai_one', description: 'GET /ai.one' })
    expect(entry.description).toBe('GET /ai.one')
    expect(entry.shortDescription).not.toBe('GET /ai.one')
  })

  it('R43 fields of the wrong type are left out, and reported', () => {
    const entry = readOdd({
      title: 5,
      description: ['a'],
      category: {},
      shortDescription: 1,
      tags: 'x',
      annotations: 'y',
      icons: [{ src: 5 }],
      meta: [],
      core: 'yes',
    })
    expect(entry).toMatchObject({
      title: undefined,
      description: '',
      category: undefined,
      tags: [],
      annotations: undefined,
      icons: undefined,
      meta: undefined,
      core: false,
    })
    const fields = ['title', 'description', 'category', 'tags', 'shortDescription', 'annotations', 'icons', 'meta']
    expect(entry.problem).toBe(fields.map((field) => `Its ${field} cannot be read and is left out.`).join(' '))
  })

  it('R43 hints of the wrong type are left out, because clients would reject the whole list', () => {
    const entry = readOdd({ annotations: { title: 5, readOnlyHint: 'true', destructiveHint: false, other: 'kept' } })
    expect(entry.annotations).toEqual({ destructiveHint: false, other: 'kept' })
  })

  it('R43 a name that is too long, foreign or reserved is replaced, and the call uses the original', async () => {
    for (const name of ['n'.repeat(100), '天气', 'a b.c', 'search_tools']) {
      const catalog = createCatalog([tool(name), good])
      const entry = catalog.tools.find(({ declared }) => declared === name)
      expect(entry!.name).toMatch(/^[\w-]{1,64}$/)
      expect(getText(await catalog.call(entry!.name, { x: 1 }))).toBe(`${name} {"x":1}`)
    }
  })

  const schemas: readonly (readonly [given: unknown, shown: JsonSchema, problem: string | undefined])[] = [
    [undefined, { type: 'object' }, undefined],
    [null, { type: 'object' }, undefined],
    [{}, { type: 'object' }, undefined],
    [{ properties: { a: true, b: false } }, { type: 'object', properties: { a: {}, b: { not: {} } } }, undefined],
    ['text', { type: 'object' }, 'Its input schema is not a JSON object, so arguments are passed on unchecked.'],
    [[], { type: 'object' }, 'Its input schema is not a JSON object, so arguments are passed on unchecked.'],
    [
      { default: 5n },
      { type: 'object' },
      'Its input schema is not a JSON object, so arguments are passed on unchecked.',
    ],
    [
      { type: 'string' },
      { type: 'object' },
      'Its input schema cannot be used: its type is "string" instead of "object". Arguments are passed on unchecked.',
    ],
    [
      { type: 'object', properties: { a: 'string' }, required: ['a', null] },
      { type: 'object', properties: { a: {} }, required: ['a'] },
      "Its input schema cannot be used: it has a 'required' that is not a list of names. Arguments are passed on unchecked.",
    ],
    [
      { type: 'object', properties: [], required: true },
      { type: 'object' },
      "Its input schema cannot be used: it has a 'properties' that is not an object. Arguments are passed on unchecked.",
    ],
    [
      { type: 'object', properties: { a: { type: 'any' } } },
      { type: 'object', properties: { a: { type: 'any' } } },
      'Its input schema cannot be used: \'a\' has the type "any", which does not exist in JSON Schema. Arguments are passed on unchecked.',
    ],
    [
      { type: 'object', properties: { a: { $ref: '#/$defs/gone' } } },
      { type: 'object', properties: { a: { $ref: '#/$defs/gone' } } },
      "Its input schema cannot be used: 'a' refers to #/$defs/gone, which does not exist. Arguments are passed on unchecked.",
    ],
    [
      { type: 'object', properties: { a: { pattern: '(' } } },
      { type: 'object', properties: { a: { pattern: '(' } } },
      "Its input schema cannot be used: 'a' has a 'pattern' that is not a regular expression. Arguments are passed on unchecked.",
    ],
  ]
  it.each(schemas.map(([given, shown, problem]) => ({ given, shown, problem })))(
    'R43 the input schema $given leaves the tool callable',
    async ({ given, shown, problem }) => {
      const catalog = withOdd(tool('odd', { inputSchema: given as JsonSchema }))
      const entry = catalog.tools.find(({ name }) => name === 'odd')!
      expect(entry.inputSchema).toEqual(shown)
      expect(entry.problem).toBe(problem)
      expect(await catalog.call('odd', { a: 1 })).toEqual(said('odd {"a":1}'))
    },
  )

  it('R43 a circular schema leaves the tool callable', async () => {
    const inputSchema: Record<string, unknown> = { type: 'object' }
    inputSchema['properties'] = { self: inputSchema }
    const catalog = withOdd(tool('odd', { inputSchema }))
    expect(getText(await catalog.call('odd', { a: 1 }))).toBe('odd {"a":1}')
  })

  it('R43 an unusable output schema is left out, and one that does not describe an object stays', () => {
    expect(readOdd({ outputSchema: { type: 'object', required: 'x' } })).toMatchObject({
      outputSchema: undefined,
      problem: "Its output schema is left out: it has a 'required' that is not a list of names.",
    })
    expect(readOdd({ outputSchema: 'x' }).problem).toBe('Its output schema is left out: it is not a JSON object.')
    expect(readOdd({ outputSchema: null })).toMatchObject({ outputSchema: undefined, problem: undefined })
    const list = readOdd({ outputSchema: { type: 'array', items: { type: 'string' } } })
    expect(list.outputSchema).toEqual({ type: 'array', items: { type: 'string' } })
    expect(getListing(list).outputSchema).toEqual(list.outputSchema)
  })
})
