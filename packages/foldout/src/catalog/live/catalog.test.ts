import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createCatalog, hybrid, type Catalog, type CatalogEvent, type RawTool } from '../../entries/catalog.ts'
import { defineTool, fromJsonSchema, ok, type JsonSchema } from '../../entries/index.ts'
import { failed, said, getText, tool } from '../catalog.fixtures.ts'
import { isUnknown } from '../unknown-tool.ts'
import { takeTurns } from '../../../../../test/turns.ts'

const namesIn = (catalog: Catalog): string[] => catalog.tools.map(({ name }) => name)
const from = (source: string, ...names: string[]): RawTool[] => names.map((name) => tool(name, { source }))

describe('R43 a catalog', () => {
  it('R43 lists its tools by name', () => {
    const catalog = createCatalog(
      [...from('mail', 'send', 'search'), ...from('git', 'search', 'commit'), tool('now', { category: 'time' })],
      { sources: { mail: 'Letters of all kinds', toString: 'no source' } },
    )
    expect(namesIn(catalog)).toEqual(['commit', 'git__search', 'mail__search', 'now', 'send'])
    expect(catalog.sources).toEqual([
      { name: 'git', description: undefined, tools: 2 },
      { name: 'mail', description: 'Letters of all kinds', tools: 2 },
    ])
    expect(catalog.categories).toEqual(['git', 'mail', 'time'])
    expect(createCatalog([tool('a', { source: 'toString' })]).sources[0]!.description).toBeUndefined()
  })

  it('R43 adds and removes tools, and updates names', () => {
    const catalog = createCatalog(from('mail', 'search'))
    const first = catalog.tools
    catalog.add(from('git', 'search'))
    expect(namesIn(catalog)).toEqual(['git__search', 'mail__search'])
    expect(first.map(({ name }) => name)).toEqual(['search'])
    // A similar name is not enough to remove a tool.
    expect(catalog.remove('GitSearch')).toBe(false)
    expect(catalog.remove('git__search')).toBe(true)
    expect(catalog.remove('git__search')).toBe(false)
    expect(namesIn(catalog)).toEqual(['search'])
    expect(catalog.sources).toEqual([{ name: 'mail', description: undefined, tools: 1 }])
    expect(catalog.categories).toEqual(['mail'])
  })

  it('R43 has entries with their own fields, which a copy has too', () => {
    const schema = { type: 'object', properties: { to: { type: 'string' } } } as const
    const [entry] = createCatalog([tool('send', { inputSchema: schema, description: 'Sends a letter.' })]).tools
    const copy = { ...entry }
    expect(copy).toMatchObject({ name: 'send', inputSchema: schema, shortDescription: 'Sends a letter' })
    expect(Object.keys(copy)).toEqual(expect.arrayContaining(['outputSchema', 'problem', 'category', 'qualified']))
    expect(JSON.parse(JSON.stringify(entry))).toMatchObject({ name: 'send', inputSchema: schema })
    expect(Object.isFrozen(entry)).toBe(true)
  })

  it('R43 R45 gives the same names and answers at any stage of its background work', async () => {
    const names = Array.from({ length: 1_500 }, (_, index) => `send_letter_${index}`)
    const expected = createCatalog([...from('mail', ...names.slice(500)), ...from('post', ...names.slice(1_000))])
    for (const turns of [0, 1, 3]) {
      const catalog = createCatalog(from('mail', ...names))
      for (let turn = 0; turn < turns; turn++) await takeTurns(2)
      const early = catalog.search('send letter 700')
      catalog.add(from('post', ...names.slice(1_000)))
      for (const name of names.slice(0, 500)) expect(catalog.remove(`mail/${name}`)).toBe(true)
      await early
      const { hits } = await catalog.search('send letter 700')
      expect(hits.map(({ tool }) => tool.name)).toEqual(
        (await expected.search('send letter 700')).hits.map(({ tool }) => tool.name),
      )
      expect(namesIn(catalog)).toEqual(namesIn(expected))
    }
  })

  it('R43 removes a tool by a name that another one had before', () => {
    const catalog = createCatalog([...from('git', 'search'), ...from('mail', 'search')])
    catalog.add(from('x', 'git__search'))
    expect(catalog.remove('git__search')).toBe(true)
    expect(catalog.tools.map(({ qualified }) => qualified)).toEqual(['git/search', 'mail/search'])
  })

  it('R43 replaces the tools of one source, including those of defineTool and broken ones', async () => {
    const now = defineTool({ name: 'now', description: 'Tells the time.', execute: () => ok('noon') })
    const catalog = createCatalog([...from('a', 'x', 'y'), ...from('b', 'x'), { source: 'a' } as RawTool])
    expect(catalog.broken).toHaveLength(1)
    catalog.replace('a', [tool('y', { call: async () => said('new') }), now, { name: '' }])
    expect(catalog.tools.map(({ qualified }) => qualified)).toEqual(['a/now', 'b/x', 'a/y'])
    expect(getText(await catalog.call('y', {}))).toBe('new')
    expect(catalog.broken).toEqual([{ source: 'a', name: '?', reason: 'Its definition has no name.' }])
    catalog.replace('a', [])
    expect(catalog.tools.map(({ qualified }) => qualified)).toEqual(['b/x'])
    expect(catalog.broken).toEqual([])
  })

  it('R43 notifies listeners of changes, and they cannot break it', () => {
    const catalog = createCatalog([])
    const events: CatalogEvent[] = []
    catalog.subscribe(() => {
      throw new Error('never mind')
    })
    const stop = catalog.subscribe((event) => events.push(event))
    catalog.add([tool('a')])
    catalog.replace('s', [tool('b')], { description: 'Letters.' })
    expect(catalog.sources).toEqual([{ name: 's', description: 'Letters.', tools: 1 }])
    catalog.remove('a')
    catalog.remove('a')
    stop()
    catalog.add([tool('c')])
    expect(events).toEqual(Array.from({ length: 3 }, () => ({ type: 'catalog/changed' })))
  })
})

describe('R43 resolving a name', () => {
  const catalog = createCatalog([
    ...from('git', 'search', 'create_branch', 'getFile'),
    ...from('mail', 'search', 'Get_File'),
    tool('a.b/c'),
    ...from('x', 'list_users'),
    ...from('y', 'listUsers'),
  ])
  const resolved = (name: string): string | readonly string[] => {
    const found = catalog.resolve(name)
    return isUnknown(found) ? [found.isAmbiguous ? 'ambiguous' : 'unknown', ...found.near] : found.qualified
  }
  it.each([
    ['git__search', 'git/search'],
    ['git/search', 'git/search'],
    ['create_branch', 'git/create_branch'],
    ['createBranch', 'git/create_branch'],
    ['git.create-branch', 'git/create_branch'],
    ['GIT__CREATE_BRANCH', 'git/create_branch'],
    ['a.b/c', 'a.b~1c'],
    ['a_b_c', 'a.b~1c'],
    ['getFile', 'git/getFile'],
    ['Get_File', 'mail/Get_File'],
    ['listUsers', 'y/listUsers'],
  ])("R43 accepts the model's, the qualified or the declared name, or one close to it: %s", (name, qualified) =>
    expect(resolved(name)).toBe(qualified),
  )

  it('R43 lists the tools that an ambiguous name could mean', () => {
    expect(resolved('search')).toEqual(['ambiguous', 'git__search', 'mail__search'])
    expect(resolved('get-file')).toEqual(['ambiguous', 'Get_File', 'getFile'])
  })

  it('R46 lists the nearest names to an unknown one, in any order of tools', () => {
    expect(resolved('create_brunch')).toEqual(['unknown', 'create_branch'])
    const near = (names: string[]) => createCatalog(names.map((name) => tool(name))).resolve('paint_x')
    const names = ['paint_b', 'paint_a', 'paint_d', 'paint_c']
    expect(near(names)).toMatchObject({ near: ['paint_a', 'paint_b', 'paint_c'] })
    expect(near(names.toReversed())).toMatchObject({ near: ['paint_a', 'paint_b', 'paint_c'] })
    expect(resolved('launch_the_rocket')).toEqual(['unknown'])
  })

  it('R43 does not find a tool that was removed', () => {
    const live = createCatalog([tool('gone_tool'), tool('other')])
    live.remove('gone_tool')
    for (const name of ['gone_tool', 'goneTool']) expect(live.resolve(name)).toMatchObject({ unknown: name })
  })
})

describe('R49 removed tools', () => {
  const identity = fc.tuple(
    fc.constantFrom('a', 'a_b', 'a b', 'b', undefined),
    fc.constantFrom('x', 'a__x', 'x.x', 'x_x', 'X', 'use_tool'),
  )
  const state = (catalog: Catalog) =>
    catalog.tools.map(({ name, qualified }) => {
      const found = catalog.resolve(name)
      return [name, qualified, isUnknown(found) ? undefined : found.qualified]
    })

  it('R49 leave no trace in a catalog', () => {
    fc.assert(
      fc.property(fc.array(identity), fc.array(identity), (tools, others) => {
        const make = (given: typeof tools) =>
          given.map(([source, name]) => tool(name, source === undefined ? {} : { source }))
        const fresh = createCatalog(make(tools))
        const used = createCatalog(make(others))
        used.add(make(tools))
        const wanted = new Set(fresh.tools.map(({ qualified }) => qualified))
        const unwanted = used.tools.filter(({ qualified }) => !wanted.has(qualified))
        for (const { qualified } of unwanted) expect(used.remove(qualified)).toBe(true)
        expect(state(used)).toEqual(state(fresh))
        for (const [, qualified, resolved] of state(fresh)) expect(resolved).toBe(qualified)
      }),
    )
  })
})

describe('R48 searches', () => {
  const tools = [tool('send_letter'), tool('water_garden'), tool('start_engine')]

  it('R48 are kept until the catalog changes', async () => {
    const catalog = createCatalog(tools)
    const first = await catalog.search('water the garden')
    expect(first.hits[0]!.tool.name).toBe('water_garden')
    expect(await catalog.search('water the garden')).toBe(first)
    expect(await catalog.search('water the garden', { limit: 1 })).not.toBe(first)
    catalog.add([tool('water_garden_slowly')])
    const second = await catalog.search('water garden slowly')
    expect(second.hits.map(({ tool: { name } }) => name)).toContain('water_garden_slowly')
    expect(await catalog.search('water the garden')).not.toBe(first)
    catalog.remove('water_garden')
    const third = await catalog.search('water the garden')
    expect(third.hits.map(({ tool: { name } }) => name)).not.toContain('water_garden')
  })

  it('R48 return tools under their current names', async () => {
    const catalog = createCatalog(from('mail', 'send_letter'))
    expect((await catalog.search('send letter')).hits[0]!.tool.name).toBe('send_letter')
    catalog.add(from('post', 'send_letter'))
    expect((await catalog.search('send letter')).hits.map(({ tool: { name } }) => name).sort()).toEqual([
      'mail__send_letter',
      'post__send_letter',
    ])
    catalog.remove('post/send_letter')
    expect((await catalog.search('send letter')).hits.map(({ tool: { name } }) => name)).toEqual(['send_letter'])
  })

  it('R45 need a query', async () => {
    const catalog = createCatalog(tools)
    for (const query of ['', '  \n'])
      await expect(catalog.search(query)).rejects.toMatchObject({
        code: 'search-empty',
        message: 'A search needs words: say what you want to do, or name a tool.',
      })
  })

  it('R45 can be explained, even for tools that were not found', async () => {
    const catalog = createCatalog(tools)
    expect(await catalog.explain('water the garden', 'water_garden')).toMatchObject({
      words: expect.arrayContaining([expect.objectContaining({ word: 'garden' })]),
    })
    expect(await catalog.explain('water the garden', 'start_engine')).toMatchObject({ words: [] })
    expect(await catalog.explain('water the garden', 'nothing_like_it')).toBeUndefined()
  })

  it('R61 are not cached until the encoder takes part', async () => {
    let isDown = true
    const problems: unknown[] = []
    const catalog = createCatalog(tools, {
      embed: async (texts) => {
        if (isDown) throw new Error('the model is down')
        return texts.map((text) => (text.includes('garden') ? [1, 0] : [0, 1]))
      },
    })
    catalog.subscribe((event) => event.type === 'search/problem' && problems.push(event))
    const search = () => catalog.search('water the garden')
    expect(await catalog.ready()).toMatchObject({ meaning: 'word-vectors' })
    expect(await search()).toMatchObject({
      meaning: 'word-vectors',
      withoutEncoder: "The search's embedding function failed: the model is down",
    })
    expect(problems).toMatchObject([{ code: 'search-embedding-failed', tool: undefined }])
    isDown = false
    expect(await catalog.ready()).toEqual({ meaning: 'encoder', withoutEncoder: undefined })
    expect(await search()).toMatchObject({ meaning: 'encoder' })
    expect(await search()).toBe(await search())
  })
})

describe('R46 a call', () => {
  const inputSchema: JsonSchema = {
    type: 'object',
    properties: {
      to: { type: 'string', format: 'email', description: 'Who gets it' },
      lines: { type: 'array', items: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
      copies: { type: 'integer', minimum: 1, maximum: 5 },
    },
    required: ['to'],
  }
  const call = vi.fn(async () => said('sent'))
  const catalog = createCatalog([tool('send', { source: 'mail', inputSchema, call }), { name: 'known_only' }])

  it('R46 with wrong arguments names each fault and its place, quotes the schema, and runs nothing', async () => {
    call.mockClear()
    expect(await catalog.call('send', { to: 'a@b.de', lines: [{ text: 'x' }, { text: 5 }], copies: 9 })).toEqual(
      failed(
        'Wrong arguments for tool \'send\': lines[1].text must be a string, not a number; copies must be at most 5. Nothing was run. Schema: {"lines[1].text":{"type":"string"},"copies":{"type":"integer","minimum":1,"maximum":5}}',
      ),
    )
    expect(getText(await catalog.call('send', {}))).toBe(
      'Wrong arguments for tool \'send\': to is required. Nothing was run. Schema: {"to":{"type":"string","description":"Who gets it","format":"email"}}',
    )
    expect(getText(await catalog.call('send', [1]))).toBe(
      "Wrong arguments for tool 'send': they must be one JSON object. Nothing was run.",
    )
    expect(call).not.toHaveBeenCalled()
  })

  it('R46 quotes at most three places of the schema', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const wide = createCatalog([
      tool('wide', {
        inputSchema: {
          type: 'object',
          properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
        },
      }),
    ])
    const text = getText(await wide.call('wide', Object.fromEntries(names.map((name) => [name, 1]))))
    for (const name of names) expect(text).toContain(`${name} must be a string, not a number`)
    expect(text.split('Schema: ')[1]).toBe('{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}}')
  })

  it('R46 with many wrong arguments, or against a giant enum, is answered in few words', async () => {
    const enums = Array.from({ length: 1_000 }, (_, at) => `value-${at}`)
    const items: JsonSchema = { type: 'string', enum: enums }
    const giant = createCatalog([
      tool('giant', { inputSchema: { type: 'object', properties: { list: { type: 'array', items } } } }),
    ])
    const text = getText(await giant.call('giant', { list: Array.from({ length: 100 }, () => 'x') }))
    expect(text).toMatch(/^Wrong arguments for tool 'giant': list\[0\] must be one of /)
    expect(text).toContain('; and 95 more. Nothing was run. Schema: {"list[0]":')
    expect(text.length).toBeLessThan(3_000)
  })

  it('R46 passes arguments and context to the tool unchanged', async () => {
    call.mockClear()
    const context = { signal: new AbortController().signal, onProgress: () => {}, meta: { trace: 1 } }
    const args = { to: 'a@b.de', more: { x: [1] } }
    await catalog.call('mail/send', args, context)
    expect(call.mock.calls).toEqual([[args, context]])
  })

  it('R46 of a tool that throws, returns nothing or cannot run is answered', async () => {
    const odd = createCatalog([
      tool('throws', {
        call: async () => {
          throw new Error('no network')
        },
      }),
      tool('throws_at_once', {
        call: () => {
          throw new Error('at once')
        },
      }),
      tool('nothing', { call: async () => undefined as never }),
      tool('bare', { call: async () => ({ structuredContent: { a: 1 } }) as never }),
    ])
    expect(await odd.call('throws', {})).toEqual(failed("Tool 'throws' failed: no network"))
    expect(await odd.call('throws_at_once', {})).toEqual(failed("Tool 'throws_at_once' failed: at once"))
    expect(await odd.call('nothing', {})).toEqual(failed("Tool 'nothing' failed: it did not return a result."))
    expect(await odd.call('bare', {})).toEqual({ content: [], structuredContent: { a: 1 } })
    expect(await catalog.call('known_only', {})).toEqual(
      failed("Tool 'known_only' cannot be run here: the catalog has only its definition."),
    )
    expect(await catalog.call('sent', {})).toEqual(failed("Tool 'sent' not found. Nearest: send."))
  })

  it('R46 keeps the images that a tool made with defineTool returns', async () => {
    const images = [{ mimeType: 'image/png', data: 'iVBORw0KGgo=' }]
    const draw = defineTool({ name: 'draw', description: 'Draws.', execute: () => ({ ...ok('Drawn.'), images }) })
    expect(await createCatalog([draw]).call('draw', {})).toEqual({
      content: [
        { type: 'text', text: 'Drawn.' },
        { type: 'image', ...images[0] },
      ],
    })
  })

  it('R46 checks arguments once, and leaves no listener on the signal', async () => {
    let checks = 0
    const params = fromJsonSchema({ type: 'object' })
    const { validate } = params['~standard']
    const counted = {
      '~standard': { ...params['~standard'], validate: (value: unknown) => (checks++, validate(value)) },
    }
    const plain = defineTool({ name: 'plain', description: 'Does.', params: counted, execute: () => ok('Done.') })
    const catalog = createCatalog([plain, tool('raw')])
    const { signal } = new AbortController()
    for (const name of ['plain', 'raw', 'nothing'])
      for (let i = 0; i < 20; i++) await catalog.call(name, {}, { signal })
    expect(checks).toBe(20)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    let during = 0
    const watch = async () => {
      during = getEventListeners(signal, 'abort').length
      return said('')
    }
    const exposed = hybrid().expose(createCatalog([tool('watch', { call: watch })]), {
      id: 'c',
      takesListChanges: true,
    })
    await exposed.call('use_tool', { name: 'watch' }, { signal })
    expect(during).toBe(1)
    // A tool that watches its signal does so alone.
    await createCatalog([tool('watch', { call: watch, watchesSignal: true })]).call('watch', {}, { signal })
    expect(during).toBe(0)
  })

  it('R46 keeps `this` of the tool it runs', async () => {
    const own = {
      name: 'own',
      secret: 'kept',
      call: async function (this: { secret: string }) {
        return said(this.secret)
      },
    }
    expect(getText(await createCatalog([own as never]).call('own', {}))).toBe('kept')
  })

  it('R46 rejects at once on abort, even if the tool ignores it', async () => {
    const deaf = createCatalog([
      tool('deaf', { call: () => new Promise(() => {}) }),
      tool('heeding', {
        call: (_, { signal }) =>
          new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(new Error('own words')))),
      }),
      tool('watching', {
        watchesSignal: true,
        call: (_, { signal }) =>
          new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(new Error('own words')))),
      }),
      defineTool({ name: 'defined', description: 'Hangs.', execute: () => new Promise(() => {}) }),
    ])
    for (const name of ['deaf', 'heeding', 'watching', 'defined']) {
      const abort = new AbortController()
      const pending = deaf.call(name, {}, { signal: abort.signal })
      setTimeout(() => abort.abort(new Error('enough')), 5)
      await expect(pending).rejects.toThrow('enough')
    }
    await expect(deaf.call('deaf', {}, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before')
  })
})

describe('R46 approval', () => {
  const ran: string[] = []
  const erase = tool('erase', { source: 'disk', call: async () => (ran.push('erase'), { content: [] }) })
  const asked: unknown[] = []
  const catalogWith = (answer: () => boolean | string) =>
    createCatalog([erase], {
      approve: ({ entry, arguments: args }) => {
        asked.push([entry.qualified, args])
        return answer()
      },
    })

  it('R46 receives the inner tool and its arguments, whichever meta tool runs it', async () => {
    const exposed = hybrid().expose(
      catalogWith(() => true),
      { id: 'c', takesListChanges: true },
    )
    await exposed.call('use_tool', { name: 'erase', arguments: '{"all":true}' }, {})
    expect(asked.splice(0)).toEqual([['disk/erase', { all: true }]])
    expect(ran.splice(0)).toEqual(['erase'])
  })

  it.each([
    [() => false, "Tool 'erase' was not approved. Nothing was run."],
    [() => 'Not on a Friday.', 'Not on a Friday.'],
    [
      () => {
        throw new Error('Nobody is there.')
      },
      "Tool 'erase' failed: Nobody is there.",
    ],
  ])('R46 rejects a call before anything runs: %s', async (answer, message) => {
    expect(await catalogWith(answer).call('erase', {})).toEqual(failed(message))
    expect(ran).toEqual([])
  })
})
