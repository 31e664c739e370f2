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
const REFUSED = {
  message: expect.stringMatching(
    /^Several clients have used this process .* so call the tool again\. Set isolate to true/,
  ),
}

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
  it('comes from a process of its own while a call of another user waits for its answer', async () => {
    const gateway = await create()
    const [ann, bob] = [await connect(gateway, 'ann', mode), await connect(gateway, 'bob', mode)]
    let answer: (() => void) | undefined
    ann.asked.mockImplementation(() => new Promise((resolve) => (answer = () => resolve(ACCEPTED))))
    const first = ann.call('ask', QUESTION)
    await vi.waitFor(() => expect(answer).toBeDefined())
    expect(await bob.call('ask', QUESTION)).toEqual(ACCEPTED)
    expect(bob.asked).toHaveBeenCalledTimes(1)
    answer?.()
    expect(await first).toEqual(ACCEPTED)
    expect(ann.asked).toHaveBeenCalledTimes(1)
  })

  it('is refused once if others have used the process, and then each has a process', async () => {
    const gateway = await create()
    const [ann, bob] = [await connect(gateway, 'ann', mode), await connect(gateway, 'bob', mode)]
    const stop = new AbortController()
    await hold(gateway, ann, stop.signal)
    stop.abort()
    await vi.waitFor(() => expect(countCalls(gateway)).toBe(0))
    expect(await bob.call('ask', QUESTION)).toMatchObject(REFUSED)
    expect([ann, bob].map(({ asked }) => asked.mock.calls.length)).toEqual([0, 0])
    expect(await bob.call('ask', QUESTION)).toEqual(ACCEPTED)
    expect(await ann.call('ask', QUESTION)).toEqual(ACCEPTED)
    expect([ann, bob].map(({ asked }) => asked.mock.calls.length)).toEqual([1, 1])
    expect(await findProcess(ann)).not.toBe(await findProcess(bob))
  })

  it('is asked in a process of its own after a restart of the gateway', async () => {
    const gateway = await create()
    const first = await connect(gateway, 'ann', mode)
    const pid = await findProcess(first)
    expect(await first.call('ask', QUESTION)).toEqual(ACCEPTED)
    expect(await findProcess(first)).toBe(pid)
    for (const close of closing.splice(0).toReversed()) await close()
    const again = await create()
    const [ann, bob] = [await connect(again, 'ann', mode), await connect(again, 'bob', mode)]
    const pids = [await findProcess(ann), await findProcess(bob)]
    expect(pids[0]).not.toBe(pids[1])
    for (const user of [ann, bob]) expect(await user.call('ask', QUESTION)).toEqual(ACCEPTED)
    expect([await findProcess(ann), await findProcess(bob)]).toEqual(pids)
  })
})

describe("R53 a question during a user's call", () => {
  it('never reaches another user after a client has vanished during its call', async () => {
    const gateway = await create()
    const [ann, bob] = [await connect(gateway, 'ann'), await connect(gateway, 'bob')]
    await hold(gateway, ann)
    await (ann.client.transport as StreamableHTTPClientTransport).terminateSession()
    await ann.client.close()
    await vi.waitFor(() => expect(countCalls(gateway)).toBe(0))
    expect(await bob.call('ask', QUESTION)).toMatchObject(REFUSED)
    expect(bob.asked).not.toHaveBeenCalled()
  })

  it('never reaches another user after a call has timed out', async () => {
    const gateway = await create({ timeoutSeconds: 0.2 })
    const [ann, bob] = [await connect(gateway, 'ann'), await connect(gateway, 'bob')]
    await ann.client.callTool({ name: 'hold', arguments: {} })
    expect(await bob.call('ask', QUESTION)).toMatchObject(REFUSED)
    expect(bob.asked).not.toHaveBeenCalled()
  })

  it('goes to the client with the call, if both clients are of one user', async () => {
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

describe('R53 a log message', () => {
  it('reaches nobody if several users have used the process', async () => {
    const gateway = await create()
    const [ann, bob] = [await connect(gateway, 'ann'), await connect(gateway, 'bob')]
    await ann.call('log', { data: 'alone' })
    await vi.waitFor(() => expect(ann.logged.mock.calls).toEqual([['alone']]))
    await bob.call('pid')
    await ann.call('log', { data: 'shared' })
    await bob.call('log', { data: 'shared' })
    await ann.call('pid')
    expect(ann.logged.mock.calls).toEqual([['alone']])
    expect(bob.logged).not.toHaveBeenCalled()
  })

  it('reaches only its client if each has a process, also between calls', async () => {
    const gateway = await create({ isolate: true })
    const [ann, bob] = [await connect(gateway, 'ann'), await connect(gateway, 'bob')]
    await bob.call('pid')
    await ann.call('log_later', { data: 'later' })
    await vi.waitFor(() => expect(ann.logged.mock.calls).toEqual([['later']]))
    expect(bob.logged).not.toHaveBeenCalled()
  })
})
