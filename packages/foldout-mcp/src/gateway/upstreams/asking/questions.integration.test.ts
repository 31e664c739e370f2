import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../remove-folder.fixtures.ts'
import type { ServerDefinition } from '../../config/definition.ts'
import { createGateway, type Gateway } from '../../gateway.ts'

const SERVER = join(import.meta.dirname, 'asking-server.fixtures.mjs')

let folder: string
let closing: (() => Promise<unknown>)[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-questions-'))
  closing = []
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  await removeFolder(folder)
})

async function create(more: ServerDefinition = {}): Promise<Gateway> {
  const server = { command: process.execPath, args: [SERVER], ...more }
  const gateway = await createGateway({ mcpServers: { a: server }, expose: 'all' }, { cache: join(folder, 'cache') })
  closing.push(() => gateway.close())
  await gateway.ready()
  return gateway
}

type Mode = 'legacy' | 'auto'

async function connect(gateway: Gateway, mode: Mode, capabilities: object = {}): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode }, capabilities, inputRequired: { autoFulfill: mode === 'auto' } },
  )
  await client.connect(new StreamableHTTPClientTransport(new URL((await gateway.http()).url)))
  closing.push(() => client.close())
  return client
}

async function call(client: Client, name: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
  const { content } = await client.callTool({ name, arguments: args })
  return JSON.parse((content[0] as { readonly text: string }).text)
}

const FORM = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } }
const PAGE = { mode: 'url', message: 'Go there.', url: 'https://example.com', elicitationId: 'page-1' }
const SAMPLE = { messages: [], maxTokens: 1 }
const ACCEPTED = { action: 'accept', content: {} } as const

describe.each(['legacy', 'auto'] as const)('R53 a client in the era %s', (mode) => {
  it.each([
    ['elicitation/create', FORM, {}, { code: -32_601, message: 'The client does not support elicitation.' }],
    [
      'elicitation/create',
      PAGE,
      { elicitation: {} },
      { code: -32_602, message: "The client does not support elicitation in the mode 'url'." },
    ],
    [
      'elicitation/create',
      FORM,
      { elicitation: { url: {} } },
      { code: -32_602, message: "The client does not support elicitation in the mode 'form'." },
    ],
    ['sampling/createMessage', SAMPLE, {}, { code: -32_601, message: 'The client does not support sampling.' }],
    [
      'sampling/createMessage',
      { ...SAMPLE, tools: [] },
      { sampling: {} },
      { code: -32_602, message: 'The client does not support sampling with tools.' },
    ],
    ['roots/list', {}, {}, { roots: [] }],
  ])('is not asked for what it has not declared: %s %j with %j', async (method, params, capabilities, answer) => {
    const client = await connect(await create(), mode, capabilities)
    expect(await call(client, 'ask', { method, params })).toEqual(answer)
  })

  it('is asked for forms if it declares elicitation without a mode', async () => {
    const client = await connect(await create(), mode, { elicitation: {} })
    client.setRequestHandler('elicitation/create', async () => ACCEPTED)
    expect(await call(client, 'ask', { method: 'elicitation/create', params: FORM })).toEqual(ACCEPTED)
  })
})

describe.each(['legacy', 'auto'] as const)('R53 a client over stdio in the era %s', (mode) => {
  async function connectByStdio(gateway: Gateway): Promise<Client> {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    await gateway.stdio({ stdin, stdout })
    const transport: Transport = {
      start: async () => undefined,
      send: async (message) => void stdin.write(`${JSON.stringify(message)}\n`),
      close: async () => void stdin.end(),
    }
    createInterface({ input: stdout }).on('line', (line) => transport.onmessage?.(JSON.parse(line)))
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode }, capabilities: { elicitation: {} } },
    )
    await client.connect(transport)
    closing.push(() => client.close())
    return client
  }

  it.each([
    ['folders', []],
    ['hold', 'held'],
    ['ask', ACCEPTED],
  ])('gives its answer although its call of %s may end before', async (other, result) => {
    const client = await connectByStdio(await create())
    const question = { method: 'elicitation/create', params: FORM }
    const handle = vi.fn(async () => {
      // Ends the other call while the user is being asked.
      await call(client, 'let_go')
      return ACCEPTED
    })
    client.setRequestHandler('elicitation/create', handle)
    const [answer, second] = await Promise.all([call(client, 'ask', question), call(client, other, question)])
    expect(answer).toEqual(ACCEPTED)
    expect(second).toEqual(result)
    expect(handle).toHaveBeenCalledTimes(other === 'ask' ? 2 : 1)
  })
})

describe('R53 a question that a modern client could not understand', () => {
  it.each([
    ['foo/bar', {}, -32_601],
    ['elicitation/create', { message: 5, requestedSchema: 'x' }, -32_602],
    ['sampling/createMessage', { messages: 'none' }, -32_602],
  ])('is refused, and the call goes on: %s %j', async (method, params, code) => {
    const client = await connect(await create(), 'auto', { elicitation: {}, sampling: {} })
    client.setRequestHandler('elicitation/create', async () => ACCEPTED)
    expect(await call(client, 'ask', { method, params })).toMatchObject({ code })
  })
})

describe('R53 a modern client that never answers', () => {
  it('does not keep other clients from being asked', async () => {
    const gateway = await create()
    const gone = await connect(gateway, 'auto', { elicitation: {} })
    const question = { method: 'elicitation/create', params: FORM }
    const asked = await gone.request({ method: 'tools/call', params: { name: 'ask', arguments: question } }, {
      allowInputRequired: true,
    } as never)
    expect(asked).toMatchObject({ resultType: 'input_required' })
    for (const mode of ['legacy', 'auto'] as const) {
      const client = await connect(gateway, mode, { elicitation: {} })
      client.setRequestHandler('elicitation/create', async () => ACCEPTED)
      expect(await call(client, 'ask', question)).toEqual(ACCEPTED)
    }
  })
})

describe('R53 the first question of a process that several clients have used', () => {
  it('goes to the only one with a running call', async () => {
    const gateway = await create()
    const clients = [0, 1].map(() => connect(gateway, 'legacy', { elicitation: {} }))
    const [one, two] = [await clients[0], await clients[1]] as [Client, Client]
    const asked = [vi.fn(async () => ACCEPTED), vi.fn(async () => ACCEPTED)] as const
    one.setRequestHandler('elicitation/create', asked[0])
    two.setRequestHandler('elicitation/create', asked[1])
    const shared = await call(one, 'pid')
    expect(await call(two, 'pid')).toBe(shared)
    expect(await call(two, 'ask', { method: 'elicitation/create', params: FORM })).toEqual(ACCEPTED)
    expect(asked.map(({ mock }) => mock.calls.length)).toEqual([0, 1])
    expect([await call(one, 'pid'), await call(two, 'pid')]).not.toContain(shared)
  })

  it('is refused if several have, and then each has a process', async () => {
    const gateway = await create()
    const [one, two] = [await connect(gateway, 'legacy'), await connect(gateway, 'legacy', { elicitation: {} })]
    two.setRequestHandler('elicitation/create', async () => ACCEPTED)
    const question = { method: 'elicitation/create', params: FORM }
    const stop = new AbortController()
    const held = one.callTool({ name: 'hold', arguments: {} }, { signal: stop.signal }).catch(() => 'stopped')
    await call(one, 'pid')
    expect(await call(two, 'ask', question)).toMatchObject({ message: expect.stringContaining('call the tool again') })
    expect(await call(two, 'ask', question)).toEqual(ACCEPTED)
    stop.abort()
    expect(await held).toBe('stopped')
  })
})

describe("R53 a client's folders", () => {
  async function connectWith(gateway: Gateway, uris: readonly string[]): Promise<Client> {
    const client = await connect(gateway, 'legacy', { roots: { listChanged: true } })
    client.setRequestHandler('roots/list', async () => ({ roots: uris.map((uri) => ({ uri })) }))
    return client
  }

  it('are known to the server before the first call', async () => {
    const client = await connectWith(await create(), ['file:///one'])
    expect(await call(client, 'folders')).toEqual(['file:///one'])
  })

  it('are known to a server that the first call starts', async () => {
    await (await create()).close()
    const client = await connectWith(await create(), ['file:///one'])
    expect(await call(client, 'folders')).toEqual(['file:///one'])
  })

  it('are those of the client that calls, also if several share the server', async () => {
    const gateway = await create()
    const [first, second] = [await connectWith(gateway, ['file:///one']), await connectWith(gateway, ['file:///two'])]
    const seen: unknown[] = []
    for (const client of [first, second, first]) seen.push(await call(client, 'folders'))
    expect(seen).toEqual([['file:///one'], ['file:///two'], ['file:///one']])
  })

  it('are asked for once', async () => {
    const gateway = await create()
    const client = await connect(gateway, 'legacy', { roots: { listChanged: true } })
    const list = vi.fn(async () => ({ roots: [{ uri: 'file:///one' }] }))
    client.setRequestHandler('roots/list', list)
    await Promise.all([call(client, 'folders'), call(client, 'folders')])
    await call(client, 'folders')
    expect(list).toHaveBeenCalledTimes(1)
  })

  it('are asked for again when they have changed', async () => {
    const uris = ['file:///one']
    const client = await connectWith(await create(), uris)
    expect(await call(client, 'folders')).toEqual(['file:///one'])
    uris[0] = 'file:///two'
    await client.sendRootsListChanged()
    expect(await call(client, 'folders')).toEqual(['file:///two'])
  })
})

describe('R54 a server that ends while a client is subscribed to it', () => {
  it('is started and subscribed to again without a call', async () => {
    const client = await connect(await create(), 'legacy')
    const updated = vi.fn()
    client.setNotificationHandler('notifications/resources/updated', updated)
    await client.subscribeResource({ uri: 'note://a' })
    await vi.waitFor(() => expect(updated).toHaveBeenCalledTimes(1))
    await client.callTool({ name: 'crash', arguments: {} })
    await vi.waitFor(() => expect(updated).toHaveBeenCalledTimes(2), { timeout: 10_000 })
  })
})

describe.each(['legacy', 'auto'] as const)('R46 a call by a client in the era %s', (mode) => {
  it('gets the data of progress reports, and errors of any length', async () => {
    const client = await connect(await create(), mode)
    const onprogress = vi.fn()
    await client.callTool({ name: 'report', arguments: {} }, { onprogress })
    expect(onprogress).toHaveBeenCalledWith(expect.objectContaining({ progress: 1, _meta: { note: 'first' } }))
    const failed = await client.callTool({ name: 'fail', arguments: { characters: 200_000 } })
    expect(failed.isError).toBe(true)
  })
})

describe('R46 a call that a client cancels', () => {
  it("is cancelled at the server for the client's reason", async () => {
    const client = await connect(await create(), 'legacy')
    const stop = new AbortController()
    const waiting = client.callTool({ name: 'reason', arguments: {} }, { signal: stop.signal }).catch(() => undefined)
    // The server has read the call before this one.
    await call(client, 'pid')
    stop.abort('The user has changed the subject.')
    await waiting
    await vi.waitFor(async () =>
      expect(await call(client, 'reason', { isAsked: true })).toBe('The user has changed the subject.'),
    )
  })
})
