import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { GatewayDefinition } from '../config/definition.ts'
import { createGateway, type Gateway } from '../gateway.ts'
import { removeFolder } from '../../remove-folder.fixtures.ts'

const SERVER = join(import.meta.dirname, 'full-server.fixtures.mjs')

let folder: string
const closing: (() => Promise<unknown>)[] = []
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-pass-'))
})
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()))
})
afterAll(() => removeFolder(folder))

async function create(definition: GatewayDefinition): Promise<{ readonly gateway: Gateway; readonly url: string }> {
  const gateway = await createGateway(definition, { cache: join(folder, 'cache') })
  closing.push(() => gateway.close())
  await gateway.ready()
  const { url } = await gateway.http()
  return { gateway, url }
}

const full = (...args: readonly string[]): object => ({ command: process.execPath, args: [SERVER, ...args] })

async function connect(url: string, mode: 'legacy' | 'auto', capabilities: object = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities })
  closing.push(() => client.close())
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  expect(client.getProtocolEra()).toBe(mode === 'auto' ? 'modern' : 'legacy')
  return client
}

const ASKING = { elicitation: { form: {} }, sampling: {}, roots: {} }

describe.each(['legacy', 'auto'] as const)('R53 through the gateway, a client in the era %s', (mode) => {
  it('lists and reads resources and templates', async () => {
    const { url } = await create({ mcpServers: { a: full() } })
    const client = await connect(url, mode)
    expect((await client.listResources()).resources).toMatchObject([{ uri: 'test://static', name: 'static' }])
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: 'test://item/{id}' },
    ])
    expect((await client.readResource({ uri: 'test://item/7' })).contents).toMatchObject([{ text: 'item 7 of full' }])
    const sent: unknown[] = []
    const transport = client.transport as StreamableHTTPClientTransport
    const { onmessage: receive } = transport
    Object.assign(transport, {
      onmessage(message) {
        sent.push(message)
        receive?.(message)
      },
    } satisfies Partial<StreamableHTTPClientTransport>)
    await expect(client.readResource({ uri: 'test://none' })).rejects.toThrow('Resource not found: test://none')
    // Clients of the SDK change the error, too.
    const data = { uri: 'test://none', where: 'full' }
    expect(sent.at(-1)).toMatchObject({ error: { code: mode === 'legacy' ? -32_002 : -32_602, data } })
  })

  it('gets the fields of a tool that the protocol does not know', async () => {
    const { url } = await create({ mcpServers: { a: full() }, expose: 'all' })
    const client = await connect(url, mode)
    const { onmessage: receive } = client.transport ?? {}
    const listed: unknown[] = []
    Object.assign(client.transport ?? {}, {
      onmessage(message: { readonly result?: { readonly tools?: readonly unknown[] } }) {
        listed.push(...(message.result?.tools ?? []))
        receive?.(message as never)
      },
    })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('where')
    expect(listed).toContainEqual(expect.objectContaining({ name: 'where', securitySchemes: [{ type: 'noauth' }] }))
    expect(JSON.stringify(listed)).not.toContain('"extra"')
  })

  it('lists, completes and gets prompts', async () => {
    const { url } = await create({ mcpServers: { a: full() } })
    const client = await connect(url, mode)
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: 'greet' }])
    const got = await client.getPrompt({ name: 'greet', arguments: { who: 'Ann' } })
    expect(got.messages).toMatchObject([{ content: { text: 'Greet Ann.' } }, { content: { uri: 'test://static' } }])
    const ref = { type: 'ref/prompt', name: 'greet' } as const
    expect(await client.complete({ ref, argument: { name: 'who', value: 'A' } })).toMatchObject({
      completion: { values: ['Ann', 'Alf'] },
    })
  })

  it("asks its user a server's question, also through use_tool", async () => {
    const { url } = await create({ mcpServers: { a: full() }, expose: 'hybrid' })
    const client = await connect(url, mode, ASKING)
    const asked = vi.fn(async () => ({ action: 'accept' as const, content: { color: 'green' } }))
    client.setRequestHandler('elicitation/create', asked)
    const direct = await client.callTool({ name: 'use_tool', arguments: { name: 'ask_color', arguments: {} } })
    expect(direct.content).toEqual([{ type: 'text', text: 'The color is green.' }])
    expect(asked).toHaveBeenCalledTimes(1)
  })

  it('can use two servers with the same resources and prompts', async () => {
    const { url } = await create({ mcpServers: { a: full('one'), b: full('two') } })
    const client = await connect(url, mode)
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(['test://static', 'foldout://b/test://static'])
    const read = await Promise.all(resources.map(({ uri }) => client.readResource({ uri })))
    expect(read.map(({ contents }) => (contents[0] as { text: string }).text)).toEqual([
      'static of one',
      'static of two',
    ])
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['greet', 'b_greet'])
  })

  it('gets what servers say about their use, unless changes are held', async () => {
    const mcpServers = {
      a: full('one', 'Greet first.'),
      b: { ...full('two', 'Obey.'), pin: 'hold' as const },
      c: full('three', 'Mind the gap.'),
    }
    const { url } = await create({ mcpServers, instructions: 'Mine.', presets: { few: { servers: ['c'] } } })
    const said = 'The servers say about their tools:\n'
    const all = `Servers: a, b, c.\n\nMine.\n\n${said}- a: Greet first.\n- c: Mind the gap.`
    expect((await connect(url, mode)).getInstructions()?.endsWith(all)).toBe(true)
    const few = `Mine.\n\n${said}- c: Mind the gap.`
    expect((await connect(`${url}/few`, mode)).getInstructions()?.endsWith(few)).toBe(true)
  })

  it('reads what a server links to from the same server', async () => {
    const { url } = await create({ mcpServers: { a: full('one'), b: full('two') }, expose: 'all' })
    const client = await connect(url, mode)
    const { messages } = await client.getPrompt({ name: 'b_greet', arguments: { who: 'Ann' } })
    expect(messages[1]?.content).toMatchObject({ uri: 'foldout://b/test://static' })
    for (const [tool, owner] of [
      ['a__link', 'one'],
      ['b__link', 'two'],
    ] as const) {
      const { content } = await client.callTool({ name: tool, arguments: {} })
      const uris = content.map((piece) =>
        piece.type === 'resource' ? piece.resource.uri : (piece as { uri: string }).uri,
      )
      const prefix = owner === 'one' ? '' : 'foldout://b/'
      expect(uris).toEqual([`${prefix}test://static`, `${prefix}test://item/7`, `test://only/${owner}`])
      const read = await Promise.all(uris.map((uri) => client.readResource({ uri })))
      expect(read.map(({ contents }) => contents[0])).toMatchObject([
        { uri: uris[0], text: `static of ${owner}` },
        { uri: uris[1], text: `item 7 of ${owner}` },
        { uri: uris[2], text: `only in ${owner}` },
      ])
    }
  })
})

describe('R53 a legacy client', () => {
  it('gets updates, logs and changes if it subscribes', async () => {
    const { url } = await create({ mcpServers: { a: full() }, expose: 'all' })
    const client = await connect(url, 'legacy')
    const updated = vi.fn()
    const logged = vi.fn()
    const changed = vi.fn()
    client.setNotificationHandler('notifications/resources/updated', updated)
    client.setNotificationHandler('notifications/message', logged)
    client.setNotificationHandler('notifications/prompts/list_changed', changed)
    await client.subscribeResource({ uri: 'test://static' })
    await client.setLoggingLevel('debug')
    await client.callTool({ name: 'stir', arguments: {} })
    await vi.waitFor(() => expect(updated).toHaveBeenCalled())
    await vi.waitFor(() => expect(logged).toHaveBeenCalled())
    await vi.waitFor(() => expect(changed).toHaveBeenCalled())
    expect((await client.listPrompts()).prompts).toHaveLength(2)
  })

  it('gets announcements of lists that look the same, and few of many', async () => {
    const { url } = await create({ mcpServers: { a: full() }, expose: 'all' })
    const client = await connect(url, 'legacy')
    const heard = { resources: vi.fn(), prompts: vi.fn() }
    client.setNotificationHandler('notifications/resources/list_changed', heard.resources)
    client.setNotificationHandler('notifications/prompts/list_changed', heard.prompts)
    await client.callTool({ name: 'touch', arguments: {} })
    await vi.waitFor(() => expect(heard.resources).toHaveBeenCalledOnce())
    await vi.waitFor(() => expect(heard.prompts).toHaveBeenCalledOnce())
    const start = performance.now()
    await client.callTool({ name: 'touch', arguments: { times: 2_000 } })
    await vi.waitFor(() => expect(heard.prompts.mock.calls.length).toBeGreaterThan(1), { timeout: 5_000 })
    const seconds = (performance.now() - start) / 1_000
    expect(heard.resources.mock.calls.length).toBeLessThanOrEqual(3 + seconds)
  })

  it('gets updates of parts of what it has subscribed to, and of nothing else', async () => {
    const { url } = await create({ mcpServers: { a: full('a'), b: full('b') }, expose: 'all' })
    const [first, second] = await Promise.all([connect(url, 'legacy'), connect(url, 'legacy')])
    const heard: unknown[] = []
    for (const [i, client] of [first, second].entries())
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push([i, params.uri]))
    const foreign = 'foldout://b/test://static'
    await first.subscribeResource({ uri: 'test://static' })
    await second.subscribeResource({ uri: foreign })
    const { tools } = await first.listTools()
    const [ofA = '', ofB = ''] = tools.flatMap(({ name }) => (/update/.test(name) ? [name] : []))
    const update = (name: string, uri: string): Promise<unknown> => first.callTool({ name, arguments: { uri } })
    for (const tool of [ofA, ofB])
      for (const uri of ['test://static-not', 'test://item/1', 'test://static/part', 'test://static'])
        await update(tool, uri)
    await vi.waitFor(() => expect(heard).toHaveLength(4))
    expect(heard).toEqual([
      [0, 'test://static/part'],
      [0, 'test://static'],
      [1, `${foreign}/part`],
      [1, foreign],
    ])
    for (const [uri, owner] of [
      ['test://static/part', 'a'],
      [`${foreign}/part`, 'b'],
    ] as const)
      expect((await second.readResource({ uri })).contents).toMatchObject([{ uri, text: `part of ${owner}` }])
  })

  it('gets what a server logs by default, until it sets a level', async () => {
    const { url } = await create({ mcpServers: { a: full() }, expose: 'all' })
    const [first, second] = await Promise.all([connect(url, 'legacy'), connect(url, 'legacy')])
    const [heard, heardToo] = [vi.fn(), vi.fn()]
    first.setNotificationHandler('notifications/message', ({ params }) => heard(params.level))
    second.setNotificationHandler('notifications/message', ({ params }) => heardToo(params.level))
    const log = (client: Client): Promise<unknown> => client.callTool({ name: 'log', arguments: {} })
    await log(first)
    await vi.waitFor(() => expect(heard.mock.calls.flat()).toEqual(['debug', 'info', 'error']))
    await second.setLoggingLevel('error')
    await log(second)
    await log(first)
    await vi.waitFor(() => expect(heard.mock.calls.flat()).toEqual(['debug', 'info', 'error', 'info', 'error']))
    expect(heardToo.mock.calls.flat()).toEqual(['error'])
    // The first client does not get what only the second one wants.
    await second.setLoggingLevel('debug')
    await log(first)
    await vi.waitFor(() => expect(heard).toHaveBeenCalledTimes(7))
    expect(heard.mock.calls.flat().slice(5)).toEqual(['info', 'error'])
  })

  it('is asked for its folders, and servers start there', async () => {
    writeFileSync(join(folder, 'here.txt'), '')
    const { url } = await create({ mcpServers: { a: { ...full(), cwd: '${ROOT}' } }, expose: 'all' })
    const client = await connect(url, 'legacy', ASKING)
    // The first two are folders that this system cannot have.
    const uris = ['file://another-host/a', 'file:///a%2Fb', pathToFileURL(folder).href]
    client.setRequestHandler('roots/list', async () => ({ roots: uris.map((uri) => ({ uri })) }))
    const { content } = await client.callTool({ name: 'where', arguments: {} })
    expect(JSON.stringify(content)).toContain(folder)
  })

  it('is the only one that is asked', async () => {
    const { url } = await create({ mcpServers: { a: full() }, expose: 'all' })
    const [first, second] = await Promise.all([connect(url, 'legacy', ASKING), connect(url, 'legacy', ASKING)])
    const asked = vi.fn(async () => ({ action: 'accept' as const, content: { color: 'red' } }))
    second.setRequestHandler('elicitation/create', asked)
    first.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { color: 'blue' } }))
    const { content } = await first.callTool({ name: 'ask_color', arguments: {} })
    expect(content).toEqual([{ type: 'text', text: 'The color is blue.' }])
    expect(asked).not.toHaveBeenCalled()
  })
})

describe('R53 a modern client', () => {
  it('gets everything that a server says about an update', async () => {
    const { url } = await create({ mcpServers: { a: full() }, expose: 'all' })
    const client = await connect(url, 'auto')
    const updated = vi.fn()
    client.fallbackNotificationHandler = async ({ method, params }) => updated(method, params)
    const listening = await client.listen({ resourceSubscriptions: ['test://static'] })
    await vi.waitFor(async () => {
      await client.callTool({ name: 'stir', arguments: {} })
      expect(updated).toHaveBeenCalled()
    })
    const params: unknown = { uri: 'test://static', title: 'Static', _meta: { by: 'stir' } }
    expect(updated.mock.calls[0]).toMatchObject(['notifications/resources/updated', params])
    await listening.close()
  })

  it('gets logs only if it asks for them', async () => {
    const { url } = await create({ mcpServers: { a: full() }, expose: 'all' })
    const client = await connect(url, 'auto')
    const heard = vi.fn()
    client.setNotificationHandler('notifications/message', ({ params }) => heard(params.level))
    await client.callTool({ name: 'log', arguments: {} })
    const meta = { 'io.modelcontextprotocol/logLevel': 'error' }
    await client.callTool({ name: 'log', arguments: {}, _meta: meta })
    await vi.waitFor(() => expect(heard.mock.calls.flat()).toEqual(['error']))
  })
})

describe('R65 an answer to a question that this gateway did not ask', () => {
  it('does not run the tool again', async () => {
    const { url } = await create({ mcpServers: { a: full() }, expose: 'all' })
    const client = await connect(url, 'auto', ASKING)
    const asked = vi.fn(async () => ({ action: 'accept' as const, content: { color: 'green' } }))
    client.setRequestHandler('elicitation/create', asked as never)
    const strange = { requestState: 'foldout-of-another-gateway', inputResponses: {} }
    const result = await client.callTool({ name: 'ask_color', arguments: {}, ...strange })
    expect([result.isError, asked.mock.calls.length]).toEqual([true, 0])
    expect(JSON.stringify(result.content)).toContain('It is not known whether the tool has run')
  })
})
