import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { useDesk, whoAmI } from './desk.fixtures.ts'
import { startAuthorizationServer, startGuardedServer } from './oauth.fixtures.ts'

const BIN = join(import.meta.dirname, '../../../bin/foldout.js')
const SECRET = 'a-secret-of-the-machine-that-nobody-may-see'
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const program = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }

const desk = useDesk({
  clients: [
    { ...program, client_id: 'machine', client_secret: SECRET },
    {
      ...program,
      client_id: 'signer',
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
    },
  ],
})

/** Answers one message of a client that listens to a stream. */
async function answerMessage(
  request: IncomingMessage,
  send: (text: string) => void,
  response: ServerResponse,
): Promise<void> {
  const { id, method, params } = (await json(request)) as JsonRpc
  response.writeHead(202).end()
  if (id === undefined) return
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'old', version: '1' },
    },
    'tools/list': { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] },
  }
  const answer = results[method]
    ? { result: results[method] }
    : { error: { code: -32_601, message: 'No such method.' } }
  send(`data: ${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n\n`)
}

interface JsonRpc {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly protocolVersion?: string }
}

describe('a sign-in by a browser (R55)', () => {
  it('finds the authorization server, registers, and lasts in a private file', async () => {
    const { code, stdout } = await desk.logIn()
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      server: 'tickets',
      status: 'signed-in',
      issuer: desk.issuer.issuer,
      renews: true,
      keptIn: 'file',
    })
    expect(statSync(desk.getFile()).mode & 0o777).toBe(0o600)
    const { issuer, resource, issuedAt, expiresAt } = desk.readStored()
    expect({ issuer, resource, seconds: (expiresAt - issuedAt) / 1_000 }).toEqual({
      issuer: desk.issuer.issuer,
      resource: desk.server.url,
      seconds: 3_600,
    })
    expect(await whoAmI(await desk.create())).toBe('anna')
    expect(desk.issuer.grants).toEqual(['authorization_code'])
  })

  it("is requested in the server's state, by calls and by doctor", async () => {
    const gateway = await desk.create()
    expect(gateway.servers).toMatchObject([
      { state: { type: 'failed', reason: 'It asks you to sign in. Run foldout login tickets.' } },
    ])
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL((await gateway.http()).url)))
    expect((await client.callTool({ name: 'whoami' })).content).toContainEqual({
      type: 'text',
      text: 'The tool may be on a server that is unavailable. Needs a sign-in: tickets (ask the user to run "foldout login tickets").',
    })
    await client.close()
    const { code, stdout } = await desk.run(['doctor', '--config', desk.define()])
    expect(code).toBe(1)
    expect(stdout).toContain('Run foldout login tickets.')
    expect(stdout).not.toContain('headers')
  })

  it('takes effect in a running gateway, and so does signing out', async () => {
    const gateway = await desk.create()
    await desk.logIn()
    await vi.waitFor(async () => expect(await whoAmI(gateway)).toBe('anna'))
    const { stdout } = await desk.run(['logout', 'tickets', '--config', desk.define(), '--json'])
    expect(JSON.parse(stdout)).toEqual({ server: 'tickets', status: 'signed-out', isRevoked: true })
    await vi.waitFor(async () => expect(await whoAmI(gateway)).toContain('Run foldout login tickets.'))
    expect(readdirSync(join(desk.folder, 'data/foldout/sign-ins'))).toEqual([])
  })

  it('belongs to a URL, not to a name', async () => {
    await desk.logIn()
    const other = desk.keep(await startGuardedServer(desk.issuer))
    const moved = await desk.create({ url: other.url })
    expect(moved.servers).toMatchObject([{ state: { type: 'failed' } }])
    expect(new Set(other.seen)).toEqual(new Set(['']))
    expect((await desk.create({ auth: { account: 'second' } })).servers).toMatchObject([{ state: { type: 'failed' } }])
    // A renamed or edited file does not send a token elsewhere.
    desk.changeStored({ resource: other.url })
    expect((await desk.create()).servers).toMatchObject([{ state: { type: 'failed' } }])
  })

  it('does not interfere with a server that needs another kind of token', async () => {
    desk.server.instead = (_, response) => response.writeHead(401).end()
    const [{ state } = { state: undefined }] = (await desk.create()).servers
    expect(state).toMatchObject({ reason: expect.stringContaining('Give it a token in "headers"') as string })
    const gateway = await desk.create({ headers: { authorization: 'Bearer wrong' } })
    expect(JSON.stringify(gateway.servers)).not.toContain('foldout login')
  })
})

describe('a token (R55)', () => {
  it('is renewed before it expires, while nobody uses it', async () => {
    desk.issuer.lifetime = 3
    await desk.logIn()
    const gateway = await desk.create()
    const first = desk.readStored().secrets.tokens
    await vi.waitFor(() => expect(desk.issuer.grants.length).toBeGreaterThan(2))
    expect(new Set(desk.issuer.grants.slice(1))).toEqual(new Set(['refresh_token']))
    // Each refresh token is used once.
    expect(desk.readStored().secrets.tokens?.refresh_token).not.toBe(first?.refresh_token)
    expect(await whoAmI(gateway)).toBe('anna')
    expect(desk.events.filter(({ type }) => type === 'problem')).toEqual([])
  })

  it('is renewed before it is sent if it expired while nothing ran', async () => {
    await desk.logIn()
    const { access_token: old } = desk.readStored().secrets.tokens ?? {}
    desk.changeStored({ issuedAt: 0, expiresAt: 1 })
    expect(await whoAmI(await desk.create())).toBe('anna')
    expect(desk.issuer.grants).toEqual(['authorization_code', 'refresh_token'])
    expect(desk.server.seen).not.toContain(old)
  })

  it('is renewed if the server no longer accepts it', async () => {
    await desk.logIn()
    const gateway = await desk.create()
    desk.changeStored({ issuedAt: 0 })
    const { access_token: token = '' } = desk.readStored().secrets.tokens ?? {}
    await (await desk.issuer.provider.AccessToken.find(token))?.destroy()
    await vi.waitFor(async () => expect(await whoAmI(gateway)).toBe('anna'))
    expect(desk.issuer.grants).toEqual(['authorization_code', 'refresh_token'])
  })

  it('is renewed once by two processes', async () => {
    await desk.logIn()
    desk.changeStored({ issuedAt: 0, expiresAt: 1 })
    const config = desk.define()
    const call = async (): Promise<string> => {
      const env = { ...process.env, ...desk.env, XDG_CACHE_HOME: join(desk.folder, 'cache') }
      const child = spawn(process.execPath, [BIN, 'call', 'whoami', '--config', config], { env })
      let text = ''
      child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
      child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
      await once(child, 'close')
      return text
    }
    expect(await Promise.all([call(), call()])).toEqual(['anna\n', 'anna\n'])
    expect(desk.issuer.grants).toEqual(['authorization_code', 'refresh_token'])
  })

  it('is renewed once by two gateways and many calls in one process', async () => {
    await desk.logIn()
    const [first, second] = [await desk.create(), await desk.create()]
    desk.changeStored({ issuedAt: 0, expiresAt: 1 })
    // Longer than a gateway trusts its copy.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600 })
    onTestFinished(() => void vi.useRealTimers())
    const calls = Array.from({ length: 20 }, (_, i) => whoAmI(i % 2 === 0 ? first : second))
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['anna']))
    expect(desk.issuer.grants).toEqual(['authorization_code', 'refresh_token'])
  })

  it('that was revoked requires a sign-in, now and after a restart', async () => {
    await desk.logIn()
    const { refresh_token: token = '' } = desk.readStored().secrets.tokens ?? {}
    await (await desk.issuer.provider.RefreshToken.find(token))?.destroy()
    desk.changeStored({ issuedAt: 0, expiresAt: 1 })
    const message = `The sign-in to 'tickets' is no longer valid: it was revoked or has expired at ${desk.issuer.issuer}. Run foldout login tickets.`
    expect((await desk.create()).servers).toMatchObject([{ state: { reason: message } }])
    expect((await desk.create()).servers).toMatchObject([{ state: { reason: message } }])
    expect(desk.readStored().secrets.tokens).toBeUndefined()
    // The refused token is not tried again.
    expect(desk.issuer.grants).toEqual(['authorization_code', 'refused'])
    await desk.logIn()
    expect(await whoAmI(await desk.create())).toBe('anna')
  })

  it('survives an authorization server that fails for a while', async () => {
    await desk.logIn()
    desk.issuer.failsWith = 503
    desk.changeStored({ issuedAt: 0, expiresAt: 1 })
    const gateway = await desk.create()
    expect(gateway.servers).toMatchObject([
      { state: { reason: expect.stringContaining("The sign-in to 'tickets' cannot be renewed now: ") as string } },
    ])
    desk.issuer.failsWith = undefined
    expect(await whoAmI(await desk.create())).toBe('anna')
  })

  it('is renewed even if the clock was set back since it was issued', async () => {
    await desk.logIn()
    const { access_token: token = '' } = desk.readStored().secrets.tokens ?? {}
    desk.changeStored({ issuedAt: Date.now() + 86_400_000, expiresAt: Date.now() + 90_000_000 })
    await (await desk.issuer.provider.AccessToken.find(token))?.destroy()
    expect(await whoAmI(await desk.create())).toBe('anna')
  })

  it('is also sent over the transport before streamable HTTP', async () => {
    await desk.logIn(desk.define({ type: 'sse' }))
    const { access_token: token } = desk.readStored().secrets.tokens ?? {}
    const tokens: (string | undefined)[] = []
    let stream: ServerResponse | undefined
    desk.server.instead = (request, response) => {
      tokens.push(request.headers.authorization)
      const isKnown = request.headers.authorization === `Bearer ${token}`
      if (!isKnown) response.writeHead(401).end()
      else if (request.method === 'POST') void answerMessage(request, (message) => stream?.write(message), response)
      else {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
        stream.write('event: endpoint\ndata: /messages\n\n')
      }
    }
    expect((await desk.create({ type: 'sse' })).servers).toMatchObject([{ state: { type: 'running' }, tools: 1 }])
    expect(tokens.length).toBeGreaterThan(3)
    expect(new Set(tokens)).toEqual(new Set([`Bearer ${token}`]))
  })

  it('with too few permissions says what is missing, and the next login requests it', async () => {
    await desk.logIn(desk.define({ auth: { scopes: 'read' } }))
    const gateway = await desk.create({ auth: { scopes: 'read' } })
    desk.server.scope = 'write'
    expect(await whoAmI(gateway)).toContain(
      'It asks for more permissions than your sign-in has (write). Run foldout login',
    )
    await desk.logIn(desk.define({ auth: { scopes: 'read' } }))
    await vi.waitFor(async () => expect(await whoAmI(gateway)).toBe('anna'))
  })

  it('goes only to the server', async () => {
    await desk.logIn()
    const seen: (string | undefined)[] = []
    const attacker = createServer((request, response) => {
      seen.push(request.headers.authorization)
      response.end('{}')
    })
    await once(attacker.listen(0, '127.0.0.1'), 'listening')
    desk.keep({ close: async () => void attacker.close() })
    const location = `http://127.0.0.1:${(attacker.address() as AddressInfo).port}/mcp`
    desk.server.instead = (_, response) => response.writeHead(307, { location }).end()
    expect((await desk.create()).servers).toMatchObject([{ state: { type: 'failed' } }])
    expect(seen.filter((token) => token !== undefined)).toEqual([])
  })
})

describe('an authorization server (R55)', () => {
  it('that the server names later gets nothing issued by the previous one', async () => {
    await desk.logIn()
    const second = desk.keep(await startAuthorizationServer())
    desk.server.authorizationServer = second
    desk.changeStored({ issuedAt: 0, expiresAt: 1 })
    const { servers } = await desk.create()
    expect(servers).toMatchObject([{ state: { type: 'failed' } }])
    expect(desk.issuer.grants).toEqual(['authorization_code', 'refresh_token'])
    expect(second.requests.filter(({ url }) => url?.startsWith('/.well-known') !== true)).toEqual([])
    // A person decides.
    const { code, stderr } = await desk.logIn()
    expect(code).toBe(0)
    expect(stderr).toContain(
      `Careful: you used to sign in at ${desk.issuer.issuer}, and are now asked to sign in at ${second.issuer}.`,
    )
    expect(await whoAmI(await desk.create())).toBe('anna')
  })

  it('does not get the headers of the server', async () => {
    await desk.logIn(desk.define({ headers: { 'x-key': 'only-for-the-server' } }))
    expect(desk.issuer.requests.length).toBeGreaterThan(3)
    expect(desk.issuer.requests.filter(({ headers }) => headers['x-key'] !== undefined)).toEqual([])
    expect(desk.server.requests.every(({ headers }) => headers['x-key'] === 'only-for-the-server')).toBe(true)
  })
})

describe('a program (R55)', () => {
  const secret = { type: 'client-credentials', clientId: 'machine', clientSecret: '${MACHINE_SECRET}' } as const

  it('signs in with its secret', async () => {
    desk.env['MACHINE_SECRET'] = SECRET
    const gateway = await desk.create({ auth: secret })
    expect(await whoAmI(gateway)).toBe('machine')
    expect(desk.issuer.grants).toEqual(['client_credentials'])
    // The token is shared with other and later processes; the secret is not written.
    expect(await whoAmI(await desk.create({ auth: secret }))).toBe('machine')
    expect(desk.issuer.grants).toEqual(['client_credentials'])
    expect(readFileSync(desk.getFile(), 'utf8')).not.toContain(SECRET)
    desk.changeStored({ issuedAt: 0, expiresAt: 1 })
    await vi.waitFor(async () => {
      expect(await whoAmI(gateway)).toBe('machine')
      expect(desk.issuer.grants).toEqual(['client_credentials', 'client_credentials'])
    })
  })

  it('signs in with its key', async () => {
    const file = join(desk.folder, 'key.pem')
    writeFileSync(file, PEM)
    const auth = { type: 'private-key-jwt', clientId: 'signer', privateKeyFile: file } as const
    expect(await whoAmI(await desk.create({ auth }))).toBe('signer')
    desk.env['KEY'] = PEM.replaceAll('\n', String.raw`\n`)
    const inLine = { type: 'private-key-jwt', clientId: 'signer', privateKey: '${KEY}', account: 'b' } as const
    expect(await whoAmI(await desk.create({ auth: inLine }))).toBe('signer')
  })

  it('is told what is wrong, without the secret', async () => {
    const auth = { ...secret, clientSecret: 'a-wrong-secret-that-must-not-show' }
    const { servers } = await desk.create({ auth })
    expect(servers).toMatchObject([
      {
        state: {
          reason: expect.stringMatching(/^The sign-in to 'tickets' failed at http.*client authentication/) as string,
        },
      },
    ])
    const { code, stderr } = await desk.run(['login', 'tickets', '--config', desk.define({ auth })])
    expect(code).toBe(1)
    expect(`${stderr}${JSON.stringify([servers, desk.events])}`).not.toContain('a-wrong-secret')
    const key = { type: 'private-key-jwt', clientId: 'signer', privateKey: 'not-a-key-at-all' } as const
    expect((await desk.create({ auth: key })).servers).toMatchObject([
      { state: { reason: 'Its auth.privateKey is not a private key in PEM.' } },
    ])
  })

  it('gives its secret to one authorization server only', async () => {
    desk.env['MACHINE_SECRET'] = SECRET
    const second = desk.keep(await startAuthorizationServer())
    const wrong = await desk.create({ auth: { ...secret, issuer: second.issuer } })
    expect(wrong.servers).toMatchObject([
      { state: { reason: expect.stringContaining('If that is right, change auth.issuer.') as string } },
    ])
    expect(desk.issuer.grants).toEqual([])
    await desk.create({ auth: secret })
    desk.server.authorizationServer = second
    desk.changeStored({ issuedAt: 0, expiresAt: 1 })
    await desk.create({ auth: secret })
    expect(second.requests.filter(({ url }) => url?.startsWith('/.well-known') !== true)).toEqual([])
  })

  it('can log in to test the sign-in, without a browser', async () => {
    desk.env['MACHINE_SECRET'] = SECRET
    const { code, stdout } = await desk.run(['login', 'tickets', '--config', desk.define({ auth: secret }), '--json'])
    expect({ code, report: JSON.parse(stdout) as unknown }).toMatchObject({ code: 0, report: { status: 'signed-in' } })
  })
})

describe('secrets (R55)', () => {
  it('do not appear in events, states, the cache or errors of the authorization server', async () => {
    await desk.logIn()
    const { access_token: access = '', refresh_token: refresh = '' } = desk.readStored().secrets.tokens ?? {}
    const gateway = await desk.create()
    await whoAmI(gateway)
    const echo = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () =>
        response
          .writeHead(400)
          .end(JSON.stringify({ error: 'server_error', error_description: decodeURIComponent(body) })),
      )
    })
    await once(echo.listen(0, '127.0.0.1'), 'listening')
    desk.keep({ close: async () => void echo.close() })
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const stored = readFileSync(desk.getFile(), 'utf8')
    const port = (echo.address() as AddressInfo).port
    writeFileSync(
      desk.getFile(),
      stored.replace(/"token_endpoint":"[^"]+"/, `"token_endpoint":"http://127.0.0.1:${port}/token"`),
    )
    desk.changeStored({ issuedAt: 0, expiresAt: 1 })
    const failed = await desk.create()
    await whoAmI(failed)
    const { stderr } = await desk.run(['doctor', '--config', desk.define()])
    const said = JSON.stringify([desk.events, failed.servers, stderr, warn.mock.calls])
    warn.mockRestore()
    expect(said).toContain('cannot be renewed now')
    for (const secret of [access, refresh]) expect(said).not.toContain(secret)
    const cache = join(desk.folder, 'cache')
    for (const file of readdirSync(cache)) {
      const text = readFileSync(join(cache, file), 'utf8')
      for (const secret of [access, refresh]) expect(text).not.toContain(secret)
    }
  })
})
