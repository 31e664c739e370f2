import { createCatalog, type CallContext } from 'foldout/catalog'
import { serveMcp } from 'foldout/mcp'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { GatewayDefinition, ServerDefinition } from '../config/definition.ts'
import { readDefinition } from '../config/read-config.ts'
import { createSite, getText, serveTools, type Site } from './gateway.fixtures.ts'

let site: Site
const closing: (() => Promise<unknown>)[] = []
beforeEach(() => {
  site = createSite()
})
afterEach(async () => {
  await site.close()
  await Promise.all(closing.splice(0).map((close) => close()))
})

const TOOLS = [{ name: 'echo', description: 'Repeats.' }]
const ENV = { ADA_TOKEN: 'token-of-ada-0123', TEAM_TOKEN: 'token-of-team-4567' }
const define = (more: Partial<GatewayDefinition> = {}): GatewayDefinition => ({
  mcpServers: { a: serveTools(TOOLS) },
  http: { tokens: ['${TEAM_TOKEN}', { user: 'ada', token: '${ADA_TOKEN}' }] },
  expose: 'all',
  foldResults: 0,
  ...more,
})
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('R56 tokens over HTTP', () => {
  it('are required, and the refusal names the metadata document', async () => {
    const gateway = await site.create(define({ presets: { work: {} } }), { env: { ...process.env, ...ENV } })
    const { url } = await gateway.http()
    const { origin } = new URL(url)
    const post = (headers: Readonly<Record<string, string>>, path = '/mcp') =>
      fetch(`${origin}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      })
    const none = await post({}, '/mcp/work')
    expect(none.status).toBe(401)
    expect(none.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp/work"`,
    )
    const wrong = ['x', `${ENV.ADA_TOKEN}x`, ENV.ADA_TOKEN.slice(0, -1), '', '${ADA_TOKEN}', 'ä'.repeat(9)]
    for (const token of wrong.filter((one) => !one.includes('ä'))) {
      const refused = await post(bearer(token))
      expect(refused.status).toBe(401)
      expect(await refused.text()).not.toContain(ENV.ADA_TOKEN)
    }
    expect((await post(bearer('x'))).headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", /)
    expect((await post({ authorization: ENV.ADA_TOKEN })).status).toBe(401)
    const metadata = await fetch(`${origin}/.well-known/oauth-protected-resource/mcp/work`)
    expect(await metadata.json()).toEqual({
      resource: `${origin}/mcp/work`,
      bearer_methods_supported: ['header'],
      resource_name: 'Foldout',
    })
    expect((await fetch(`${origin}/.well-known/oauth-protected-resource/mcp/none`)).status).toBe(404)
    for (const token of [ENV.ADA_TOKEN, ENV.TEAM_TOKEN])
      for (const mode of ['legacy', 'auto'] as const) {
        const client = await site.connect(url, { mode, headers: bearer(token) })
        expect((await client.listTools()).tools).toHaveLength(1)
      }
  })

  it('identify a client for rules', async () => {
    const rules = [{ action: 'allow', user: 'ada' }, { action: 'deny' }] as const
    const gateway = await site.create(define({ rules }), { env: { ...process.env, ...ENV } })
    const { url } = await gateway.http()
    for (const mode of ['legacy', 'auto'] as const) {
      const [ada, team] = [
        await site.connect(url, { mode, headers: bearer(ENV.ADA_TOKEN) }),
        await site.connect(url, { mode, name: 'ada', headers: bearer(ENV.TEAM_TOKEN) }),
      ]
      expect((await ada.listTools()).tools.map(({ name }) => name)).toEqual(['echo'])
      expect((await team.listTools()).tools).toEqual([])
      expect((await team.callTool({ name: 'echo', arguments: {} })).isError).toBe(true)
    }
  })

  it('are checked before the gateway listens, and without them other machines are kept out', async () => {
    const without = await site.create(define({ http: {} }))
    for (const host of ['0.0.0.0', '::', '192.168.0.1'])
      await expect(without.http({ host, allowedHosts: ['*'] })).rejects.toThrow(/^Other machines can reach/)
    const missing = await site.create(define(), { env: { PATH: process.env['PATH'] } })
    await expect(missing.http()).rejects.toThrow(
      `The token of 'TEAM_TOKEN' in "http.tokens" is missing. The environment variable TEAM_TOKEN is not set.`,
    )
    const short = await site.create(define({ http: { tokens: ['short'] } }))
    await expect(short.http()).rejects.toThrow(/must have at least 8 characters/)
    const twice = await site.create(define({ http: { tokens: ['one-and-the-same', 'one-and-the-same'] } }))
    await expect(twice.http()).rejects.toThrow(/have the same token/)
  })

  it('can be replaced while the gateway runs, but not removed', async () => {
    const gateway = await site.create(define({ http: { tokens: ['the-first-token'] } }))
    const { url } = await gateway.http()
    await gateway.update(define({ http: { tokens: ['the-second-token'] } }))
    await expect(site.connect(url, { headers: bearer('the-first-token') })).rejects.toThrow(/token|401|unauthorized/i)
    await site.connect(url, { headers: bearer('the-second-token') })
    await expect(gateway.update(define({ http: {} }))).rejects.toThrow(/cannot be removed/)
    await expect(site.connect(url)).rejects.toThrow(/token|401|unauthorized/i)
  })
})

describe('R56 forwarded headers', () => {
  /** A server that reports the headers it gets. */
  async function serveHeaders(): Promise<string> {
    const call = async (_args: unknown, { peer }: CallContext) => ({
      content: [
        {
          type: 'text',
          text: ['x-user-token', 'x-own', 'authorization', 'x-other'].map((name) => peer?.headers?.get(name)).join(' '),
        },
      ],
    })
    const served = serveMcp(createCatalog([{ name: 'whoami', description: 'Says who.', call }]), {
      name: 'who',
      version: '1',
    })
    const { url } = await served.http()
    closing.push(() => served.close())
    return url
  }

  it.each(['legacy', 'auto'] as const)('reach the server of each user in the era %s, and no other', async (mode) => {
    const server: ServerDefinition = {
      url: await serveHeaders(),
      headers: { 'X-Own': 'own', 'X-User-Token': 'nobody' },
      forwardHeaders: ['X-User-Token'],
    }
    const gateway = await site.create(define({ mcpServers: { who: server } }), { env: { ...process.env, ...ENV } })
    const { url } = await gateway.http()
    const as = (token?: string) =>
      site.connect(url, {
        mode,
        headers: {
          ...bearer(ENV.ADA_TOKEN),
          'x-other': 'x',
          ...(token === undefined ? {} : { 'x-user-token': token }),
        },
      })
    const clients = await Promise.all([as('ann'), as('bob'), as('${ADA_TOKEN}'), as()])
    for (let i = 0; i < 3; i++) {
      const texts = await Promise.all(clients.map((client) => client.callTool({ name: 'whoami', arguments: {} })))
      expect(texts.map(getText)).toEqual(['ann own  ', 'bob own  ', '${ADA_TOKEN} own  ', 'nobody own  '])
    }
  })

  it.each([
    [{ url: 'http://a', forwardHeaders: ['Authorization'] }],
    [{ url: 'http://a', forwardHeaders: ['mcp-session-id'] }],
    [{ url: 'http://a', forwardHeaders: ['a b'] }],
    [{ command: 'a', forwardHeaders: ['x-user-token'] }],
  ])('are refused in %j', (server) => {
    const { invalid } = readDefinition({ mcpServers: { server } }, { file: 'f', folder: '/' })
    expect(invalid[0]?.reason).toMatch(/^Its forwardHeaders/)
  })
})

describe('R56 limits of a tool', () => {
  const tools = [
    { name: 'big', description: 'Is large.', does: 'big' },
    { name: 'hang', description: 'Waits.', does: 'hang' },
    { name: 'echo', description: 'Repeats.' },
  ]
  it('bound its result, its time and its concurrent calls', async () => {
    const more: ServerDefinition = {
      maxResultBytes: 5_000,
      tools: {
        big: { maxResultBytes: 1_000 },
        hang: { timeoutSeconds: 0.05, maxConcurrent: 1 },
        echo: { maxConcurrent: 2 },
      },
    }
    const gateway = await site.create(define({ mcpServers: { a: serveTools(tools, more) }, http: {} }))
    const catalog = await gateway.getCatalog()
    expect((await catalog.call('big', { bytes: 900 })).isError).toBeUndefined()
    expect(getText(await catalog.call('big', { bytes: 1_000 }))).toMatch(
      /^The tool 'big' has run, but its result has 10\d\d bytes, and the configuration allows 1000\./,
    )
    expect(getText(await catalog.call('echo', { x: 'y'.repeat(6_000) }))).toMatch(/the configuration allows 5000/)
    const hung = await Promise.all([catalog.call('hang', {}), catalog.call('hang', {})])
    for (const result of hung)
      expect(getText(result)).toBe(
        "The tool 'hang' did not answer within its limit of 0.05 seconds. It is not known whether it has run.",
      )
    const many = await Promise.all(Array.from({ length: 50 }, () => catalog.call('echo', {})))
    expect(many.filter(({ isError }) => isError)).toEqual([])
  })
})
