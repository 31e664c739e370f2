import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import {
  Client,
  ReadBuffer,
  serializeMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../remove-folder.fixtures.ts'
import type { GatewayDefinition, ServerDefinition } from '../../config/definition.ts'
import { createGateway, type Gateway } from '../../gateway.ts'

const SERVER = join(import.meta.dirname, 'asking-server.fixtures.mjs')

let folder: string
let closing: (() => Promise<unknown>)[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-no-call-'))
  closing = []
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  await removeFolder(folder)
})

interface Wanted {
  readonly server?: ServerDefinition
  /** What the server asks as soon as it is connected. */
  readonly first?: object
  readonly gateway?: Omit<GatewayDefinition, 'mcpServers'>
  readonly others?: Readonly<Record<string, ServerDefinition>>
}

async function create({ server = {}, first, gateway: more = {}, others = {} }: Wanted = {}): Promise<Gateway> {
  const args = [SERVER, ...(first ? [JSON.stringify(first)] : [])]
  const a = { command: process.execPath, args, env: { ANSWERS: join(folder, 'answers.json') }, ...server }
  const gateway = await createGateway(
    { mcpServers: { a, ...others }, expose: 'all', ...more },
    { cache: join(folder, 'cache') },
  )
  closing.push(() => gateway.close())
  await gateway.ready()
  return gateway
}

const WAYS = ['stdio', 'http'] as const

interface ClientOptions {
  readonly way?: (typeof WAYS)[number]
  readonly preset?: string
  readonly mode?: 'legacy' | 'auto'
  readonly capabilities?: object
  readonly name?: string
  readonly answer?: (signal: AbortSignal) => Promise<{ readonly action: 'accept' }>
}

const accept = async (): Promise<{ readonly action: 'accept' }> => ({ action: 'accept' })

async function connect(
  gateway: Gateway,
  {
    way = 'http',
    preset,
    mode = 'legacy',
    capabilities = { elicitation: {} },
    name = 'test',
    answer = accept,
  }: ClientOptions = {},
): Promise<Client> {
  const client = new Client({ name, version: '1' }, { versionNegotiation: { mode }, capabilities })
  if ('elicitation' in capabilities)
    client.setRequestHandler('elicitation/create', async (_request, { mcpReq }) => answer(mcpReq.signal))
  if (way === 'stdio') await client.connect(await openStdio(gateway, preset))
  else {
    const { url } = await gateway.http()
    const { fetch, opened } = watchStream()
    const address = new URL(preset === undefined ? url : `${url}/${preset}`)
    await client.connect(new StreamableHTTPClientTransport(address, { fetch }))
    // Over HTTP, the event stream of a legacy client is opened in the background.
    if (mode === 'legacy') await opened
  }
  closing.push(() => client.close())
  return client
}

/** A fetch that says when the event stream is open. */
function watchStream() {
  let resolve = (): void => undefined
  const opened = new Promise<void>((done) => (resolve = done))
  const watched: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (init?.method === 'GET' && response.ok) resolve()
    return response
  }
  return { fetch: watched, opened }
}

async function openStdio(gateway: Gateway, preset = ''): Promise<Transport> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  await gateway.stdio({ stdin, stdout, preset })
  const buffer = new ReadBuffer()
  const transport: Transport = {
    async start() {
      stdout.on('data', (chunk: Buffer) => {
        buffer.append(chunk)
        for (let message = buffer.readMessage(); message; message = buffer.readMessage()) transport.onmessage?.(message)
      })
    },
    async send(message) {
      stdin.write(serializeMessage(message))
    },
    async close() {
      stdin.end()
      transport.onclose?.()
    },
  }
  return transport
}

async function call(client: Client, name: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
  const { content } = await client.callTool({ name, arguments: args })
  return JSON.parse((content[0] as { readonly text: string }).text)
}

const FORM = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } }
const QUESTION = { method: 'elicitation/create', params: FORM }

/** The answers that the server has got, once it has enough of them. */
function getAnswers(count = 1): Promise<readonly unknown[]> {
  const file = join(folder, 'answers.json')
  return vi.waitFor(() => {
    const answers = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as unknown[]) : []
    expect(answers.length).toBeGreaterThanOrEqual(count)
    return answers
  }, 10_000)
}

/** An answer that never comes. Says when the question was withdrawn. */
function createSilence() {
  const asked = vi.fn()
  const withdrawn = vi.fn()
  const answer = (signal: AbortSignal): Promise<never> => {
    asked()
    signal.addEventListener('abort', withdrawn)
    return new Promise(() => {})
  }
  return { asked, withdrawn, answer }
}

describe.each(WAYS)('R53 a client over %s, outside of its calls', (way) => {
  it('is asked by a server that it has called', async () => {
    const client = await connect(await create(), { way })
    await call(client, 'ask_later', QUESTION)
    expect(await getAnswers()).toEqual([{ action: 'accept' }])
  })

  it('is asked by a server that has just answered its call', async () => {
    const client = await connect(await create(), { way })
    for (let asked = 1; asked <= 20; asked++) {
      await call(client, 'ask_at_once', QUESTION)
      await getAnswers(asked)
    }
    expect(await getAnswers(20)).toEqual(Array.from({ length: 20 }, () => ({ action: 'accept' })))
  })

  it('is asked by a server that has just started and that it has not called', async () => {
    const gateway = await create({ first: QUESTION })
    const answer = vi.fn(accept)
    await connect(gateway, { way, answer })
    await vi.waitFor(() => expect(answer).toHaveBeenCalledTimes(1))
    expect(await getAnswers()).toEqual([{ action: 'accept' }])
  })

  it('is asked for its folders, and its changes reach the server', async () => {
    const client = await connect(await create(), { way, capabilities: { roots: { listChanged: true } } })
    const uris = ['file:///one']
    client.setRequestHandler('roots/list', async () => ({ roots: uris.map((uri) => ({ uri })) }))
    await call(client, 'ask_later', { method: 'roots/list' })
    expect(await getAnswers()).toEqual([{ roots: [{ uri: 'file:///one' }] }])
    uris[0] = 'file:///two'
    const asked = vi.fn(async () => ({ roots: [{ uri: 'file:///two' }] }))
    client.setRequestHandler('roots/list', asked)
    await client.sendRootsListChanged()
    await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(1))
    expect(await call(client, 'folders')).toEqual(['file:///two'])
    expect(asked).toHaveBeenCalledTimes(1)
  })

  it('learns that a server has withdrawn its question', async () => {
    const { answer, withdrawn } = createSilence()
    const client = await connect(await create(), { way, answer })
    await call(client, 'ask_later', { ...QUESTION, withdrawMs: 100 })
    await vi.waitFor(() => expect(withdrawn).toHaveBeenCalledTimes(1))
  })

  it('learns that the server has ended', async () => {
    const { answer, asked, withdrawn } = createSilence()
    const client = await connect(await create(), { way, answer })
    await call(client, 'ask_later', QUESTION)
    await vi.waitFor(() => expect(asked).toHaveBeenCalled())
    await client.callTool({ name: 'crash', arguments: {} })
    await vi.waitFor(() => expect(withdrawn).toHaveBeenCalledTimes(1))
  })

  it('leaves no question open when it disconnects', async () => {
    const gateway = await create()
    const { answer, asked } = createSilence()
    const gone = await connect(gateway, { way, answer })
    await call(gone, 'ask_later', QUESTION)
    await vi.waitFor(() => expect(asked).toHaveBeenCalled())
    if (way === 'http') await (gone.transport as StreamableHTTPClientTransport).terminateSession()
    await gone.close()
    const [error] = await getAnswers()
    expect(error).toMatchObject({ message: expect.stringContaining('closed') })
  })

  it('gets a limited number of questions of one server at a time', async () => {
    const answers: (() => void)[] = []
    const answer: ClientOptions['answer'] = () =>
      new Promise((resolve) => answers.push(() => resolve({ action: 'accept' })))
    const client = await connect(await create(), { way, answer })
    await call(client, 'ask_later', { ...QUESTION, times: 100 })
    // All others are refused before the first is answered.
    expect(await getAnswers(84)).toHaveLength(84)
    await vi.waitFor(() => expect(answers).toHaveLength(16))
    for (const one of answers) one()
    const got = await getAnswers(100)
    expect(got.filter((one) => (one as { action?: string }).action === 'accept')).toHaveLength(16)
    expect(answers).toHaveLength(16)
    await call(client, 'ask_later', QUESTION)
    await vi.waitFor(() => expect(answers).toHaveLength(17))
  })
})

describe('R53 a question outside of calls', () => {
  it('is refused once if several clients have used the process, and then each has a process', async () => {
    const gateway = await create()
    const answers = [vi.fn(accept), vi.fn(accept)] as const
    const [one, two] = [
      await connect(gateway, { answer: answers[0] }),
      await connect(gateway, { answer: answers[1], way: 'stdio' }),
    ]
    await call(two, 'pid')
    await call(one, 'ask_later', QUESTION)
    const [error] = await getAnswers()
    expect(error).toMatchObject({ message: expect.stringContaining('each client gets a process of its own') })
    expect(answers.map((answer) => answer.mock.calls.length)).toEqual([0, 0])
    await call(one, 'ask_later', QUESTION)
    await vi.waitFor(() => expect(answers.map((answer) => answer.mock.calls.length)).toEqual([1, 0]))
    expect(await call(one, 'pid')).not.toBe(await call(two, 'pid'))
  })

  it('goes to the only client that has used the process, with others connected', async () => {
    const gateway = await create()
    const other = vi.fn(accept)
    const one = await connect(gateway)
    await connect(gateway, { answer: other, way: 'stdio' })
    await call(one, 'ask_later', QUESTION)
    expect(await getAnswers()).toEqual([{ action: 'accept' }])
    expect(other).not.toHaveBeenCalled()
  })

  it('reaches the client of an isolated process', async () => {
    const gateway = await create({ server: { isolate: true } })
    const answers = [vi.fn(accept), vi.fn(accept)] as const
    const [one, two] = [
      await connect(gateway, { answer: answers[0] }),
      await connect(gateway, { answer: answers[1], way: 'stdio' }),
    ]
    await call(one, 'pid')
    await call(two, 'ask_later', QUESTION)
    expect(await getAnswers()).toEqual([{ action: 'accept' }])
    expect(answers.map((answer) => answer.mock.calls.length)).toEqual([0, 1])
  })

  it.each([
    ['a preset excludes the server', { presets: { other: { servers: ['b'] } } }],
    ['a rule denies it the server', { rules: [{ action: 'deny', server: 'a', client: 'denied' }] }],
  ] as const)('never reaches a client if %s', async (_, definition) => {
    const gateway = await create({ first: QUESTION, gateway: definition })
    const denied = vi.fn(accept)
    const more = 'presets' in definition ? { preset: 'other' } : { name: 'denied' }
    await (await connect(gateway, { answer: denied, ...more })).ping()
    await connect(gateway)
    expect(await getAnswers()).toEqual([{ action: 'accept' }])
    expect(denied).not.toHaveBeenCalled()
  })

  it.each(WAYS)('is refused if the client over %s is modern', async (way) => {
    const answer = vi.fn(accept)
    const client = await connect(await create(), { way, mode: 'auto', answer })
    await call(client, 'ask_later', QUESTION)
    const [error] = await getAnswers()
    expect(error).toMatchObject({ message: expect.stringContaining('only while one of its calls is running') })
    expect(answer).not.toHaveBeenCalled()
  })

  it('does not keep the gateway from closing', async () => {
    const gateway = await create()
    const { answer, asked } = createSilence()
    const client = await connect(gateway, { answer, way: 'stdio' })
    await call(client, 'ask_later', QUESTION)
    await vi.waitFor(() => expect(asked).toHaveBeenCalled())
    const start = performance.now()
    await gateway.close()
    expect(performance.now() - start).toBeLessThan(5_000)
  })

  it('keeps its server from being stopped as idle', async () => {
    const b = { command: process.execPath, args: [SERVER], idleSeconds: 1 }
    const gateway = await create({ server: { idleSeconds: 1 }, others: { b } })
    let reply: (() => void) | undefined
    const answer: ClientOptions['answer'] = () =>
      new Promise((resolve) => (reply = () => resolve({ action: 'accept' })))
    const client = await connect(gateway, { answer })
    await call(client, 'a__ask_later', QUESTION)
    await vi.waitFor(() => expect(reply).toBeDefined())
    await call(client, 'b__pid')
    const getState = (name: string) => gateway.servers.find((server) => server.name === name)?.state.type
    await vi.waitFor(() => expect(getState('b')).toBe('stopped'), 10_000)
    expect(getState('a')).toBe('running')
    reply?.()
    expect(await getAnswers()).toEqual([{ action: 'accept' }])
  })
})
