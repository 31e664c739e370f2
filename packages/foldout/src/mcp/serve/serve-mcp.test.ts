import { afterEach, describe, expect, it } from 'vitest'
import { createCatalog } from '../../catalog/live/catalog.ts'
import type { Catalog } from '../../catalog/contract.ts'
import { all } from '../../catalog/exposures/all.ts'
import { auto } from '../../catalog/exposures/auto.ts'
import { hybrid } from '../../catalog/exposures/hybrid.ts'
import { metaTool } from '../../catalog/exposures/meta-tool.ts'
import { twoPhase } from '../../catalog/exposures/two-phase.ts'
import { createSession } from '../../session/session.ts'
import { ok } from '../../tools/result.ts'
import { defineTool } from '../../tools/tool.ts'
import { countTokens } from 'gpt-tokenizer'
import { manyKinds, RICH_RESULT, visits, type Seen } from './catalog.fixtures.ts'
import {
  allKinds,
  inMemory,
  legacyKinds,
  overHttp,
  getText,
  type ClientKind,
  type TestClient,
} from './clients.fixtures.ts'
import type { ServedClient } from './contract/client.ts'
import { serveMcp, type ServedMcp } from './serve-mcp.ts'
import type { ServeMcpOptions } from './contract/options.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

function serve(catalog: Catalog, options: Partial<ServeMcpOptions> = {}): ServedMcp {
  const served = serveMcp(catalog, {
    name: 'home',
    version: '1.0.0',
    session: () => createSession({ slices: [visits] }),
    ...options,
  })
  open.push(served)
  return served
}

type Link = 'in memory' | 'over HTTP'
const links: readonly Link[] = ['in memory', 'over HTTP']
const everyWay = allKinds.flatMap((kind) => links.map((link) => [kind, link] as const))
const everyLegacyWay = legacyKinds.flatMap((kind) => links.map((link) => [kind, link] as const))

async function connect(served: ServedMcp, kind: ClientKind, link: Link): Promise<TestClient> {
  const client = link === 'in memory' ? await inMemory(served, kind) : await overHttp(await getUrl(served), kind)
  open.push(client)
  return client
}

const urls = new WeakMap<ServedMcp, string>()
async function getUrl(served: ServedMcp): Promise<string> {
  let url = urls.get(served)
  if (url === undefined) urls.set(served, (url = (await served.http()).url))
  return url
}

const getNames = ({ tools }: Awaited<ReturnType<TestClient['list']>>): string[] => tools.map(({ name }) => name)
const soon = () => new Promise((resolve) => setTimeout(resolve, 20))

describe.each(everyWay)('a %s %s', (kind, link) => {
  const connected = (catalog: Catalog, options?: Partial<ServeMcpOptions>) =>
    connect(serve(catalog, options), kind, link)

  it('R44 lists the core tools and the meta tools, as they are defined', async () => {
    const client = await connected(manyKinds(), { expose: hybrid() })
    const { tools } = await client.list()
    expect(tools.map(({ name }) => name)).toEqual(['get_states', 'search_tools', 'use_tool'])
    expect(tools[0]).toEqual({
      name: 'get_states',
      description: 'Tells the state of every device.',
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
      _meta: { 'example.com/kept': 1, 'anthropic/alwaysLoad': true },
    })
    for (const tool of tools) expect(tool).toMatchObject({ _meta: { 'anthropic/alwaysLoad': true } })
  })

  it('R46 finds a hidden tool and uses it, through use_tool and directly', async () => {
    const client = await connected(manyKinds(), { expose: hybrid() })
    expect(getText(await client.call('search_tools', { query: 'water the garden' }))).toMatch(
      /^water_garden\(beds: int/,
    )
    expect(await client.call('use_tool', { name: 'water_garden', arguments: { beds: 2 } })).toMatchObject({
      content: [{ type: 'text', text: '2 beds.' }],
    })
    expect(getText(await client.call('water_garden', { beds: 3 }))).toBe('3 beds.')
  })

  it('R44 is served another catalog, if it is one of those that get one', async () => {
    const answer = async () => ({ content: [] })
    const [others, own] = ['everyone', 'mine'].map((name) => createCatalog([{ name, description: name, call: answer }]))
    if (!others || !own) throw new Error('There are two.')
    const wanted = { 'v1 client': 'first', 'v2 client, legacy': 'second', 'v2 client, modern': 'third' }[kind]
    for (const name of [wanted, 'another']) {
      const client = await connected(others, { expose: all(), catalogFor: (it) => (it.name === name ? own : others) })
      const [seen, hidden] = name === wanted ? ['mine', 'everyone'] : ['everyone', 'mine']
      expect(getNames(await client.list())).toEqual([seen])
      expect((await client.call(hidden)).isError).toBe(true)
      own.add([{ name: `more_${name}`, description: 'More.', call: answer }])
      expect(getNames(await client.list())).toHaveLength(name === wanted ? 2 : 1)
    }
  })

  it('R46 passes every part of a result through unchanged', async () => {
    const client = await connected(manyKinds(), { expose: hybrid() })
    for (const call of [client.call('take_picture'), client.call('use_tool', { name: 'take_picture' })]) {
      const { _meta: meta, ...result } = await call
      const { _meta: expectedMeta, ...expected } = RICH_RESULT
      expect(result).toEqual(expected)
      expect(meta).toMatchObject(expectedMeta as object)
    }
  })

  it('R46 passes an error of a tool on as an error', async () => {
    const client = await connected(manyKinds(), { expose: hybrid() })
    expect(await client.call('use_tool', { name: 'break_vase' })).toMatchObject({
      content: [{ type: 'text', text: 'It is broken.' }],
      isError: true,
    })
  })

  it('R46 answers an unknown tool and wrong arguments with an error that a model can fix', async () => {
    const client = await connected(manyKinds(), { expose: hybrid() })
    const unknown = await client.call('water_gardn')
    expect(unknown.isError).toBe(true)
    expect(getText(unknown)).toMatch(
      /^Tool 'water_gardn' not found\. Use search_tools to discover available tools\. Nearest: water_garden\.$/,
    )
    const wrong = await client.call('use_tool', { name: 'water_garden', arguments: { beds: 'two' } })
    expect(wrong.isError).toBe(true)
    expect(getText(wrong)).toMatch(/^Wrong arguments for tool 'water_garden': .*beds.* Nothing was run\./)
  })

  it('R66 gives every call an id that no other call has, and the key that its client sends', async () => {
    const seen: (readonly (string | undefined)[])[] = []
    const whoami = defineTool({
      name: 'whoami',
      description: 'Says.',
      execute: (_, { callId, idempotencyKey }) => (seen.push([callId, idempotencyKey]), ok('Said.')),
    })
    for (const _ of [1, 2]) {
      const client = await connected(createCatalog([whoami]), { expose: all() })
      await client.call('whoami')
      await client.call('whoami', {}, { meta: { 'foldout/idempotencyKey': 'again' } })
      await client.call('whoami', {}, { meta: { 'foldout/idempotencyKey': 'x'.repeat(300) } })
    }
    const ids = seen.map(([callId]) => callId)
    expect(new Set(ids).size).toBe(6)
    expect(ids.every((id) => typeof id === 'string' && id.length > 30)).toBe(true)
    expect(seen.map(([callId, key]) => (key === callId ? 'own' : key))).toEqual([
      'own',
      'again',
      'own',
      'own',
      'again',
      'own',
    ])
  })

  it('R46 passes progress on if the client asks for it', async () => {
    const client = await connected(manyKinds(), { expose: hybrid() })
    const progress: unknown[] = []
    await client.call(
      'use_tool',
      { name: 'water_garden', arguments: { beds: 3 } },
      { onProgress: (step) => progress.push(step) },
    )
    expect(progress).toEqual([1, 2, 3].map((bed) => ({ progress: bed, total: 3, message: `Bed ${bed}` })))
  })

  it('R46 stops a call that the client cancels', async () => {
    const seen: Seen = { contexts: [] }
    const client = await connected(manyKinds({ seen }), { expose: hybrid() })
    const stop = new AbortController()
    const call = client.call('use_tool', { name: 'wait_for_rain' }, { signal: stop.signal })
    const end = call.then(
      () => 'answered',
      () => 'stopped',
    )
    while (seen.contexts.length === 0) await soon()
    stop.abort()
    expect(await end).toBe('stopped')
    while (!seen.contexts[0]!.signal!.aborted) await soon()
    expect(getText(await client.call('get_states'))).toBe('All is off.')
  })

  it('R46 passes the _meta of the request to the tool, without what belongs to the connection', async () => {
    const seen: Seen = { contexts: [] }
    const client = await connected(manyKinds({ seen }))
    await client.call('watched', {}, { meta: { traceparent: '00-1-2-01' } })
    await client.call('watched', {}, { onProgress: () => undefined })
    expect(seen.contexts.map(({ meta }) => meta)).toEqual([{ traceparent: '00-1-2-01' }, undefined])
    expect(seen.contexts.map(({ onProgress }) => typeof onProgress)).toEqual(['undefined', 'function'])
  })

  it('R46 may have other instructions for each client', async () => {
    const instructions = ({ era }: ServedClient): string => `You are ${era}.`
    const client = await connected(manyKinds(), { expose: all(), instructions })
    expect(client.instructions()).toBe(`You are ${kind === 'v2 client, modern' ? 'modern' : 'legacy'}.`)
  })

  it('R46 lists an output schema that does not describe an object, except for clients that would reject the list', async () => {
    const client = await connected(manyKinds(), { expose: all() })
    const { tools } = await client.list()
    const schemas = new Map(tools.map(({ name, outputSchema }) => [name, outputSchema]))
    const isModern = kind === 'v2 client, modern'
    expect(schemas.get('list_numbers')).toEqual(isModern ? { type: 'array', items: { type: 'integer' } } : undefined)
    expect(schemas.get('take_picture')).toMatchObject({ type: 'object' })
  })

  it('R46 wraps structured content that is not an object for clients that would reject it', async () => {
    const client = await connected(manyKinds(), { expose: hybrid() })
    const result = await client.call('use_tool', { name: 'list_numbers' })
    expect(result.structuredContent).toEqual(kind === 'v2 client, modern' ? [1, 2, 3] : { result: [1, 2, 3] })
  })

  it('R49 returns the same bytes again, even on another server with the tools in another order', async () => {
    const forwards = manyKinds()
    const backwards = createCatalog([])
    const tools = forwards.tools
      .toReversed()
      .map(({ declared, description, inputSchema, core, annotations, meta }) => ({
        name: declared,
        description,
        inputSchema,
        core,
        ...(annotations ? { annotations } : {}),
        ...(meta ? { meta } : {}),
      }))
    backwards.add(tools)
    for (const expose of [hybrid(), metaTool(), twoPhase(), auto()]) {
      const one = await connected(forwards, { expose })
      const other = await connected(backwards, { expose })
      const [first, again, elsewhere] = [await one.list(), await one.list(), await other.list()]
      expect(JSON.stringify(again)).toBe(JSON.stringify(first))
      expect(JSON.stringify(elsewhere)).toBe(JSON.stringify(first))
      const [search, args] = getNames(first).includes('search_tools')
        ? ['search_tools', { query: 'switch a light' }]
        : ['discover_and_use_tool', { action: 'search', query: 'switch a light' }]
      expect(await other.call(search, args)).toEqual(await one.call(search, args))
    }
  })

  it('R44 lists thousands of tools page by page, each once', async () => {
    const client = await connected(manyKinds({ hidden: 2_492 }), { expose: all() })
    const names: string[] = []
    let cursor: unknown
    let pages = 0
    do {
      const page = await client.list(cursor as string | undefined)
      names.push(...getNames(page))
      cursor = page['nextCursor']
      pages++
    } while (cursor !== undefined)
    expect(pages).toBe(3)
    expect(new Set(names).size).toBe(2_500)
    expect(names).toHaveLength(2_500)
    await expect(client.list('no such cursor')).rejects.toThrow('This server did not issue this cursor.')
    // The SDK answers modern clients itself.
    const refusal = kind === 'v2 client, modern' ? {} : { code: -32_602 }
    await expect(client.list(5 as never)).rejects.toMatchObject(refusal)
  })

  it('R44 lists everything for clients that expect that', async () => {
    const everything = await connected(manyKinds({ hidden: 100 }), { everything: true })
    expect((await everything.list()).tools).toHaveLength(108)
    expect(everything.instructions()).toBeUndefined()
    const some = serve(manyKinds({ hidden: 100 }), {
      expose: hybrid(),
      everything: ({ name }) => name === 'second',
    })
    const client = await connect(some, kind, link)
    expect((await client.list()).tools).toHaveLength(kind === 'v2 client, legacy' ? 108 : 3)
  })

  it("R48 explains the flow in the instructions, before the server's own text", async () => {
    const client = await connected(manyKinds(), { expose: hybrid(), instructions: 'This is a home.' })
    expect(client.instructions()).toMatch(/^Most tools .* search_tools .* use_tool .*\n\nThis is a home\.$/s)
  })

  it('answers a method that does not exist with an error', async () => {
    const client = await connected(manyKinds())
    await expect(client.request('example/unknown')).rejects.toThrow('Method not found')
    await expect(client.request('tools/call', { arguments: {} })).rejects.toThrow(/name/i)
    expect(getText(await client.call('get_states'))).toBe('All is off.')
  })

  it('refuses arguments that are nested too deeply to be passed on', async () => {
    const client = await connected(manyKinds())
    let deep: unknown = []
    for (let i = 0; i < 1_000; i++) deep = [deep]
    await expect(client.request('tools/call', { name: 'get_states', arguments: { deep } })).rejects.toThrow(
      'The request is nested deeper than 500 levels.',
    )
    expect(getText(await client.call('get_states'))).toBe('All is off.')
  })
})

describe.each(everyLegacyWay)('a %s %s', (kind, link) => {
  it('R44 announces tools that join the list, to the client whose list it is', async () => {
    const served = serve(manyKinds(), { expose: twoPhase() })
    const [one, other] = [await connect(served, kind, link), await connect(served, kind, link)]
    const before = getNames(await one.list())
    await one.call('get_tool_definition', { name: 'take_picture' })
    expect(one.announced()).toBe(1)
    const names = getNames(await one.list())
    expect(names).toContain('take_picture')
    // What the client has cached stays the beginning.
    expect(names.filter((name) => before.includes(name))).toEqual(before)
    await soon()
    expect(other.announced()).toBe(0)
    expect(getNames(await other.list())).toEqual(before)
  })

  it('R44 announces a change of the catalog only if it changes the list', async () => {
    const catalog = manyKinds()
    const client = await connect(serve(catalog, { expose: hybrid() }), kind, link)
    await client.list()
    if (link === 'over HTTP') await soon()
    catalog.add([{ name: 'hidden_one' }])
    await soon()
    expect(client.announced()).toBe(0)
    catalog.add([{ name: 'listed_one', core: true }])
    await expect.poll(() => client.announced()).toBe(1)
    expect(getNames(await client.list())).toContain('listed_one')
  })

  it('R44 gives each client its own session', async () => {
    const served = serve(manyKinds())
    const [one, other] = [await connect(served, kind, link), await connect(served, kind, link)]
    expect(getText(await one.call('use_tool', { name: 'count_visits' }))).toBe('Visit 1.')
    expect(getText(await one.call('count_visits'))).toBe('Visit 2.')
    expect(getText(await other.call('count_visits'))).toBe('Visit 1.')
  })
})

describe.each(links)('a modern client %s', (link) => {
  const kind = 'v2 client, modern'

  it('R44 gets a list that no request changes, with its lifetime', async () => {
    const served = serve(manyKinds(), { expose: twoPhase() })
    const [one, other] = [await connect(served, kind, link), await connect(served, kind, link)]
    const before = await one.list()
    expect(before).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' })
    const defined = await one.call('get_tool_definition', { name: 'take_picture' })
    expect(getText(defined)).toMatch(/Run it with use_tool \{"name":"take_picture","arguments":\{…\}\}\.$/)
    expect(await one.list()).toEqual(before)
    expect(await other.list()).toEqual(before)
    expect(one.announced()).toBe(0)
  })

  it('R44 receives the cache options, and must not share lists that depend on the client', async () => {
    const kept = await connect(serve(manyKinds(), { cache: { ttlMs: 5, scope: 'private' } }), kind, link)
    expect(await kept.list()).toMatchObject({ ttlMs: 5, cacheScope: 'private' })
    const own = await connect(serve(manyKinds(), { everything: () => false }), kind, link)
    expect(await own.list()).toMatchObject({ cacheScope: 'private' })
  })

  it('R44 is notified of changes of the catalog if it has subscribed', async () => {
    const catalog = manyKinds()
    const served = serve(catalog, { expose: hybrid() })
    const [listening, other] = [await connect(served, kind, link), await connect(served, kind, link)]
    const subscription = listening.request('subscriptions/listen', { notifications: { toolsListChanged: true } })
    subscription.catch(() => undefined)
    await soon()
    await soon()
    catalog.add([{ name: 'hidden_one' }])
    catalog.add([{ name: 'listed_one', core: true }])
    await expect.poll(() => listening.announced()).toBe(1)
    expect(other.announced()).toBe(0)
    expect(getNames(await listening.list())).toContain('listed_one')
  })

  it('shows nothing of one client to another', async () => {
    const served = serve(manyKinds())
    const [one, other] = [await connect(served, kind, link), await connect(served, kind, link)]
    expect(getText(await one.call('count_visits'))).toBe('Visit 1.')
    expect(getText(await other.call('count_visits'))).toBe('Visit 1.')
    // A connection has a session; over HTTP each request is for itself.
    expect(getText(await one.call('count_visits'))).toBe(link === 'in memory' ? 'Visit 2.' : 'Visit 1.')
  })
})

describe('serveMcp', () => {
  it('R48 keeps the instructions of every exposure under 150 tokens', async () => {
    for (const expose of [auto(), hybrid(), metaTool(), twoPhase()]) {
      const client = await inMemory(serve(manyKinds(), { expose }), 'v2 client, legacy')
      open.push(client)
      expect(countTokens(client.instructions()!)).toBeLessThan(150)
    }
  })

  it('R44 rejects unsuitable options at once', () => {
    expect(() => serve(manyKinds(), { expose: hybrid({ core: ['get_state'] }) })).toThrow(
      "There is no tool 'get_state' to list as a core tool.",
    )
    expect(() => serve(manyKinds(), { name: '' })).toThrow('An MCP server needs a name and a version')
    expect(() => serve(manyKinds(), { pageSize: 0 })).toThrow('A page cannot have 0 tools.')
  })

  it('reports what was listed, searched and used, by client', async () => {
    const catalog = manyKinds()
    const events: unknown[] = []
    catalog.subscribe((event) => events.push(event))
    const served = serve(catalog, { expose: hybrid() })
    const one = await connect(served, 'v1 client', 'in memory')
    const other = await connect(served, 'v2 client, modern', 'in memory')
    await one.list()
    await other.call('use_tool', { name: 'get_states' })
    expect(events).toMatchObject([
      {
        type: 'tools/listed',
        client: 'client-1',
        exposure: 'hybrid',
        tools: ['get_states', 'search_tools', 'use_tool'],
      },
      { type: 'tool/used', client: 'client-2', name: 'get_states', through: 'use_tool', ok: true },
    ])
  })

  it('R44 leaves nothing behind in the catalog when its clients disconnect', async () => {
    const catalog = manyKinds()
    let listeners = 0
    const { subscribe } = catalog
    catalog.subscribe = (listener) => {
      const stop = subscribe.call(catalog, listener)
      listeners++
      return () => {
        listeners--
        stop()
      }
    }
    const served = serve(catalog, { expose: twoPhase() })
    for (const [kind, link] of everyWay) {
      const client = await connect(served, kind, link)
      await client.list()
      if (link === 'in memory') await client.close()
    }
    await served.close()
    expect(listeners).toBe(0)
  })

  it('serves no one after it was closed', async () => {
    const served = serve(manyKinds())
    const client = await connect(served, 'v2 client, legacy', 'in memory')
    await served.close()
    await expect(client.call('get_states')).rejects.toThrow(/connect|closed/i)
    await expect(served.http()).rejects.toThrow('This MCP server was closed. Call serveMcp() again.')
  })

  it('R44 serves 20 clients at once, each with its own list', async () => {
    const served = serve(manyKinds({ hidden: 100 }), { expose: twoPhase() })
    const clients = await Promise.all(
      Array.from({ length: 20 }, (_, i) => connect(served, allKinds[i % 3]!, links[i % 2]!)),
    )
    await Promise.all(
      clients.map(async (client, i) => {
        const own = `light_room_${String(i).padStart(4, '0')}`
        await client.list()
        await client.call('get_tool_definition', { name: own })
        const [used, names] = [await client.call('use_tool', { name: own }), getNames(await client.list())]
        expect(getText(used)).toBe(own.slice('light_'.length))
        const lights = names.filter((name) => name.startsWith('light_'))
        expect(lights).toEqual(client.name === 'v2 client, modern' ? [] : [own])
      }),
    )
  })
})
