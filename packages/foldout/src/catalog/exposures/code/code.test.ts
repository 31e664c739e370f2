import { afterAll, describe, expect, it } from 'vitest'
import {
  createCatalog,
  type CallResult,
  type Catalog,
  type CatalogEvent,
  type RawTool,
} from '../../../entries/catalog.ts'
import { gptTokenizer } from '../../../entries/gpt-tokenizer.ts'
import { code, createSandbox } from '../../../entries/code.ts'

const sandbox = createSandbox({ limits: { outputCharacters: 200 } })
afterAll(() => sandbox.close())

const lights = new Map<string, boolean>()

const home: readonly RawTool[] = [
  {
    name: 'set_light',
    source: 'home',
    description: 'Switches the light of a room.',
    inputSchema: {
      type: 'object',
      properties: { room: { type: 'string' }, on: { type: 'boolean' } },
      required: ['room', 'on'],
    },
    call: async ({ room, on }) => {
      if (room === 'attic') return { content: [{ type: 'text', text: "There is no room 'attic'." }], isError: true }
      lights.set(room as string, on as boolean)
      return { content: [{ type: 'text', text: `{"room":"${room as string}","on":${String(on)}}` }] }
    },
  },
  {
    name: 'list-rooms',
    source: 'home',
    description: 'Lists the rooms.',
    outputSchema: {
      type: 'object',
      properties: { rooms: { type: 'array', items: { type: 'string' } } },
      required: ['rooms'],
    },
    call: async () => ({
      content: [{ type: 'text', text: 'two rooms' }],
      structuredContent: { rooms: ['hall', 'bath'] },
    }),
  },
  {
    name: 'take_picture',
    source: 'camera',
    description: 'Takes a picture.',
    call: async () => ({
      content: [
        { type: 'text', text: 'The hall.' },
        { type: 'image', data: 'aGFsbA==', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'a:b', blob: 'YmxvYg==' } },
      ],
    }),
  },
  {
    name: 'measure',
    source: 'camera',
    description: 'Tells how many bytes something has.',
    inputSchema: { type: 'object', properties: { data: { type: 'string' } } },
    call: async ({ data }) => ({ content: [{ type: 'text', text: `${String(data)} it is` }] }),
  },
  { name: 'hang', source: 'camera', description: 'Hangs.', call: () => new Promise(() => {}) },
]

const getExposed = (catalog: Catalog) => code({ sandbox }).expose(catalog, { id: 'c', takesListChanges: true })
const catalog = createCatalog(home, { sources: { home: 'Everything in the house.' } })
const exposed = getExposed(catalog)
const lookUp = (args: unknown, of = exposed): Promise<CallResult> => of.call('look_up_tools', args, {})
const run = (code: string, of = exposed): Promise<CallResult> => of.call('run_code', { code }, {})
const getText = ({ content }: CallResult): unknown => content[0]?.['text']
const said = (text: string): CallResult => ({ content: [{ type: 'text', text }] })
const failed = (text: string): CallResult => ({ ...said(text), isError: true })

describe('R44 look_up_tools', () => {
  it('R44 names the right argument if a model uses a wrong one', async () => {
    const wrong = "Wrong arguments for tool 'look_up_tools': there is no argument 'path'; there are: query, paths."
    expect(await lookUp({ path: 'servers/home' })).toEqual(failed(wrong))
    expect(await lookUp({ query: 'light', limit: 3 })).toEqual(await lookUp({ query: 'light' }))
  })

  it('R44 says how much of a long query was read', async () => {
    const text = getText(await lookUp({ query: 'light '.repeat(1_000) }))
    expect(text).toMatch(/^Only the first 2,000 characters of the query were read\.\n/)
    expect(text).toContain('set_light')
  })

  it('R44 looks up no more paths than it can show', async () => {
    const text = getText(await lookUp({ paths: Array.from({ length: 100_000 }, (_, i) => `servers/no${i}`) }))
    expect(String(text).length).toBeLessThan(20_000)
  })

  it('R44 lists the servers', async () => {
    const servers = 'servers/camera/ (3 tools)\nservers/home/ (2 tools) — Everything in the house.'
    for (const args of [
      undefined,
      {},
      { paths: [] },
      { paths: null, query: '' },
      { paths: 'servers' },
      { paths: ['/servers/'] },
    ])
      expect(await lookUp(args)).toEqual(said(servers))
    expect(await lookUp({}, getExposed(createCatalog([])))).toEqual(said('There are no tools.'))
  })

  it('R44 lists the tools of a server', async () => {
    const files =
      'servers/home/\nlist_rooms.d.ts (tool list-rooms) — Lists the rooms\nset_light.d.ts — Switches the light of a room'
    for (const path of ['servers/home', 'servers/home/', 'home', './servers/home'])
      expect(await lookUp({ paths: [path] })).toEqual(said(files))
  })

  it('R44 reads declarations, with the type of the result if it is known', async () => {
    const read = await lookUp({ paths: ['servers/home/set_light.d.ts', 'servers/home/list_rooms.d.ts'] })
    expect(getText(read)).toBe(`// servers/home/set_light.d.ts
/**
 * Switches the light of a room.
 * @returns The tool's text, parsed if it is JSON; a list of content parts if it is more than text.
 */
export declare function set_light(input: {
  room: string
  on: boolean
}): Promise<unknown>
// servers/home/list_rooms.d.ts (tool list-rooms)
/**
 * Lists the rooms.
 */
export declare function list_rooms(input?: Record<string, unknown>): Promise<{
  rooms: string[]
}>`)
    for (const path of ['home/set_light', 'set_light', 'home/set_light.d.ts'])
      expect(getText(await lookUp({ paths: path }))).toMatch(/^\/\/ servers\/home\/set_light\.d\.ts\n/)
  })

  it('R44 finds declarations by their purpose', async () => {
    const events: CatalogEvent[] = []
    const stop = catalog.subscribe((event) => events.push(event))
    const found = getText(await lookUp({ query: 'switch on the light' }))
    expect(found).toMatch(/^\/\/ servers\/home\/set_light\.d\.ts\n/)
    expect(found).toContain('export declare function set_light(')
    expect(getText(await lookUp({ query: 'qwxzzy vvkkpp' }))).toMatch(/^Nothing fits "qwxzzy vvkkpp"\./)
    await lookUp({ paths: ['home/set_light'] })
    stop()
    expect(events.map(({ type }) => type)).toEqual(['tools/searched', 'tools/searched', 'tool/defined'])
    expect(events[0]).toMatchObject({ client: 'c', query: 'switch on the light' })
    expect(events[2]).toMatchObject({ client: 'c', name: 'home/set_light' })
  })

  it('R44 answers an unknown path with the nearest', async () => {
    expect(await lookUp({ paths: ['servers/hom'] })).toEqual(
      failed("There is no 'servers/hom'. Nearest: servers/home, servers/camera."),
    )
    expect(getText(await lookUp({ paths: ['servers/home/set_lihgt.d.ts'] }))).toMatch(
      /^There is no 'servers\/home\/set_lihgt\.d\.ts'\. Nearest: servers\/home\/set_light\.d\.ts/,
    )
    expect((await lookUp({ paths: ['servers/home/x/y'] })).isError).toBe(true)
    expect(await lookUp({ paths: [5] })).toEqual(failed("'paths' must be a list of strings."))
    expect(await lookUp({ query: 5 })).toEqual(failed("'query' must be a string."))
  })

  it('R44 is never too long', async () => {
    const counter = await gptTokenizer()
    const description = 'Does something that takes a good many words to be told in full, and then some. '
    const many = createCatalog(
      Array.from({ length: 2_000 }, (_, at) => ({
        name: `polish_mirror_${at}`,
        source: `server ${at % 300}`,
        description: description.repeat(8),
      })).concat(Array.from({ length: 500 }, (_, at) => ({ name: `tool_${at}`, source: 'large', description }))),
    )
    const folder = getExposed(many)
    for (const args of [{}, { paths: ['servers/large'] }, { query: 'polish a mirror' }]) {
      const text = getText(await lookUp(args, folder)) as string
      expect(counter.count(text)).toBeLessThan(1_100)
      expect(text).toMatch(/more/)
    }
    const all = Array.from({ length: 50 }, (_, at) => `polish_mirror_${at}`)
    const text = getText(await lookUp({ paths: all }, folder)) as string
    expect(counter.count(text)).toBeLessThan(5_000)
    expect(text).toMatch(/Left out, because the answer would be too long: polish_mirror_\d+, .* and \d+ more\.$/)
  })

  it('R44 costs little to list, whatever the catalog', async () => {
    const counter = await gptTokenizer()
    const tokens = exposed
      .list()
      .reduce((sum, tool) => sum + counter.count(JSON.stringify({ ...tool, annotations: undefined })), 0)
    expect(tokens).toBeLessThan(280)
  })
})

describe('R44 run_code', () => {
  it('R44 runs a program on the tools', async () => {
    const program = `
      const { rooms } = await home.list_rooms()
      const done: unknown[] = []
      for (const room of rooms) done.push(await home.set_light({ room, on: true }))
      console.log('lit', done.length)
      return done`
    expect(await run(program)).toEqual(said('lit 2\nReturned: [{"room":"hall","on":true},{"room":"bath","on":true}]'))
    expect(Object.fromEntries(lights)).toEqual({ hall: true, bath: true })
  })

  it('R44 returns texts and empty values unchanged', async () => {
    expect(await run("return 'two\\nlines'")).toEqual(said('two\nlines'))
    expect(await run('const a = 1')).toEqual(said('Done. The program returned nothing and logged nothing.'))
    expect(await run("console.log('only'); console.error('this')")).toEqual(said('only\n[error] this'))
    expect(await run('```ts\nreturn 1\n```')).toEqual(said('1'))
  })

  it('R44 reports the error, its location, and the calls before it', async () => {
    expect(
      await run("await home.set_light({ room: 'hall', on: true })\nawait home.set_light({ room: 'attic', on: true })"),
    ).toEqual(
      failed(
        "Error: There is no room 'attic'. (line 2, column 12)\n  2 | await home.set_light({ room: 'attic', on: true })\nBefore that, these calls succeeded: home.set_light.",
      ),
    )
    const wrong = await run("await home.set_light({ room: 'hall' })")
    expect(wrong.isError).toBe(true)
    expect(getText(wrong)).toMatch(/^Error: Wrong arguments for tool 'set_light'/)
  })

  it('R44 names the function that was meant', async () => {
    expect(await run('return await home.set_lihgt({})')).toEqual(
      failed(
        'TypeError: not a function (line 1, column 18)\n  1 | return await home.set_lihgt({})\nThere is no function home.set_lihgt. Nearest: home.set_light.',
      ),
    )
    expect(getText(await run("await tools['list-room']()"))).toMatch(
      /no function tools\.list-room\. Nearest: tools\.list-rooms/,
    )
    expect(getText(await run('await hom.set_light({})'))).toMatch(/There is no server 'hom'\. Nearest: home\.$/)
    expect(getText(await run('await set_light({})'))).toMatch(/Tools are functions of their server: home\.set_light\.$/)
  })

  it('R44 reports calls that were not awaited', async () => {
    expect(await run('camera.hang(); camera.hang(); return 1')).toEqual(
      said('1\nThe program ended before these calls, which were cancelled: camera.hang ×2. Await every call.'),
    )
  })

  it('R44 reports how much was left out', async () => {
    expect(await run("return 'x'.repeat(1300)")).toEqual(
      said(`"${'x'.repeat(199)}…\n(1,102 more characters were left out. Log and return less.)`),
    )
  })

  it('R44 returns images and files as such if the program returns them', async () => {
    const parts = [
      { type: 'image', data: 'aGFsbA==', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'a:b', blob: 'YmxvYg==' } },
    ]
    const [text, ...attached] = (await run('return await camera.take_picture()')).content
    expect(text!['text']).toContain('attachment:1')
    expect(text!['text']).not.toContain('aGFsbA==')
    expect(attached).toEqual(parts)
    const one = await run("const all = await camera.take_picture()\nreturn all.find((part) => part.type === 'image')")
    expect(one.content.slice(1)).toEqual(parts.slice(0, 1))
    const passed = await run(
      'const [, picture] = await camera.take_picture()\nreturn await camera.measure({ data: picture.data })',
    )
    expect(passed).toEqual(said('aGFsbA== it is'))
    expect((await run("return 'attachment:7'")).content).toHaveLength(1)
  })

  it('R44 rejects anything that is not a program', async () => {
    for (const args of [{}, { code: '' }, { code: '  ' }, { code: 5 }, undefined])
      expect(await exposed.call('run_code', args, {})).toEqual(failed("Write the program to run in 'code'."))
  })

  it('R48 reports each tool that ran', async () => {
    const events: CatalogEvent[] = []
    const stop = catalog.subscribe((event) => events.push(event))
    await run("await home.set_light({ room: 'hall', on: true })\nawait home.set_light({ room: 'attic', on: true })")
    stop()
    expect(events).toEqual(
      [true, false].map((ok) => ({
        type: 'tool/used',
        client: 'c',
        name: 'home/set_light',
        through: 'run_code',
        ok,
        durationMs: expect.any(Number),
        wrappingTokens: 0,
      })),
    )
  })
})

describe('R44 functions of a catalog', () => {
  const call = async () => ({ content: [{ type: 'text', text: 'called' }] })

  it('R44 have valid identifiers, whatever the tools are called', async () => {
    const untidy = createCatalog([
      { name: 'get-it', source: 'my server', call },
      { name: 'get_it', source: 'my server', call },
      { name: 'delete', source: 'JSON', call },
      { name: 'then', source: 'console', call },
      { name: 'run', source: 'tools', call },
      { name: 'alone', call },
      { name: 'other', source: 'local', call },
      { name: '冷蔵庫', source: '台所', call },
    ])
    const folder = getExposed(untidy)
    const paths = getText(
      await lookUp({ paths: ['台所', 'JSON_', 'console_', 'tools_2', 'local', 'local_2', 'my_server'] }, folder),
    )
    expect(paths).toMatchInlineSnapshot(`
      "servers/台所/
      冷蔵庫.d.ts (tool tool_f24011c2) — 冷蔵庫
      servers/JSON_/
      delete_.d.ts (tool delete) — Delete
      servers/console_/
      then_.d.ts (tool then) — Then
      servers/tools_2/
      run.d.ts — Run
      servers/local/
      other.d.ts — Other
      servers/local_2/
      alone.d.ts — Alone
      servers/my_server/
      get_it.d.ts (tool get-it) — Get it
      get_it_2.d.ts (tool get_it) — Get it"
    `)
    const program = `return await Promise.all([my_server.get_it({}), my_server.get_it_2({}), JSON_.delete_({}), console_.then_({}), tools_2.run({}),
      local.other({}), local_2.alone({}), 台所.冷蔵庫({}), tools.alone({}), tools['get-it']({})])`
    expect(getText(await run(program, folder))).toBe(JSON.stringify(Array.from({ length: 10 }, () => 'called')))
  })

  it('R44 match the current catalog', async () => {
    const changing = createCatalog([{ name: 'first', source: 'a', call }])
    const folder = getExposed(changing)
    expect(getText(await run('return await a.first()', folder))).toBe('called')
    changing.add([{ name: 'second', source: 'a', call }])
    expect(getText(await run('return [await a.second(), Object.keys(a)]', folder))).toBe(
      '["called",["first","second"]]',
    )
    changing.remove('first')
    expect((await run('return await a.first()', folder)).isError).toBe(true)
  })
})

describe('R44 questions of tools that a program calls', () => {
  it('do not take its time', async () => {
    const hasty = createSandbox({ limits: { timeMs: 300 } })
    const confirm: RawTool = {
      name: 'confirm',
      source: 'home',
      description: 'Asks the user.',
      async call(_, { peer }) {
        const answer = await peer?.ask?.('elicitation/create', { message: 'Really?' })
        return { content: [{ type: 'text', text: String(answer?.['action']) }] }
      },
    }
    const exposed = code({ sandbox: hasty }).expose(createCatalog([confirm]), { id: 'c', takesListChanges: true })
    const peer = {
      era: 'legacy' as const,
      capabilities: {},
      notify: async () => {},
      ask: () => new Promise<{ action: string }>((resolve) => setTimeout(() => resolve({ action: 'accept' }), 700)),
    }
    const result = await exposed.call('run_code', { code: 'return await home.confirm({})' }, { peer })
    hasty.close()
    expect(result.content[0]?.['text']).toContain('accept')
  })
})
