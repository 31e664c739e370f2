import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it, vi, type Mock } from 'vitest'
import { removeFolder } from '../../../remove-folder.fixtures.ts'
import type { ServerDefinition } from '../../config/definition.ts'
import { createGateway, type Gateway } from '../../gateway.ts'

const SERVER = join(import.meta.dirname, 'asking-server.fixtures.mjs')
const QUESTION = {
  method: 'elicitation/create',
  params: { message: 'Which?', requestedSchema: { type: 'object', properties: {} } },
}
const ACCEPTED = { action: 'accept', content: {} } as const
const REFUSED = { message: expect.stringMatching(/^Calls of several users .* Set isolate to true/) }

let folder: string
let closing: (() => Promise<unknown>)[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-users-'))
  closing = []
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  await removeFolder(folder)
})

async function create(more: ServerDefinition = {}): Promise<Gateway> {
  const server = { command: process.execPath, args: [SERVER], ...more }
  const tokens = ['ann', 'bob'].map((user) => ({ user, token: `token-of-${user}` }))
  const gateway = await createGateway(
    { mcpServers: { a: server }, expose: 'all', http: { tokens } },
    { cache: join(folder, 'cache') },
  )
  closing.push(() => gateway.close())
  await gateway.ready()
  return gateway
}

type Mode = 'legacy' | 'auto'

interface User {
  readonly client: Client
  readonly asked: Mock<() => Promise<typeof ACCEPTED>>
  readonly logged: Mock<(data: unknown) => void>
  call(name: string, args?: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<unknown>
}

async function connect(gateway: Gateway, user: string, mode: Mode = 'legacy'): Promise<User> {
  const client = new Client(
    { name: user, version: '1' },
    { versionNegotiation: { mode }, capabilities: { elicitation: {} } },
  )
  const asked = vi.fn(async (): Promise<typeof ACCEPTED> => ACCEPTED)
  const logged = vi.fn<(data: unknown) => void>()
  client.setRequestHandler('elicitation/create', asked)
  client.setNotificationHandler('notifications/message', ({ params }) => logged(params.data))
  const headers = { authorization: `Bearer token-of-${user}` }
  const url = new URL((await gateway.http()).url)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  closing.push(() => client.close())
  const call: User['call'] = async (name, args = {}, signal) => {
    const { content } = await client.callTool({ name, arguments: args }, signal && { signal })
    return JSON.parse((content[0] as { readonly text: string }).text)
  }
  return { client, asked, logged, call }
}

async function findProcess({ call }: User): Promise<number> {
  return (await call('pid')) as number
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Starts a call that the server does not answer until it is let go. */
async function hold(gateway: Gateway, { call }: User, signal?: AbortSignal): Promise<void> {
  const running = countCalls(gateway)
  void call('hold', {}, signal).catch(() => undefined)
  await vi.waitFor(() => expect(countCalls(gateway)).toBe(running + 1))
}

function countCalls(gateway: Gateway): number {
  const { state } = gateway.servers[0] ?? {}
  return state?.type === 'running' ? state.calls : 0
}

describe.each(['legacy', 'auto'] as const)("R53 a question during a user's call, to clients in the era %s", (mode) => {
  it('is refused while a call of another user waits for its answer', async () => {
    const gateway = await create()
    const [ann, bob] = [await connect(gateway, 'ann', mode), await connect(gateway, 'bob', mode)]
    let answer: (() => void) | undefined
    ann.asked.mockImplementation(() => new Promise((resolve) => (answer = () => resolve(ACCEPTED))))
    const first = ann.call('ask', QUESTION)
    await vi.waitFor(() => expect(answer).toBeDefined())
    expect(await bob.call('ask', QUESTION)).toMatchObject(REFUSED)
    expect(bob.asked).not.toHaveBeenCalled()
    answer?.()
    expect(await first).toEqual(ACCEPTED)
    expect(await bob.call('ask', QUESTION)).toEqual(ACCEPTED)
  })

  it('is refused until the server has answered the cancelled call of another user', async () => {
    const gateway = await create()
    const [ann, bob] = [await connect(gateway, 'ann', mode), await connect(gateway, 'bob', mode)]
    const stop = new AbortController()
    await hold(gateway, ann, stop.signal)
    stop.abort()
    await vi.waitFor(() => expect(countCalls(gateway)).toBe(0))
    expect(await bob.call('ask', QUESTION)).toMatchObject(REFUSED)
    expect(bob.asked).not.toHaveBeenCalled()
    // The user whose call it was can be asked.
    expect(await ann.call('ask', QUESTION)).toEqual(ACCEPTED)
    expect(await bob.call('let_go')).toBe(1)
    expect(await bob.call('ask', QUESTION)).toEqual(ACCEPTED)
  })
})

/** Two users. The call of the first was cancelled, and the server goes on with it. */
async function connectAfterCancel() {
  const gateway = await create()
  const [ann, bob] = [await connect(gateway, 'ann'), await connect(gateway, 'bob')]
  const stop = new AbortController()
  await hold(gateway, ann, stop.signal)
  stop.abort()
  await vi.waitFor(() => expect(countCalls(gateway)).toBe(0))
  return { ann, bob }
}

describe("R53 a question during a user's call", () => {
  it('is refused after a client of another user has vanished during its call', async () => {
    const gateway = await create()
    const [ann, bob] = [await connect(gateway, 'ann'), await connect(gateway, 'bob')]
    await hold(gateway, ann)
    await (ann.client.transport as StreamableHTTPClientTransport).terminateSession()
    await ann.client.close()
    await vi.waitFor(() => expect(countCalls(gateway)).toBe(0))
    expect(await bob.call('ask', QUESTION)).toMatchObject(REFUSED)
  })

  it('is refused after a call of another user has timed out', async () => {
    const gateway = await create({ timeoutSeconds: 0.2 })
    const [ann, bob] = [await connect(gateway, 'ann'), await connect(gateway, 'bob')]
    await ann.client.callTool({ name: 'hold', arguments: {} })
    expect(await bob.call('ask', QUESTION)).toMatchObject(REFUSED)
  })

  it('is passed on when the server has been started again', async () => {
    const { bob } = await connectAfterCancel()
    await bob.client.callTool({ name: 'crash', arguments: {} })
    await vi.waitFor(async () => expect(await bob.call('ask', QUESTION)).toEqual(ACCEPTED), { timeout: 10_000 })
  })

  it('goes to the client with the other call, if all calls are of one user', async () => {
    const gateway = await create()
    const [one, two] = [await connect(gateway, 'ann'), await connect(gateway, 'ann')]
    one.asked.mockImplementation(() => new Promise(() => {}))
    void one.call('ask', QUESTION).catch(() => undefined)
    await vi.waitFor(() => expect(one.asked).toHaveBeenCalledTimes(1))
    expect(await two.call('ask', QUESTION)).toEqual(ACCEPTED)
  })
})

describe('R54 a server that users share', () => {
  it("answers others while one user's calls hang", async () => {
    const gateway = await create({ maxConcurrent: 4 })
    const [ann, bob] = [await connect(gateway, 'ann'), await connect(gateway, 'bob')]
    for (let i = 0; i < 3; i++) await hold(gateway, ann)
    for (let i = 0; i < 3; i++) void ann.call('hold').catch(() => undefined)
    expect(await bob.call('pid')).toBeTypeOf('number')
    expect(await bob.call('pid')).toBeTypeOf('number')
  })
})

describe('R54 processes of single clients with tokens', () => {
  it('belong to one connection each, and end with it', async () => {
    const gateway = await create({ isolate: true })
    const [one, two] = [await connect(gateway, 'ann'), await connect(gateway, 'ann')]
    const pids = [await findProcess(one), await findProcess(two)] as const
    expect(pids[0]).not.toBe(pids[1])
    expect(await findProcess(one)).toBe(pids[0])
    await (one.client.transport as StreamableHTTPClientTransport).terminateSession()
    await vi.waitFor(() => expect(isRunning(pids[0])).toBe(false), { timeout: 5_000 })
    expect(await findProcess(two)).toBe(pids[1])
  })

  it('belong to the user of modern clients, who have no connection', async () => {
    const gateway = await create({ isolate: true })
    const [ann, again, bob] = [
      await connect(gateway, 'ann', 'auto'),
      await connect(gateway, 'ann', 'auto'),
      await connect(gateway, 'bob', 'auto'),
    ]
    const pid = await findProcess(ann)
    expect(await findProcess(again)).toBe(pid)
    expect(await findProcess(bob)).not.toBe(pid)
  })
})

describe('R53 a log message during calls', () => {
  it('reaches nobody if the calls are of several users', async () => {
    const gateway = await create()
    const [ann, bob] = [await connect(gateway, 'ann'), await connect(gateway, 'bob')]
    await hold(gateway, bob)
    await ann.call('log', { data: 'during two calls' })
    expect(await ann.call('let_go')).toBe(1)
    await vi.waitFor(() => expect(countCalls(gateway)).toBe(0))
    await ann.call('log', { data: 'during one call' })
    await vi.waitFor(() => expect(ann.logged.mock.calls).toEqual([['during one call']]))
    expect(bob.logged).not.toHaveBeenCalled()
  })

  it('reaches nobody if another user has cancelled a call', async () => {
    const { ann, bob } = await connectAfterCancel()
    await bob.call('log', { data: 'first' })
    await bob.call('let_go')
    await bob.call('log', { data: 'second' })
    await vi.waitFor(() => expect(bob.logged.mock.calls).toEqual([['second']]))
    expect(ann.logged).not.toHaveBeenCalled()
  })
})
