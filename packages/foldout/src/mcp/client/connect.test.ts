import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createLinkedTransports } from '../protocol/linked.fixtures.ts'
import type { IncomingRequest } from '../protocol/incoming.ts'
import type { JsonObject } from '../protocol/messages.ts'
import { Peer } from '../protocol/peer.ts'
import type { McpTransport } from '../protocol/transport.ts'
import { connectToMcp, type ConnectToMcpOptions } from './connect.ts'

const APP = { name: 'app', version: '1.0.0' }
const SENDER = 'io.modelcontextprotocol/'
const DISCOVERED = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {}, telepathy: { range: 3 } },
  instructions: 'Ask nicely.',
  _meta: { [`${SENDER}serverInfo`]: { name: 'far', version: '2', mood: 'fine' } },
}
const INITIALIZED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, telepathy: { range: 3 } },
  instructions: 'Ask nicely.',
  serverInfo: { name: 'far', version: '2', mood: 'fine' },
}

type Answer = (request: IncomingRequest) => unknown

/** A server at the other end of a pipe, which answers as the test says. */
async function connectFar(answers: Readonly<Record<string, Answer>>, options: Partial<ConnectToMcpOptions> = {}) {
  const [near, far] = createLinkedTransports()
  const received: { method: string; params: JsonObject }[] = []
  const peer = new Peer({
    send: (message) => far.send(message),
    onNotification: (method, params) => received.push({ method, params }),
    async onRequest(request) {
      const { method, params } = request
      received.push({ method, params })
      const answer = answers[method]
      if (!answer) throw Object.assign(new Error('Method not found'), { code: -32_601 })
      return (await answer(request)) as JsonObject
    },
  })
  await far.start({ receive: (message) => peer.receive(message), close: () => peer.close() })
  const connecting = connectToMcp(near, { ...APP, ...options })
  connecting.catch(() => undefined)
  return { peer, received, far, connecting, methods: () => received.map(({ method }) => method) }
}

const refuse = (code: number, data?: unknown) => (): never => {
  throw Object.assign(new Error('No.'), { code, data })
}

describe('connecting to a server', () => {
  it('asks for its versions first, and says in each request who asks', async () => {
    const far = await connectFar(
      { 'server/discover': () => DISCOVERED, 'tools/list': () => ({ tools: [] }) },
      { capabilities: { sampling: {} } },
    )
    const session = await far.connecting
    expect(session).toMatchObject({
      era: 'modern',
      isConnected: true,
      server: {
        info: { name: 'far', version: '2', mood: 'fine' },
        capabilities: { telepathy: { range: 3 } },
        instructions: 'Ask nicely.',
        protocolVersion: '2026-07-28',
      },
    })
    await session.request('tools/list', { _meta: { trace: 1 } })
    await session.notify('notifications/whatever')
    await vi.waitFor(() => expect(far.methods()).toEqual(['server/discover', 'tools/list', 'notifications/whatever']))
    const sender = {
      [`${SENDER}protocolVersion`]: '2026-07-28',
      [`${SENDER}clientInfo`]: APP,
      [`${SENDER}clientCapabilities`]: { sampling: {} },
    }
    expect(far.received.map(({ params }) => params['_meta'])).toEqual([sender, { ...sender, trace: 1 }, sender])
  })

  it.each([
    ['does not know the question', refuse(-32_601)],
    ['refuses everything before the handshake', refuse(-32_000)],
    ['names old versions only', refuse(-32_022, { supported: ['2025-06-18'] })],
    ['answers with something else', () => ({ hello: 1 })],
    ['speaks versions that do not exist', () => ({ ...DISCOVERED, supportedVersions: ['1999-01-01', 7, null] })],
  ])('uses the older handshake if the server %s', async (_what, discover) => {
    const far = await connectFar({ 'server/discover': discover, initialize: () => INITIALIZED })
    const session = await far.connecting
    expect(session).toMatchObject({ era: 'legacy', server: { info: { mood: 'fine' }, protocolVersion: '2025-11-25' } })
    await vi.waitFor(() =>
      expect(far.methods()).toEqual(['server/discover', 'initialize', 'notifications/initialized']),
    )
    expect(far.received[1]?.params).toEqual({ protocolVersion: '2025-11-25', capabilities: {}, clientInfo: APP })
  })

  it('takes the version that a modern server names in its refusal, once', async () => {
    let asked = 0
    const far = await connectFar({
      'server/discover': () => (asked++ === 0 ? refuse(-32_022, { supported: ['2026-07-28'] })() : DISCOVERED),
    })
    expect((await far.connecting).era).toBe('modern')
    const stubborn = await connectFar({ 'server/discover': refuse(-32_022, { supported: ['2026-07-28'] }) })
    await expect(stubborn.connecting).rejects.toMatchObject({ code: -32_022 })
    expect(stubborn.methods()).toEqual(['server/discover', 'server/discover'])
  })

  it('does not use the older handshake with a server that is newer, or if it is not wanted', async () => {
    const newer = await connectFar({ 'server/discover': refuse(-32_022, { supported: ['2030-01-01'] }) })
    await expect(newer.connecting).rejects.toMatchObject({ code: -32_022 })
    const older = await connectFar({ initialize: () => INITIALIZED }, { era: 'modern' })
    await expect(older.connecting).rejects.toMatchObject({ code: -32_601 })
    expect(older.methods()).toEqual(['server/discover'])
  })

  it('skips the question if the server is known to be old', async () => {
    const far = await connectFar(
      { initialize: () => ({ ...INITIALIZED, protocolVersion: '2024-11-05' }) },
      { era: 'legacy' },
    )
    expect((await far.connecting).server.protocolVersion).toBe('2024-11-05')
    expect(far.methods()).toEqual(['initialize', 'notifications/initialized'])
  })

  it('closes the transport if the versions differ, or the signal is aborted', async () => {
    const other = await connectFar(
      { initialize: () => ({ ...INITIALIZED, protocolVersion: '1.0' }) },
      { era: 'legacy' },
    )
    await expect(other.connecting).rejects.toThrow('The server speaks a version of MCP that is not supported: "1.0"')
    expect(other.peer.isClosed).toBe(true)
    const stop = new AbortController()
    const silent = await connectFar({ 'server/discover': () => new Promise(() => undefined) }, { signal: stop.signal })
    await vi.waitFor(() => expect(silent.received).toHaveLength(1))
    stop.abort(new Error('Enough.'))
    await expect(silent.connecting).rejects.toThrow('Enough.')
    expect(silent.peer.isClosed).toBe(true)
    // The protocol forbids it to cancel a handshake.
    expect(silent.methods()).toEqual(['server/discover'])
  })

  it('does not wait longer than it may, neither for the transport nor for the server', async () => {
    vi.useFakeTimers()
    try {
      const [near] = createLinkedTransports()
      const stuck: McpTransport = { ...near, start: () => new Promise(() => undefined) }
      const failure = connectToMcp(stuck, { ...APP, timeoutMs: 500 }).catch((error: Error) => error.message)
      await vi.advanceTimersByTimeAsync(500)
      expect(await failure).toBe('It took too long.')
      // Over a pipe, some older servers ignore what they do not know.
      const far = await connectFar(
        { 'server/discover': () => new Promise(() => undefined), initialize: () => INITIALIZED },
        { timeoutMs: 500 },
      )
      await vi.advanceTimersByTimeAsync(500)
      expect((await far.connecting).era).toBe('legacy')
    } finally {
      vi.useRealTimers()
    }
  })
})

describe.each(['legacy', 'modern'] as const)('a session of the %s era', (era) => {
  const open = async (answers: Readonly<Record<string, Answer>> = {}, options: Partial<ConnectToMcpOptions> = {}) => {
    const handshake = era === 'modern' ? { 'server/discover': () => DISCOVERED } : { initialize: () => INITIALIZED }
    const far = await connectFar({ ...handshake, ...answers }, options)
    return { ...far, session: await far.connecting }
  }

  it('R46 passes on methods, parameters and results that nobody knows', async () => {
    const { session, received } = await open({
      'minds/read': ({ params }) => ({ thought: params['of'], resultType: 'vague' }),
    })
    expect(await session.request('minds/read', { of: ['you'], _meta: { 'acme/depth': 2 } })).toEqual({
      thought: ['you'],
      resultType: 'vague',
    })
    expect(received.at(-1)?.params).toMatchObject({ of: ['you'], _meta: { 'acme/depth': 2 } })
    const anything = fc.dictionary(
      fc.string().filter((key) => key !== '_meta' && key !== '__proto__'),
      fc.jsonValue(),
    )
    const { session: echo } = await open({ echo: ({ params: { _meta, ...params } }) => params })
    await fc.assert(
      fc.asyncProperty(anything, async (params) => {
        expect(await echo.request('echo', params)).toEqual(JSON.parse(JSON.stringify(params)))
      }),
      { numRuns: 100 },
    )
  })

  it('R46 passes on notifications that nobody knows', async () => {
    const early: unknown[] = []
    const { session, peer } = await open({}, { onNotification: (method) => early.push(method) })
    const heard: unknown[] = []
    const stop = session.onNotification((method, params) => heard.push([method, params]))
    await peer.notify('notifications/minds/changed', { of: 'you' })
    await peer.notify('notifications/bare')
    await vi.waitFor(() => expect(heard).toHaveLength(2))
    stop()
    await peer.notify('notifications/bare')
    await vi.waitFor(() => expect(early).toHaveLength(3))
    expect(heard).toEqual([
      ['notifications/minds/changed', { of: 'you' }],
      ['notifications/bare', {}],
    ])
  })

  it("R46 answers the server's questions, refuses what it does not know, and lets the server take them back", async () => {
    const aborted = vi.fn()
    const { peer } = await open(
      {},
      {
        async onRequest(method, params, signal) {
          if (method === 'slow/question') return new Promise(() => signal?.addEventListener('abort', aborted))
          if (method !== 'minds/open') throw Object.assign(new Error('Nobody answers.'), { code: -32_601 })
          return { got: params }
        },
      },
    )
    expect(await peer.request('ping')).toEqual({})
    expect(await peer.request('minds/open', { a: 1 })).toEqual({ got: { a: 1 } })
    await expect(peer.request('other')).rejects.toMatchObject({ code: -32_601, message: 'Nobody answers.' })
    const stop = new AbortController()
    const slow = peer.request('slow/question', {}, { signal: stop.signal })
    slow.catch(() => undefined)
    await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    await vi.waitFor(() => expect(aborted).toHaveBeenCalledTimes(1))
    const { peer: alone } = await open()
    await expect(alone.request('sampling/createMessage')).rejects.toMatchObject({ code: -32_601 })
  })

  it('R46 hears the progress of a task after its call was answered', async () => {
    const token = (params: JsonObject): unknown => (params['_meta'] as JsonObject)['progressToken']
    let progressToken: unknown
    const task = { taskId: 't1', status: 'working' }
    const { session, peer } = await open({
      'tools/call': ({ params }) => {
        progressToken = token(params)
        return era === 'modern' ? { resultType: 'task', ...task } : { task }
      },
      'tasks/get': () => ({ taskId: 't1', status: 'completed' }),
    })
    const heard: unknown[] = []
    const others: unknown[] = []
    session.onNotification((method) => others.push(method))
    await peer.notify('notifications/cancelled', { requestId: 'of nobody' })
    await session.request('tools/call', {}, { onProgress: ({ progress }) => heard.push(progress) })
    await peer.notify('notifications/progress', { progressToken, progress: 1 })
    await vi.waitFor(() => expect(heard).toEqual([1]))
    await session.request('tasks/get')
    await peer.notify('notifications/progress', { progressToken, progress: 2 })
    await peer.request('ping')
    expect(heard).toEqual([1])
    // They name tokens and requests of this side, which are of no use to anyone else.
    expect(others).toEqual([])
  })

  it('ends with its transport, by whichever side', async () => {
    const one = await open({ wait: () => new Promise(() => undefined) })
    const waiting = one.session.request('wait')
    await one.far.close()
    await one.session.closed
    await expect(waiting).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
    await expect(one.session.request('any')).rejects.toMatchObject({ code: 'NOT_CONNECTED' })
    expect(one.session.isConnected).toBe(false)
    const other = await open()
    await other.session.close()
    expect([other.session.isConnected, other.peer.isClosed]).toEqual([false, true])
  })
})

describe('a subscription at a modern server', () => {
  const acknowledge = (peer: Peer, id: unknown, notifications: object): Promise<void> =>
    peer.notify('notifications/subscriptions/acknowledged', {
      notifications,
      _meta: { [`${SENDER}subscriptionId`]: id },
    })
  const open = async () => {
    const requests: IncomingRequest[] = []
    const ends: ((result: JsonObject) => void)[] = []
    const far = await connectFar({
      'server/discover': () => DISCOVERED,
      'subscriptions/listen': (request) => {
        requests.push(request)
        return new Promise((resolve) => ends.push(resolve))
      },
    })
    return { ...far, session: await far.connecting, requests, ends }
  }

  it('is open once the server acknowledges it, and ends when the server says so', async () => {
    const { session, peer, requests, ends } = await open()
    const listening = session.listen({ toolsListChanged: true, mindsChanged: true })
    await vi.waitFor(() => expect(requests).toHaveLength(1))
    expect(requests[0]?.params['notifications']).toEqual({ toolsListChanged: true, mindsChanged: true })
    await acknowledge(peer, requests[0]?.id, { toolsListChanged: true })
    const subscription = await listening
    expect(subscription.honored).toEqual({ toolsListChanged: true })
    ends[0]?.({})
    expect(await subscription.closed).toBe('remote')
  })

  it.each(['close', 'abort'] as const)('ends locally by %s, and the server is told', async (way) => {
    const { session, peer, requests } = await open()
    const stop = new AbortController()
    const listening = session.listen({}, { signal: stop.signal })
    await vi.waitFor(() => expect(requests).toHaveLength(1))
    await acknowledge(peer, requests[0]?.id, {})
    const subscription = await listening
    if (way === 'close') await subscription.close()
    else stop.abort()
    expect(await subscription.closed).toBe('local')
    await vi.waitFor(() => expect(requests[0]?.signal.aborted).toBe(true))
  })

  it('fails if the server refuses it or goes, and can be ended by a notification', async () => {
    const refusing = await connectFar({ 'server/discover': () => DISCOVERED, 'subscriptions/listen': refuse(-32_000) })
    await expect((await refusing.connecting).listen({})).rejects.toMatchObject({ code: -32_000 })
    const { session, peer, requests, far } = await open()
    const first = session.listen({})
    await vi.waitFor(() => expect(requests).toHaveLength(1))
    await acknowledge(peer, requests[0]?.id, {})
    await peer.notify('notifications/cancelled', { requestId: requests[0]?.id })
    expect(await (await first).closed).toBe('remote')
    const second = session.listen({})
    await vi.waitFor(() => expect(requests).toHaveLength(2))
    await far.close()
    await expect(second).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
  })
})
