import { request as httpRequest } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { hybrid } from '../../../catalog/exposures/hybrid.ts'
import { createSession } from '../../../session/session.ts'
import { manyKinds, visits, type Seen } from '../catalog.fixtures.ts'
import { legacyKinds, overHttp } from '../clients.fixtures.ts'
import type { ServeMcpOptions } from '../contract/options.ts'
import { serveMcp, type ServedMcp } from '../serve-mcp.ts'
import type { Authorize } from '../contract/authorize.ts'
import { PeerCounter, toPeer } from '../../transports/http/peer-counter.ts'
import {
  beginSession,
  callVisits,
  HEADERS,
  initialize,
  modernRequest,
  openSession,
  openStream,
  post,
  rpc,
} from './raw.fixtures.ts'
import { SessionTable, type TabledSession } from './session-table.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  vi.useRealTimers()
  vi.useRealTimers()
  for (const one of open.splice(0).toReversed()) await one.close()
})

const seen: Seen = { contexts: [] }

function serve(options: Partial<ServeMcpOptions> = {}): ServedMcp {
  const served = serveMcp(manyKinds({ seen }), {
    name: 'home',
    version: '1.0.0',
    expose: hybrid(),
    session: () => createSession({ slices: [visits] }),
    ...options,
  })
  open.push(served)
  return served
}

/** Principals by bearer token. */
const authorize: Authorize = (request) => {
  const token = /^Bearer (\w+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
  if (token === undefined) return { status: 401, challenge: 'Bearer resource_metadata="https://auth.example"' }
  return token === 'banned' ? { status: 403, message: 'You were banned.' } : { principal: token }
}
const as = (principal: string) => ({ authorization: `Bearer ${principal}` })

describe('sessions within limits', () => {
  it('are not ended by a flood of new ones', async () => {
    const { url } = await serve({ sessions: { max: 20 } }).http()
    const [used, half] = [await openSession(url), await beginSession(url)]
    const answers = await Promise.all(Array.from({ length: 100 }, () => post(url, initialize())))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused).toHaveLength(82)
    for (const { status, headers, error } of refused) {
      expect(status).toBe(503)
      expect(headers.get('retry-after')).toBe('5')
      expect(error?.message).toBe('This server has 20 open sessions, which is the maximum. Try again later.')
    }
    expect((await callVisits(url, used)).status).toBe(200)
    expect((await callVisits(url, half)).status).toBe(200)
  })

  it('are evicted for a new one of the same peer if they are idle', async () => {
    const { url } = await serve({ sessions: { max: 2, keepMs: 0 } }).http()
    const [first, second] = [await openSession(url), await openSession(url)]
    await callVisits(url, first)
    const third = await openSession(url)
    expect((await callVisits(url, second)).status).toBe(404)
    expect((await callVisits(url, first)).status).toBe(200)
    expect((await callVisits(url, third)).status).toBe(200)
  })

  it('are not affected by those of another principal', async () => {
    const { url } = await serve({ authorize, sessions: { max: 100, perPeer: 10, keepMs: 0 } }).http()
    const mine = await openSession(url, as('anna'))
    const theirs = await Promise.all(Array.from({ length: 30 }, () => post(url, initialize(), as('mallory'))))
    expect(theirs.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(theirs.filter(({ status }) => status === 429)).toHaveLength(20)
    for (let i = 0; i < 20; i++) await post(url, initialize(), as('mallory'))
    expect((await callVisits(url, mine, as('anna'))).text).toContain('Visit 1.')
    expect((await callVisits(url, mine, as('mallory'))).status).toBe(404)
    expect((await callVisits(url, mine)).status).toBe(401)
    expect((await callVisits(url, mine, as('anna'))).text).toContain('Visit 2.')
  })

  it('leave room for other principals even with open streams', async () => {
    const { url } = await serve({ authorize, sessions: { max: 20, perPeer: 10 }, streams: { perPeer: 10 } }).http()
    const held = []
    for (let i = 0; i < 10; i++) {
      const session = await openSession(url, as('mallory'))
      held.push(await openStream(url, { ...as('mallory'), 'mcp-session-id': session }))
    }
    expect(held.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    expect((await post(url, initialize(), as('mallory'))).status).toBe(429)
    const mine = await openSession(url, as('anna'))
    const stream = await openStream(url, { ...as('anna'), 'mcp-session-id': mine })
    expect(stream.status).toBe(200)
    for (const one of [...held, stream]) one.close()
  })

  it('share a full server fairly: peers with the most sessions make room', () => {
    vi.useFakeTimers({ now: 0 })
    const ended: string[] = []
    let ids = 0
    const table = new SessionTable<TabledSession>({ max: 10, perPeer: 9 }, (session) => {
      ended.push(session.peer)
      table.remove(session.id)
    })
    const join = (peer: string) => {
      const refusal = table.makeRoom(peer)
      if (refusal) return refusal
      const session = { id: `${peer}-${ids++}`, peer }
      table.add(session)
      table.ready(session)
      return undefined
    }
    for (let i = 0; i < 9; i++) expect(join('greedy')).toBeUndefined()
    expect(join('greedy')).toBe('peer')
    for (let i = 0; i < 5; i++) expect(join('modest')).toBeUndefined()
    expect(ended).toEqual(Array.from({ length: 4 }, () => 'greedy'))
    // Both have their share now.
    expect(join('modest')).toBe('total')
    expect(join('greedy')).toBe('total')
    vi.setSystemTime(61_000)
    expect(join('modest')).toBeUndefined()
    expect(ended.at(-1)).toBe('modest')
  })

  it('are not ended in the middle of a handshake or a request', () => {
    vi.useFakeTimers({ now: 0 })
    const ended: string[] = []
    const table = new SessionTable<TabledSession>({ max: 3, keepMs: 0 }, ({ id }) => {
      ended.push(id)
      table.remove(id)
    })
    for (const id of ['busy', 'half', 'busy too']) {
      const session = { id, peer: 'a' }
      table.add(session)
      if (id === 'half') continue
      table.ready(session)
      table.use(session)
    }
    expect(table.makeRoom('a')).toBe('total')
    vi.setSystemTime(31_000)
    expect(table.makeRoom('a')).toBeUndefined()
    expect(ended).toEqual(['half'])
  })
})

describe('streams within limits', () => {
  it('are counted per principal, including subscriptions', async () => {
    const { url } = await serve({ authorize, streams: { max: 10, perPeer: 2 } }).http()
    const { body, headers } = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const stop = new AbortController()
    const listen = (principal: string) =>
      fetch(url, {
        method: 'POST',
        body,
        headers: { ...HEADERS, ...headers, ...as(principal) },
        signal: stop.signal,
      })
    expect((await listen('mallory')).status).toBe(200)
    expect((await listen('mallory')).status).toBe(200)
    const refused = await listen('mallory')
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('5')
    expect((await listen('anna')).status).toBe(200)
    stop.abort()
    await expect.poll(async () => (await listenOnce(url, 'mallory')).status).toBe(200)
    async function listenOnce(at: string, principal: string) {
      const end = new AbortController()
      const init = { method: 'POST', body, headers: { ...HEADERS, ...headers, ...as(principal) }, signal: end.signal }
      const { status } = await fetch(at, init)
      end.abort()
      return { status }
    }
  })

  it('are released however a client disconnects', async () => {
    const { url } = await serve({ streams: { max: 1 } }).http()
    const session = await openSession(url)
    const listenOnce = async (): Promise<{ readonly status: number }> => {
      const stream = await openStream(url, { 'mcp-session-id': session })
      stream.close()
      return stream
    }
    for (let i = 0; i < 5; i++) await expect.poll(async () => (await listenOnce()).status).toBe(200)
    expect((await openStream(url, { 'mcp-session-id': 'none' })).status).toBe(404)
    await expect.poll(async () => (await openStream(url, { 'mcp-session-id': session })).status).toBe(200)
    expect((await openStream(url, { 'mcp-session-id': session })).status).toBe(409)
    expect((await openStream(url, { 'mcp-session-id': await openSession(url) })).status).toBe(503)
  })
})

describe('a principal', () => {
  it('is told how to sign in', async () => {
    const { url } = await serve({ authorize }).http()
    const nobody = await post(url, initialize())
    expect(nobody.status).toBe(401)
    expect(nobody.headers.get('www-authenticate')).toBe('Bearer resource_metadata="https://auth.example"')
    expect(nobody.error?.message).toBe('Sign in to use this server.')
    const banned = await post(url, initialize(), as('banned'))
    expect(banned.status).toBe(403)
    expect(banned.headers.get('www-authenticate')).toBeNull()
    expect(banned.error?.message).toBe('You were banned.')
    const { body, headers } = modernRequest('tools/list')
    expect((await post(url, body, headers)).status).toBe(401)
    expect((await post(url, body, { ...headers, ...as('anna') })).status).toBe(200)
  })

  it.each<[string, () => never]>([
    [
      'throws',
      () => {
        throw new Error('no database')
      },
    ],
    ['returns nothing', () => undefined as never],
    ['returns another status', () => ({ status: 200 }) as never],
    ['returns a principal that is not a text', () => ({ principal: 5 }) as never],
  ])('is rejected if the hook %s', async (_what, hook) => {
    const errors: Error[] = []
    const { url } = await serve({ authorize: hook, onError: (error) => errors.push(error) }).http()
    expect((await post(url, initialize())).status).toBe(500)
    expect(errors).toHaveLength(1)
  })

  it('is checked for requests of the Fetch API too', async () => {
    const served = serve({ authorize })
    const init = { method: 'POST', headers: HEADERS, body: initialize() }
    expect((await served.fetch(new Request('https://tools.example/mcp', init))).status).toBe(401)
  })

  it('is passed to the hooks that create sessions', async () => {
    const principals: unknown[] = []
    const { url } = await serve({
      authorize,
      session({ era, principal }) {
        principals.push([era, principal])
        return createSession({ slices: [visits] })
      },
    }).http()
    await openSession(url, as('anna'))
    const { body, headers } = modernRequest('tools/call', { name: 'count_visits' })
    await post(url, body, { ...headers, ...as('berta') })
    expect(principals).toEqual([
      ['modern', undefined],
      ['legacy', 'anna'],
      ['modern', 'berta'],
    ])
  })

  it.each(['0.0.0.0', '::'])('must be identified before others can reach %s', async (host) => {
    await expect(serve().http({ host })).rejects.toMatchObject({
      code: 'mcp-open',
      message: expect.stringMatching(/^Other machines can reach .*authorize hook.*allowedHosts/) as string,
    })
    await expect(serve({ authorize }).http({ host })).resolves.toMatchObject({})
  })

  it("must use the server's host names if others can reach it", async () => {
    const { url } = await serve().http({ host: '0.0.0.0', allowedHosts: ['tools.example'] })
    const local = url.replace('0.0.0.0', '127.0.0.1')
    expect(await statusWithHost(local, 'tools.example')).toBe(200)
    expect(await statusWithHost(local, 'evil.example')).toBe(403)
    const open = await serve().http({ host: '0.0.0.0', allowedHosts: ['*'] })
    const anywhere = open.url.replace('0.0.0.0', '127.0.0.1')
    expect(await statusWithHost(anywhere, 'evil.example')).toBe(200)
    expect((await post(anywhere, initialize(), { origin: 'https://evil.example' })).status).toBe(403)
  })
})

describe('state of tools for clients of 2026-07-28', () => {
  const visit = async (url: string, principal?: string) => {
    const { body, headers } = modernRequest('tools/call', { name: 'count_visits' })
    const { text } = await post(url, body, { ...headers, ...(principal ? as(principal) : {}) })
    return /Visit \d+/.exec(text)?.[0]
  }

  it('lasts for one request', async () => {
    const { url } = await serve().http()
    expect([await visit(url), await visit(url)]).toEqual(['Visit 1', 'Visit 1'])
  })

  it('lasts for one principal on request', async () => {
    const { url } = await serve({ authorize, sessions: { modern: 'principal' } }).http()
    expect([await visit(url, 'anna'), await visit(url, 'anna')]).toEqual(['Visit 1', 'Visit 2'])
    expect([await visit(url, 'berta'), await visit(url, 'anna')]).toEqual(['Visit 1', 'Visit 3'])
  })

  it('is dropped for idle principals', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { url } = await serve({ authorize, sessions: { modern: 'principal', idleMs: 50 } }).http()
    expect(await visit(url, 'anna')).toBe('Visit 1')
    vi.setSystemTime(Date.now() + 80)
    expect(await visit(url, 'anna')).toBe('Visit 1')
  })

  it('is shared on request', async () => {
    const { url } = await serve({ sessions: { modern: 'shared' } }).http()
    expect([await visit(url), await visit(url)]).toEqual(['Visit 1', 'Visit 2'])
  })

  it('requires principals if it lasts for one principal', () => {
    expect(() => serve({ sessions: { modern: 'principal' } })).toThrow(
      "sessions.modern: 'principal' needs an authorize hook that identifies the sender.",
    )
  })
})

describe('a client that vanishes', () => {
  it('cancels its calls', async () => {
    const { url } = await serve().http()
    const session = await openSession(url)
    seen.contexts.length = 0
    const cut = new AbortController()
    const call = fetch(url, {
      method: 'POST',
      headers: { ...HEADERS, 'mcp-session-id': session },
      body: rpc('tools/call', { name: 'wait_for_rain' }, 7),
      signal: cut.signal,
    })
    await call
    await expect.poll(() => seen.contexts.length).toBe(1)
    expect(seen.contexts[0]?.signal?.aborted).toBe(false)
    cut.abort()
    await expect.poll(() => seen.contexts[0]?.signal?.aborted).toBe(true)
    expect((await callVisits(url, session)).status).toBe(200)
  })

  it.each(legacyKinds)('does not stop the others as a %s', async (kind) => {
    const { url } = await serve().http()
    const [one, other] = [await overHttp(url, kind), await overHttp(url, kind)]
    seen.contexts.length = 0
    const lost = one.call('wait_for_rain').catch(() => undefined)
    const kept = other.call('water_garden', { beds: 2, pauseMs: 200 })
    await expect.poll(() => seen.contexts.length).toBe(1)
    await one.close()
    await expect.poll(() => seen.contexts[0]?.signal?.aborted).toBe(true)
    expect(await kept).toMatchObject({ content: [{ text: '2 beds.' }] })
    await lost
    await other.close()
  })
})

describe('peers', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:DB8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, 'unknown'],
  ])('%s is counted as %s', (address, peer) => {
    expect(toPeer(address)).toBe(peer)
  })

  it('are forgotten when they hold nothing', () => {
    const counter = new PeerCounter({ max: 3, perPeer: 2 })
    const releases = [counter.take('a'), counter.take('a')]
    expect(counter.check('a')).toBe('peer')
    expect(counter.check('b')).toBeUndefined()
    releases.push(counter.take('b'))
    expect(counter.check('c')).toBe('total')
    for (const release of [...releases, ...releases]) release()
    expect(counter.total).toBe(0)
    expect(counter.peers.size).toBe(0)
  })
})

/** `fetch` does not allow a false Host header. */
function statusWithHost(url: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', headers: { ...HEADERS, host } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject)
    request.end(initialize())
  })
}
