import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  all,
  createCatalog,
  hybrid,
  metaTool,
  twoPhase,
  type Catalog,
  type CatalogEvent,
  type CatalogOptions,
  type Exposure,
  type RawTool,
} from '../../entries/catalog.ts'
import { estimatedTokens, type JsonSchema } from '../../entries/index.ts'
import { gptTokenizer } from '../../entries/gpt-tokenizer.ts'
import { callText, failed, manyTools, said, getText, tool } from '../catalog.fixtures.ts'
import { META_TOOL_NAMES } from '../names.ts'
import { ANSWER_CEILING, formatSearchAnswer } from './search-answer.ts'
import { startCpuClock } from '../../core/cpu.fixtures.ts'

const client = { id: 'c', takesListChanges: true }
const expose = (catalog: Catalog, exposure: Exposure = hybrid()) => exposure.expose(catalog, client)

const home: readonly RawTool[] = [
  tool('water_garden', {
    source: 'garden',
    description: 'Waters the garden. It takes a while.',
    inputSchema: {
      type: 'object',
      properties: { minutes: { type: 'integer', minimum: 1, maximum: 60 }, bed: { enum: ['roses', 'herbs'] } },
      required: ['minutes'],
    },
  }),
  tool('mow_lawn', { source: 'garden', description: 'Mows the lawn.', core: true }),
  tool('send_letter', { source: 'mail', description: 'Sends a letter.' }),
]

describe('R45 search_tools', () => {
  const catalog = createCatalog(home)
  const search = (args: unknown, of = catalog) => expose(of).call('search_tools', args, {})

  it('R45 shows each hit with its signature and description', async () => {
    expect(await search({ query: 'water the garden', limit: 1 })).toEqual(
      said(
        'water_garden(minutes: int 1..60, bed?: "roses"|"herbs") — Waters the garden\nAlso near: mow_lawn, send_letter (search for a name to see its arguments)',
      ),
    )
  })

  it('R45 shows names alone, or whole schemas, on request', async () => {
    expect(getText(await search({ query: 'send a letter', limit: 1, detail: 'names' }))).toBe(
      'send_letter — Sends a letter [mail]\nAlso near: water_garden (search for a name to see its arguments)',
    )
    expect(getText(await search({ query: 'water the garden', limit: 1, detail: 'schema' }))).toBe(
      'water_garden {"type":"object","properties":{"minutes":{"type":"integer","minimum":1,"maximum":60},"bed":{"enum":["roses","herbs"]}},"required":["minutes"]} — Waters the garden\nAlso near: mow_lawn, send_letter (search for a name to see its arguments)',
    )
  })

  it('R45 does not show again how to call a tool that is listed', async () => {
    expect(await search({ query: 'mow the lawn', limit: 1 })).toEqual(
      said(
        'mow_lawn, listed: call it directly — Mows the lawn [garden]\nAlso near: water_garden (search for a name to see its arguments)',
      ),
    )
    expect(getText(await search({ query: 'mow the lawn', limit: 1, detail: 'schema' }))).toContain('mow_lawn {"type"')
    const shown = expose(catalog, metaTool({ core: ['send_letter'] }))
    const asked = { action: 'search', query: 'send a letter', limit: 1 }
    expect(getText(await shown.call('discover_and_use_tool', asked, {}))).toMatch(
      /^send_letter, listed: call it directly/,
    )
  })

  it('R45 names the next tools after the hits', async () => {
    const many = createCatalog(Array.from({ length: 30 }, (_, at) => tool(`polish_mirror_${at}`)))
    const lines = getText(await search({ query: 'polish a mirror', limit: 2 }, many)).split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[2]).toMatch(
      /^Also near: (?:polish_mirror_\d+, ){4}polish_mirror_\d+ \(search for a name to see its arguments\)$/,
    )
    const most = getText(await search({ query: 'polish a mirror', limit: 1_000 }, many)).split('\n')
    expect(most.length).toBeLessThanOrEqual(21)
    expect(most.at(-1)).toMatch(/^Also near: /)
  })

  it('R45 an empty query is an error', async () => {
    const error = failed("Say in 'query' what you want to do, such as \"send a message\", or a tool's name.")
    for (const args of [{}, { query: '' }, { query: '  ' }, { query: [] }, { query: {} }, undefined, null, ''])
      expect(await search(args)).toEqual(error)
  })

  it('R45 R53 a tool that is only for the pages of its server is not offered to models, and pages can call it', async () => {
    const page = (name: string, visibility?: unknown): RawTool => ({
      ...tool(name),
      call: async () => ({ content: [{ type: 'text', text: 'called' }] }),
      meta: { ui: { resourceUri: 'ui://page', visibility } },
    })
    const pages = createCatalog([page('save_page', ['app']), page('save_pages', ['model', 'app']), page('save_all')])
    const found = await Promise.all(pages.tools.map(({ name }) => search({ query: name }, pages)))
    const text = found.map(getText).join('\n')
    expect(text).toContain('save_pages(')
    expect(text).toContain('save_all(')
    expect(text).not.toContain('save_page(')
    const exposed = expose(pages, hybrid({ core: [] }))
    expect(await exposed.call('use_tool', { name: 'save_page' }, {})).toEqual(
      failed("Tool 'save_page' is only for the pages of its server. Use another tool."),
    )
    expect(getText(await exposed.call('save_page', {}, {}))).toBe('called')
  })

  it('R45 a query may be a list of words, or a number', async () => {
    expect(await search({ query: ['dim', 'lights'] })).toEqual(await search({ query: 'dim, lights' }))
    expect(await search({ query: 5 })).toEqual(await search({ query: '5' }))
  })

  it('R45 a query without a match gets no tools', async () => {
    const result = await search({ query: 'qwxzzy vvkkpp' })
    expect(result.isError).toBeUndefined()
    expect(getText(result)).toMatch(/^Nothing fits "qwxzzy vvkkpp"\./)
    expect(getText(result)).toMatch(
      /Search again: name the function in a few English words, one step per search, such as "send email"\.$/,
    )
    for (const { name } of home) expect(getText(result)).not.toContain(name)
    expect(getText(await search({ query: 'x'.repeat(500) }))).toContain(`Nothing fits "${'x'.repeat(80)}…".`)
    expect(getText(await search({ query: 'anything' }, createCatalog([])))).toBe('There are no tools to search.')
  })

  it('R45 says so first if nothing fits well, and names the nearest tools as guesses', async () => {
    const outcome = (fit: 'good' | 'weak') => ({
      hits: catalog.tools.map((tool) => ({ tool, score: 1, part: 0, explain: () => expect.fail() })),
      fit,
      alsoNear: catalog.tools.slice(0, 2),
      parts: ['x'],
      unanswered: [],
      confidence: 0.5,
      nearestCategories: ['mail'],
      ignoredCharacters: 0,
      meaning: 'none' as const,
      withoutEncoder: undefined,
    })
    const question = { query: 'x', detail: 'names' as const }
    expect(formatSearchAnswer(catalog, { ...question, outcome: outcome('weak') }).text).toBe(
      [
        'Nothing fits "x" well. If none of these guesses does it, search again: name the function in a few English words, one step per search.',
        'mow_lawn — Mows the lawn [garden]',
        'send_letter — Sends a letter [mail]',
        'water_garden — Waters the garden',
        'Also near: mow_lawn, send_letter (search for a name to see its arguments)',
      ].join('\n'),
    )
    expect(formatSearchAnswer(catalog, { ...question, outcome: outcome('good') }).text).toBe(
      [
        'mow_lawn — Mows the lawn [garden]',
        'send_letter — Sends a letter [mail]',
        'water_garden — Waters the garden',
        'Also near: mow_lawn, send_letter (search for a name to see its arguments)',
      ].join('\n'),
    )
  })

  it('R45 shows the server only where nothing else names it, and says for which steps there is nothing', async () => {
    const several = createCatalog([
      tool('send_message', { source: 'slack', description: 'Sends a message.' }),
      tool('mail_send', { source: 'mail', description: 'Sends a letter.' }),
      tool('water_garden', { source: 'yard', description: 'Waters the garden of the yard.' }),
    ])
    const query = 'send a message to the team, water the garden in the evening, and bake a chocolate cake'
    const lines = getText(await search({ query }, several)).split('\n')
    expect(lines[0]).toBe('Nothing fits this part well: "bake a chocolate cake". Search for each step by itself.')
    expect(lines.slice(1).toSorted()).toEqual([
      'mail_send(...) — Sends a letter',
      'send_message(...) — Sends a message [slack]',
      'water_garden(...) — Waters the garden of the yard',
    ])
  })

  it('R45 names a step as it was written, with addresses and file names', async () => {
    const garden = createCatalog([tool('water_garden', { description: 'Waters the garden.' })])
    const query = 'Water the garden in the evening. Send a letter to bob@example.com about notes.txt'
    const [line] = getText(await search({ query }, garden)).split('\n')
    expect(line).toContain('"Send a letter to bob@example.com about notes.txt"')
  })

  it('R45 shows at most six choices of an argument', async () => {
    const choices = (count: number) => ({
      inputSchema: {
        type: 'object',
        properties: { color: { enum: Array.from({ length: count }, (_, i) => `c${i}`) } },
      },
    })
    const many = createCatalog([tool('paint_wall', choices(20)), tool('paint_door', choices(6))])
    const text = getText(await search({ query: 'paint' }, many))
    expect(text).toContain('paint_wall(color?: "c0"|"c1"|"c2"|"c3"|"c4"|"c5"|…14 more)')
    expect(text).toContain('paint_door(color?: "c0"|"c1"|"c2"|"c3"|"c4"|"c5")')
  })

  it('R45 an unknown or empty category is ignored, and the answer says so first', async () => {
    const plain = getText(await search({ query: 'send a letter', limit: 1 }))
    expect(getText(await search({ query: 'send a letter', limit: 1, category: 'post' }))).toBe(
      `There is no category 'post'. From all tools:\n${plain}`,
    )
    expect(getText(await search({ query: 'send a letter', limit: 1, category: 'garden' }))).toBe(
      `Nothing in 'garden' fits well. From all tools:\n${plain}`,
    )
    expect(getText(await search({ query: 'send a letter', limit: 1, category: ' MAIL ' }))).toBe(plain.split('\n')[0])
    for (const category of ['garden', 'nowhere', '__proto__', 'constructor'])
      expect(getText(await search({ query: 'qwxzzy', category }))).toMatch(/^Nothing fits "qwxzzy"\. Search again/)
  })

  it('R45 a search with a query is never rejected', async () => {
    const plain = await search({ query: 'send a letter' })
    const odd: readonly Record<string, unknown>[] = [
      { limit: 'many' },
      { limit: {} },
      { detail: 'all' },
      { detail: 5 },
      { category: 5 },
      { category: ['mail'] },
      { tags: ['x'], __proto__: { a: 1 }, constructor: 'x' },
    ]
    for (const more of odd) expect(await search({ query: 'send a letter', ...more })).toEqual(plain)
    const one = await search({ query: 'send a letter', limit: 1 })
    for (const limit of [0, -5, '1', 1.5, -Infinity])
      expect(await search({ query: 'send a letter', limit })).toEqual(one)
    expect((await search({ query: 'send a letter', limit: 1e99 })).isError).toBeUndefined()
    expect(await search({ query: ['send', 'a letter'] })).toMatchObject({ content: [{ text: expect.any(String) }] })
  })

  it('R45 detail is listed only if it is configured', () => {
    const getProperties = (exposure: Exposure) =>
      Object.keys(expose(catalog, exposure).list().at(1)!.inputSchema['properties']!)
    expect(getProperties(hybrid())).toEqual(['query', 'category', 'limit'])
    expect(getProperties(hybrid({ detail: true }))).toEqual(['query', 'category', 'limit', 'detail'])
    expect(getProperties(metaTool({ detail: true }))).toContain('detail')
  })

  it('R45 arguments that are not an object are errors that say what is expected', async () => {
    expect(await search('[1]')).toEqual(
      failed("Wrong arguments for tool 'search_tools': they must be one JSON object."),
    )
    expect(await search('{query')).toEqual(
      failed("Wrong arguments for tool 'search_tools': the text is not valid JSON; give them as one JSON object."),
    )
    expect(await search({ q: 'letters' })).toEqual(
      failed("Wrong arguments for tool 'search_tools': there is no argument 'q'; there are: query, category, limit."),
    )
  })

  it('R45 optional arguments may be missing, null or empty, and numbers may be strings', async () => {
    const plain = await search({ query: 'send a letter' })
    expect(await search({ query: 'send a letter', category: null, limit: null, detail: null })).toEqual(plain)
    expect(await search({ query: 'send a letter', category: '', detail: '' })).toEqual(plain)
    expect(await search({ query: 'send a letter', limit: '5' })).toEqual(plain)
    expect(await search('{"query":"send a letter"}')).toEqual(plain)
  })

  it('R45 the same query gives the same bytes', async () => {
    const once = await search({ query: 'garden letter' })
    expect(await search({ query: 'garden letter' }, createCatalog(home.toReversed()))).toEqual(once)
  })

  it('R45 a search that fails is an error, not a rejection', async () => {
    const down = createCatalog(home)
    down.search = async () => {
      throw new Error('the index is down')
    }
    const result = await search({ query: 'send a letter' }, down)
    expect(result.isError).toBe(true)
    expect(getText(result)).toMatch(/^Tool 'search_tools' failed: .*the index is down/)
  })

  it('R45 a search that hangs can be aborted', async () => {
    const hanging = createCatalog(home)
    hanging.search = () => new Promise(() => {})
    const signal = AbortSignal.timeout(10)
    await expect(expose(hanging).call('search_tools', { query: 'letter' }, { signal })).rejects.toThrow('timeout')
  })

  it('R48 reports each search and its cost', async () => {
    const events: CatalogEvent[] = []
    const stop = catalog.subscribe((event) => events.push(event))
    const text = getText(await search({ query: 'send a letter', limit: 1 }))
    stop()
    const tokens = estimatedTokens.count('{"query":"send a letter","limit":1}') + estimatedTokens.count(text)
    expect(events).toEqual([
      { type: 'tools/searched', client: 'c', query: 'send a letter', hits: ['mail/send_letter'], tokens },
    ])
  })

  const giant = fc
    .record({
      fields: fc.integer({ min: 0, max: 100 }),
      required: fc.boolean(),
      name: fc.integer({ min: 1, max: 400 }),
      values: fc.integer({ min: 0, max: 60 }),
      description: fc.integer({ min: 0, max: 200 }),
      nested: fc.integer({ min: 0, max: 10 }),
    })
    .map(({ fields, required, name, values, description, nested }): Partial<RawTool> => {
      let inner: JsonSchema = { enum: Array.from({ length: values }, (_, at) => `value ${at} ${'v'.repeat(at)}`) }
      for (let depth = 0; depth < nested; depth++) inner = { type: 'object', properties: { inner } }
      const names = Array.from({ length: fields }, (_, at) => `${'field'.repeat(name / 5)}${at}`)
      return {
        shortDescription: 'Novel. '.repeat(description),
        inputSchema: {
          type: 'object',
          properties: Object.fromEntries(
            names.map((field) => [field, { ...inner, description: 'Word '.repeat(description) }]),
          ),
          ...(required ? { required: names } : {}),
        },
      }
    })
  it('R45 says how much of a long query was read, and reports no more of it', async () => {
    const events: CatalogEvent[] = []
    const catalog = createCatalog(home)
    catalog.subscribe((event) => events.push(event))
    const exposed = expose(catalog)
    for (const query of ['water the garden '.repeat(200_000), 'a.'.repeat(1_000_000), '“'.repeat(1_000_000)]) {
      const getCpuMs = startCpuClock()
      const { content } = await exposed.call('search_tools', { query }, {})
      expect(content[0]?.['text']).toMatch(/^Only the first 2,000 characters of the query were read\.\n/)
      expect(getCpuMs()).toBeLessThan(3_000)
    }
    const searches = events.filter(({ type }) => type === 'tools/searched')
    expect(searches).toHaveLength(3)
    expect(JSON.stringify(searches).length).toBeLessThan(10_000)
  })

  it('R45 no answer exceeds its limit, whatever the tools are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(giant, { minLength: 1, maxLength: 6 }),
        fc.constantFrom('names', 'signature', 'schema'),
        async (tools, detail) => {
          const huge = createCatalog(tools.map((more, at) => tool(`giant_${'x'.repeat(50)}_${at}`, more)))
          const text = getText(await search({ query: 'giant', detail, limit: 20 }, huge))
          expect(text).toContain('giant_')
          expect(estimatedTokens.count(text)).toBeLessThanOrEqual(ANSWER_CEILING[detail])
          const shown = text.split('\n').filter((line) => line.startsWith('giant_')).length
          const named = /^Also near: (.*) \(/m.exec(text)?.[1]?.split(', ') ?? []
          expect(shown + named.length).toBeLessThanOrEqual(tools.length)
        },
      ),
      { numRuns: 12 },
    )
  })
})

describe('R46 use_tool', () => {
  const catalog = createCatalog([...home, tool('search_tools', { source: 'kitchen' })])
  const use = (args: unknown, exposure?: Exposure) => expose(catalog, exposure).call('use_tool', args, {})

  it('R46 runs a tool; missing arguments are empty, and a JSON string is parsed', async () => {
    expect(await use({ name: 'send_letter', arguments: { to: 'you' } })).toEqual(said('send_letter {"to":"you"}'))
    for (const args of [undefined, null, '', '{}'])
      expect(await use({ name: 'send_letter', arguments: args })).toEqual(said('send_letter {}'))
    expect(await use({ name: 'send_letter', arguments: '{"to":"you"}' })).toEqual(said('send_letter {"to":"you"}'))
    expect(await use('{"name":"send_letter"}')).toEqual(said('send_letter {}'))
  })

  it('R46 names the tools that an unknown name means, if none is spelled like it', async () => {
    expect(await use({ name: 'mail_a_letter_to_somebody' })).toEqual(
      failed(
        "Tool 'mail_a_letter_to_somebody' not found. Use search_tools to discover available tools. Nearest: send_letter.",
      ),
    )
    expect(getText(await use({ name: 'qwxzzy_vvkkpp' }))).not.toContain('Nearest')
    catalog.search = async () => Promise.reject(new Error('the index is down'))
    try {
      expect(getText(await use({ name: 'mail_a_letter_to_somebody' }))).toMatch(/not found/)
    } finally {
      Reflect.deleteProperty(catalog, 'search')
    }
  })

  it('R37 a required argument that has a default may be missing, also within objects, in the call and in what is approved', async () => {
    const inputSchema = {
      type: 'object',
      properties: {
        text: { type: 'string' },
        mode: { type: 'string', default: 'plain' },
        page: {
          type: 'object',
          properties: { size: { type: 'integer', default: 10 }, from: { type: 'integer' } },
          required: ['size'],
        },
        count: { type: 'integer', default: 3 },
      },
      required: ['text', 'mode'],
    }
    const asked: unknown[] = []
    const defaults = createCatalog([tool('print_text', { inputSchema })], {
      needsApproval: ({ arguments: args }) => {
        asked.push(args)
        return false
      },
    })
    const print = (args: unknown) => expose(defaults).call('use_tool', { name: 'print_text', arguments: args }, {})
    expect(await print({ text: 'a', page: { from: 1 } })).toEqual(
      said('print_text {"text":"a","page":{"from":1,"size":10},"mode":"plain"}'),
    )
    expect(asked[0]).toEqual({ text: 'a', page: { from: 1, size: 10 }, mode: 'plain' })
    expect(await print({ text: 'a', mode: 'bold' })).toEqual(said('print_text {"text":"a","mode":"bold"}'))
    expect(getText(await print({ mode: 'bold' }))).toMatch(/text is required/)
  })

  it('R37 a default is found in the items of a list, behind references and in parts of a schema', async () => {
    const size = { type: 'integer', default: 10 }
    const page = { type: 'object', properties: { size: { $ref: '#/$defs/size' } }, required: ['size'] }
    const inputSchema = {
      type: 'object',
      $defs: { size, page, again: { $ref: '#/$defs/again', allOf: [{ $ref: '#/$defs/again' }] } },
      properties: {
        pages: { type: 'array', items: { allOf: [{ $ref: '#/$defs/page' }] } },
        // Complete as it is written, even if the schema asks for more.
        first: { $ref: '#/$defs/page', default: {} },
        size: { $ref: '#/$defs/size' },
      },
      required: ['size'],
    }
    const defaults = createCatalog([tool('print_text', { inputSchema })])
    const print = (args: unknown) => expose(defaults).call('use_tool', { name: 'print_text', arguments: args }, {})
    expect(await print({ pages: [{}, { size: 1 }], first: {} })).toEqual(
      said('print_text {"pages":[{"size":10},{"size":1}],"first":{"size":10},"size":10}'),
    )
  })

  it('R37 defaults of a schema that refers to itself add up to nothing', async () => {
    const many = Array.from({ length: 1_000 }, () => ({}))
    const inputSchema = {
      type: 'object',
      properties: { a: { type: 'array', items: { $ref: '#' }, default: many } },
      required: ['a'],
    }
    const result = await expose(createCatalog([tool('print_text', { inputSchema })])).call(
      'use_tool',
      { name: 'print_text' },
      {},
    )
    expect(getText(result)).toMatch(/is required/)
  })

  it('R46 answers an unknown tool with a hint to search and the nearest names', async () => {
    expect(await use({ name: 'send_leter' })).toEqual(
      failed("Tool 'send_leter' not found. Use search_tools to discover available tools. Nearest: send_letter."),
    )
    const empty = createCatalog([])
    expect(await expose(empty).call('use_tool', { name: 'x' }, {})).toEqual(
      failed("Tool 'x' not found. Use search_tools to discover available tools."),
    )
    expect(await callText(expose(catalog), 'send_leter')).toBe(
      "Tool 'send_leter' not found. Use search_tools to discover available tools. Nearest: send_letter.",
    )
    expect(await callText(expose(catalog, all()), 'send_leter')).toBe(
      "Tool 'send_leter' not found. Nearest: send_letter.",
    )
    expect(getText(await use({ name: 'x'.repeat(5_000) }))).toContain(`Tool '${'x'.repeat(80)}…' not found.`)
  })

  it('R46 wrong arguments are an error before anything runs', async () => {
    expect(await use({ name: 'water_garden', arguments: { minutes: 90 } })).toEqual(
      failed(
        'Wrong arguments for tool \'water_garden\': minutes must be at most 60. Nothing was run. Schema: {"minutes":{"type":"integer","minimum":1,"maximum":60}}',
      ),
    )
    for (const args of [5, [], true, '[]'])
      expect(await use({ name: 'send_letter', arguments: args })).toEqual(
        failed("Wrong arguments for tool 'send_letter': they must be one JSON object. Nothing was run."),
      )
    expect(await use({ name: 'send_letter', arguments: '{to: you}' })).toEqual(
      failed(
        "Wrong arguments for tool 'send_letter': the text is not valid JSON; give them as one JSON object. Nothing was run.",
      ),
    )
    for (const args of [{}, { name: '' }, { name: 5 }])
      expect(await use(args)).toEqual(failed("Say in 'name' which tool to run."))
  })

  it('R46 arguments next to the name are used if there are no others', async () => {
    const to = { to: 'you', constructor: 1 }
    for (const none of [{}, { arguments: null }, { arguments: {} }, { arguments: '{}' }, { arguments: '' }])
      expect(await use({ name: 'send_letter', ...to, ...none })).toEqual(
        said('send_letter {"to":"you","constructor":1}'),
      )
    expect(expose(catalog).target('use_tool', { name: 'send_letter', ...to })?.arguments).toEqual(to)
    expect(await use({ name: 'send_letter', to: 'me', arguments: { to: 'you' } })).toEqual(
      failed(
        "Wrong arguments for tool 'use_tool': there is no argument 'to'. Put all arguments of the tool into 'arguments'. Nothing was run.",
      ),
    )
    expect(getText(await use(JSON.parse('{"name":"send_letter","__proto__":{"a":1}}')))).toBe(
      'send_letter {"__proto__":{"a":1}}',
    )
  })

  it('R46 reads a call that uses the fields of another meta tool', async () => {
    const answered = said('send_letter {"to":"you"}')
    for (const field of ['args', 'input', 'params', 'parameters', 'tool_args'])
      for (const given of [{ to: 'you' }, '{"to":"you"}'])
        expect(await use({ name: 'send_letter', [field]: given })).toEqual(answered)
    for (const field of ['tool', 'tool_name'])
      expect(await use({ [field]: 'send_letter', arguments: { to: 'you' } })).toEqual(answered)
    const discover = { action: 'execute', name: 'send_letter', arguments: { to: 'you' } }
    expect(await expose(catalog, metaTool()).call('discover_and_use_tool', discover, {})).toEqual(answered)
    // The person approves exactly the call that runs.
    for (const args of [
      { name: 'send_letter', args: { to: 'you' } },
      { tool: 'send_letter', to: 'you' },
    ])
      expect(expose(catalog).target('use_tool', args)).toMatchObject({
        entry: { name: 'send_letter' },
        arguments: { to: 'you' },
      })
  })

  it('R46 keeps a param that is named like a field of another meta tool', async () => {
    const call = async (args: unknown) => said(`run ${JSON.stringify(args)}`)
    const inputSchema = { type: 'object', properties: { input: { type: 'object' } } }
    const own = expose(createCatalog([{ name: 'run', description: 'Runs.', inputSchema, call }]))
    expect(await own.call('use_tool', { name: 'run', input: { a: 1 } }, {})).toEqual(said('run {"input":{"a":1}}'))
    expect(own.target('use_tool', { name: 'run', input: { a: 1 } })?.arguments).toEqual({ input: { a: 1 } })
  })

  it('R46 does not run meta tools, even if a server has a tool of that name', async () => {
    for (const name of META_TOOL_NAMES)
      expect(await use({ name, arguments: { name: 'send_letter', query: 'x' } })).toEqual(
        failed(`'${name}' is called directly, not through use_tool.`),
      )
    expect(await use({ name: 'kitchen__search_tools' })).toEqual(said('search_tools {}'))
  })

  it('R46 reports the tool that ran, and the cost of wrapping it', async () => {
    const events: CatalogEvent[] = []
    const stop = catalog.subscribe((event) => events.push(event))
    await use({ name: 'send_letter' })
    await use({ name: 'water_garden' })
    await expose(catalog).call('send_letter', {}, {})
    await expose(catalog, metaTool()).call('discover_and_use_tool', { action: 'execute', tool_name: 'send_letter' }, {})
    stop()
    const used = { type: 'tool/used', client: 'c', durationMs: expect.any(Number) }
    const wrapped = (text: string): number => estimatedTokens.count(text)
    expect(events).toEqual([
      {
        ...used,
        name: 'mail/send_letter',
        through: 'use_tool',
        ok: true,
        wrappingTokens: wrapped('use_tool{"name":"send_letter","arguments":{}}') - wrapped('send_letter{}'),
      },
      {
        ...used,
        name: 'garden/water_garden',
        through: 'use_tool',
        ok: false,
        wrappingTokens: wrapped('use_tool{"name":"water_garden","arguments":{}}') - wrapped('water_garden{}'),
      },
      { ...used, name: 'mail/send_letter', through: 'direct', ok: true, wrappingTokens: 0 },
      {
        ...used,
        name: 'mail/send_letter',
        through: 'discover_and_use_tool',
        ok: true,
        wrappingTokens:
          wrapped('discover_and_use_tool{"action":"execute","tool_name":"send_letter","tool_args":{}}') -
          wrapped('send_letter{}'),
      },
    ])
  })
})

describe('R44 get_tool_definition', () => {
  const catalog = createCatalog(home)
  it('R44 returns the whole definition and adds the tool to the list', async () => {
    const exposed = expose(catalog, twoPhase())
    let announced = 0
    exposed.onListChanged(() => announced++)
    const names = () => exposed.list().map(({ name }) => name)
    const before = ['mow_lawn', 'search_tools', 'get_tool_definition', 'use_tool']
    expect(names()).toEqual(before)
    expect(await callText(exposed, 'get_tool_definition', { name: 'water_garden' })).toBe(
      '{"description":"Waters the garden. It takes a while.","inputSchema":{"properties":{"bed":{"enum":["roses","herbs"]},"minutes":{"maximum":60,"minimum":1,"type":"integer"}},"required":["minutes"],"type":"object"},"name":"water_garden"}\nIt is in the tool list now. If you do not see it there, run it with use_tool {"name":"water_garden","arguments":{…}}.',
    )
    expect(names()).toEqual([...before, 'water_garden'])
    await exposed.call('get_tool_definition', { name: 'water_garden' }, {})
    await exposed.call('get_tool_definition', { name: 'mow_lawn' }, {})
    expect(names()).toEqual([...before, 'water_garden'])
    expect(announced).toBe(1)
  })

  it('R44 does not change a list that must not change', async () => {
    const exposed = twoPhase().expose(catalog, { id: 'c', takesListChanges: false })
    const before = JSON.stringify(exposed.list())
    expect(await callText(exposed, 'get_tool_definition', { name: 'send_letter' })).toMatch(
      /\nRun it with use_tool \{"name":"send_letter","arguments":\{…\}\}\.$/,
    )
    expect(JSON.stringify(exposed.list())).toBe(before)
  })

  it('R44 answers an unknown name with help', async () => {
    const exposed = expose(catalog, twoPhase())
    expect(await exposed.call('get_tool_definition', { name: 'send_leter' }, {})).toEqual(
      failed("Tool 'send_leter' not found. Use search_tools to discover available tools. Nearest: send_letter."),
    )
    expect(await exposed.call('get_tool_definition', {}, {})).toEqual(
      failed("Say in 'name' which tool you want to see."),
    )
    expect(await exposed.call('get_tool_definition', { tool: 'send_letter' }, {})).toEqual(
      failed("Wrong arguments for tool 'get_tool_definition': there is no argument 'tool'; there is: name."),
    )
  })

  it('R48 reports the returned definition', async () => {
    const events: CatalogEvent[] = []
    const stop = catalog.subscribe((event) => events.push(event))
    await expose(catalog, twoPhase()).call('get_tool_definition', { name: 'send_letter' }, {})
    stop()
    expect(events).toEqual([
      { type: 'tool/defined', client: 'c', name: 'mail/send_letter', tokens: expect.any(Number) },
    ])
  })
})

describe('R44 discover_and_use_tool', () => {
  const exposed = expose(createCatalog(home), metaTool())
  const call = (args: unknown) => exposed.call('discover_and_use_tool', args, {})

  it('R44 searches and executes', async () => {
    expect(await call({ action: 'search', query: 'send a letter', limit: 1 })).toEqual(
      said(
        'send_letter(...) — Sends a letter [mail]\nAlso near: water_garden (search for a name to see its arguments)',
      ),
    )
    expect(await call({ action: 'execute', tool_name: 'send_letter', tool_args: '{"to":1}' })).toEqual(
      said('send_letter {"to":1}'),
    )
    expect(
      exposed.target('discover_and_use_tool', { action: 'search', query: 'x', tool_name: 'send_letter' }),
    ).toBeUndefined()
  })

  it('R44 accepts synonyms of its actions, and a query or a name alone', async () => {
    const found = await call({ action: 'search', query: 'send a letter', limit: 1 })
    for (const action of ['discover', 'find', 'SEARCH', undefined, '', 'execute', 'whatever'])
      expect(await call({ action, query: 'send a letter', limit: 1 })).toEqual(found)
    for (const action of ['use', 'run', 'call', undefined])
      expect(await call({ action, tool_name: 'send_letter', to: 'you' })).toEqual(said('send_letter {"to":"you"}'))
    expect(exposed.target('discover_and_use_tool', { tool_name: 'send_letter' })?.entry.name).toBe('send_letter')
    expect(exposed.target('discover_and_use_tool', { query: 'x', tool_name: 'send_letter' })).toBeUndefined()
  })

  it('R44 says what is missing', async () => {
    expect(await call({})).toEqual(failed('\'action\' must be "search" or "execute".'))
    expect(await call({ action: 'execute' })).toEqual(failed("Say in 'tool_name' which tool to run."))
    expect(await call({ action: 'search' })).toEqual(
      failed("Say in 'query' what you want to do, such as \"send a message\", or a tool's name."),
    )
    expect(await call({ action: 'execute', tool_name: 'send_leter' })).toEqual(
      failed('Tool \'send_leter\' not found. Use action "search" to discover available tools. Nearest: send_letter.'),
    )
    expect(await call({ action: 'execute', tool_name: 'discover_and_use_tool' })).toEqual(
      failed("'discover_and_use_tool' is called directly, not through discover_and_use_tool."),
    )
  })
})

describe('R49 the list', () => {
  const getList = (tools: readonly RawTool[], options?: CatalogOptions) =>
    JSON.stringify(expose(createCatalog(tools, options)).list())
  const tools = (count: number, sources: number): RawTool[] =>
    manyTools(count).map((each, at) => ({ ...each, source: `source-${at % sources}` }))

  it('R49 costs the same for 10 and for 5,000 tools', () => {
    expect(getList(tools(5_000, 1))).toBe(getList(tools(10, 1)))
    expect(getList(tools(5_000, 10))).toBe(getList(tools(10, 10)))
    // More than ten servers are only named, as many as fit.
    expect(getList(tools(600, 11))).toContain('Only tools of this category: source-0, source-1, source-10, ')
    expect(getList(tools(600, 500))).toMatch(/source-1\d+ and 4\d\d more"/)
    expect(getList(tools(600, 500)).length - getList(tools(600, 11)).length).toBeLessThan(700)
  })

  it('R45 takes at most 200 tokens, and 300 with a line for each of ten servers', async () => {
    const { count } = await gptTokenizer()
    const tokens = (...[given, options]: Parameters<typeof getList>): number => {
      const listed = JSON.parse(getList(given, options)) as {
        name: string
        description: string
        inputSchema: unknown
      }[]
      return count(
        JSON.stringify(listed.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))),
      )
    }
    expect(tokens(tools(500, 1))).toBeLessThanOrEqual(200)
    const sources = Object.fromEntries(
      Array.from({ length: 10 }, (_, at) => [`source-${at}`, 'files, folders and archives']),
    )
    expect(tokens(tools(500, 10), { sources })).toBeLessThanOrEqual(300)
  })

  it('R45 names servers and categories while they are few', () => {
    const sources = { 'source-0': 'Letters', 'source-1': 'Words that go on '.repeat(10) }
    const [search] = expose(createCatalog(tools(10, 2), { sources })).list()
    expect(search!.description).toBe(
      'Find tools: name the function in a few English words, one step per search. Call what it finds with use_tool.\nCategories:\nsource-0: Letters\nsource-1: Words that go on Words that go on Words that go on Words tha…',
    )
    expect(search!.inputSchema['properties']).toMatchObject({
      category: { description: 'Only tools of this category' },
    })
    const categories = createCatalog([tool('a', { category: 'x' }), tool('b', { category: 'y' })])
    expect(expose(categories).list()[0]!.inputSchema['properties']).toMatchObject({
      category: { description: 'Only tools of this category: x, y' },
    })
  })

  it('R44 rejects a core tool that does not exist, and names the nearest', () => {
    const catalog = createCatalog([...home, tool('mow_lawn', { source: 'other' })])
    for (const exposure of [hybrid, metaTool, twoPhase]) {
      expect(() => exposure({ core: ['send_leter'] }).check!(catalog)).toThrow(
        "There is no tool 'send_leter' to list as a core tool. Nearest: send_letter.",
      )
      expect(() => exposure({ core: ['mow_lawn'] }).check!(catalog)).toThrow(
        "There is no tool 'mow_lawn' to list as a core tool. It could be: garden__mow_lawn, other__mow_lawn.",
      )
    }
  })

  it('R44 a core is listed by name, and removed tools are left out', () => {
    const catalog = createCatalog(home)
    const exposed = expose(catalog, hybrid({ core: ['water_garden', 'mail/send_letter', 'sendLetter'] }))
    const names = () => exposed.list().map(({ name }) => name)
    expect(names()).toEqual(['send_letter', 'water_garden', 'search_tools', 'use_tool'])
    catalog.remove('send_letter')
    expect(names()).toEqual(['water_garden', 'search_tools', 'use_tool'])
  })

  it('R44 tools listed next to meta tools are marked as always loaded, those of a full list are not', () => {
    const always = { meta: { 'anthropic/alwaysLoad': true } }
    const catalog = createCatalog(home)
    for (const exposure of [hybrid(), metaTool(), twoPhase()])
      for (const listed of expose(catalog, exposure).list()) expect(listed).toMatchObject(always)
    const marked = expose(catalog, all())
      .list()
      .filter(({ meta }) => meta !== undefined)
    expect(marked.map(({ name }) => name)).toEqual(['mow_lawn'])
    const kept = createCatalog([tool('a', { core: true, meta: { 'x/y': 1 } })])
    expect(expose(kept).list()[0]!.meta).toEqual({ 'x/y': 1, ...always.meta })
  })

  it('R46 meta tools carry annotations', () => {
    for (const exposure of [hybrid(), metaTool(), twoPhase()])
      for (const listed of expose(createCatalog([]), exposure).list())
        expect(listed.annotations).toMatchObject({ title: expect.any(String), readOnlyHint: expect.any(Boolean) })
  })
})
