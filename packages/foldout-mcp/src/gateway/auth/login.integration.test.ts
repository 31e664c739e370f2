import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { ServerDefinition } from '../config/definition.ts'
import { useDesk, whoAmI } from './desk.fixtures.ts'
import { browse, startAuthorizationServer } from './oauth.fixtures.ts'

const DOCUMENT = 'https://foldout.example/client.json'
const metadata = {
  client_id: DOCUMENT,
  client_name: 'Foldout',
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  application_type: 'native',
} as const

const desk = useDesk({
  clients: [
    {
      client_id: 'registered',
      client_secret: 'the-secret-of-the-client',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      application_type: 'native',
    },
  ],
})

/** The redirect URL, with parameters that the authorization server would not send. */
function forge(page: string, change: Readonly<Record<string, string>>): URL {
  const { searchParams } = new URL(page)
  const target = new URL(searchParams.get('redirect_uri') ?? '')
  const given = { code: 'stolen', state: searchParams.get('state') ?? '', iss: desk.issuer.issuer, ...change }
  for (const [name, value] of Object.entries(given)) if (value !== '') target.searchParams.set(name, value)
  return target
}

async function get(url: URL, host = url.host): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const request = httpRequest(url, { headers: { host } }).end()
  const [response] = (await once(request, 'response')) as [AsyncIterable<Buffer> & { readonly statusCode?: number }]
  let text = ''
  for await (const chunk of response) text += chunk.toString()
  return { status: response.statusCode, text }
}

function logIn(visit: (page: string) => unknown, ...more: readonly string[]) {
  return desk.run(['login', 'tickets', '--config', desk.define(), '--no-browser', ...more], visit)
}

function isSaved(): boolean {
  const folder = join(desk.folder, 'data/foldout/sign-ins')
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.json'))
}

describe('the redirect of a login (R55)', () => {
  it('is ignored if it has another state, comes from another site, or comes twice', async () => {
    const answers: (number | undefined)[] = []
    let last = ''
    const { code } = await logIn(async (page) => {
      answers.push((await get(forge(page, { state: 'guessed' }))).status)
      answers.push((await get(forge(page, { state: '' }))).status)
      answers.push((await get(forge(page, {}), 'attacker.example')).status)
      const elsewhere = forge(page, {})
      elsewhere.pathname = '/'
      answers.push((await get(elsewhere)).status)
      const { url, text } = await browse(page)
      last = url
      expect(text).toContain('You are signed in to tickets. You can close this window.')
    })
    expect(answers).toEqual([400, 400, 404, 404])
    expect(code).toBe(0)
    expect(desk.issuer.grants).toEqual(['authorization_code'])
    // Nothing listens there any longer.
    await expect(get(new URL(last))).rejects.toThrow('ECONNREFUSED')
  })

  it('is refused if it is from another authorization server', async () => {
    for (const iss of ['https://attacker.example', '']) {
      const { code, stderr } = await logIn((page) => get(forge(page, { iss })))
      expect(code).toBe(1)
      expect(stderr).toContain('was stopped: the response came from a different authorization server.')
    }
    const told = await logIn((page) =>
      get(forge(page, { code: '', error: 'Call_this_number', iss: 'https://attacker.example' })),
    )
    expect(told.stderr).toContain('was stopped: the response came from a different authorization server.')
    expect(told.stderr).not.toContain('Call_this_number')
    expect(desk.issuer.grants).toEqual([])
    expect(isSaved()).toBe(false)
  })

  it('is refused with a code that was issued to someone else', async () => {
    let stolen = ''
    await logIn(async (page) => {
      // The attacker signs in with their own challenge, and gives the code to the victim.
      const own = new URL(page)
      own.searchParams.set('code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')
      const { url } = await browse(own.href, 'mallory')
      stolen = url
    })
    expect(stolen).toContain('code=')
    expect(desk.issuer.grants).toContain('refused')
    expect(isSaved()).toBe(false)
  })

  it('says that access was denied', async () => {
    const { code, stderr } = await logIn((page) => get(forge(page, { code: '', error: 'access_denied' })))
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('The sign-in was refused: access_denied.') as string,
    })
  })

  it('times out', async () => {
    const { code, stderr } = await logIn(() => undefined, '--timeout', '0.2')
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('Nobody signed in within 0.2 seconds.') as string,
    })
  })
})

describe('a login (R55)', () => {
  it('opens the browser', async () => {
    const [browser, opened] = [join(desk.folder, 'browser'), join(desk.folder, 'opened')]
    writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`, { mode: 0o755 })
    Object.assign(desk.env, { BROWSER: browser, PATH: process.env['PATH'] })
    const { code } = await desk.run(['login', 'tickets', '--config', desk.define()], async () => {
      await vi.waitFor(() => expect(existsSync(opened)).toBe(true))
      await browse(readFileSync(opened, 'utf8'))
    })
    expect(code).toBe(0)
  })

  it('works for a registered client with a fixed port', async () => {
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as AddressInfo
    const auth = { clientId: 'registered', clientSecret: 'the-secret-of-the-client', redirectPort: port }
    const busy = await desk.logIn(desk.define({ auth }))
    expect({ code: busy.code, stderr: busy.stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Cannot listen for the browser: listen EADDRINUSE') as string,
    })
    await new Promise((resolve) => probe.close(resolve))
    let page = ''
    const args = ['login', 'tickets', '--config', desk.define({ auth }), '--no-browser']
    const { code } = await desk.run(args, (address) => browse((page = address)))
    expect({ code, target: new URL(page).searchParams.get('redirect_uri') }).toEqual({
      code: 0,
      target: `http://127.0.0.1:${port}/callback`,
    })
    expect(await whoAmI(await desk.create({ auth }))).toBe('anna')
    expect(desk.issuer.requests.filter(({ url }) => url?.startsWith('/reg'))).toEqual([])
  })

  it('does not register if the authorization server accepts a client metadata document', async () => {
    const features = { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } }
    const fetchDocument = async () => Response.json(metadata)
    const second = desk.keep(await startAuthorizationServer({ features, configuration: { fetch: fetchDocument } }))
    desk.server.authorizationServer = second
    const auth = { clientMetadataUrl: DOCUMENT }
    const { code, stderr } = await desk.logIn(desk.define({ auth }))
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(await whoAmI(await desk.create({ auth }))).toBe('anna')
    expect(second.requests.filter(({ url }) => url?.startsWith('/reg'))).toEqual([])
  })

  it('is refused at unsafe URLs', async () => {
    const remote = desk.define({ url: 'http://192.0.2.1/mcp' })
    const { code, stderr } = await desk.run(['login', 'tickets', '--config', remote])
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('https://') as string })
    const insecure = { issuer: 'http://192.0.2.1' } as unknown as typeof desk.issuer
    desk.server.authorizationServer = { ...desk.issuer, ...insecure }
    const named = await desk.logIn()
    expect(named).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('asks for a sign-in at http://192.0.2.1, which is not safe') as string,
    })
  })

  it('is refused if the metadata is about another server', async () => {
    desk.server.instead = (request, response) => {
      if (request.url?.startsWith('/.well-known') !== true) return response.writeHead(401).end()
      const about = { resource: 'https://bank.example/mcp', authorization_servers: [desk.issuer.issuer] }
      return response.setHeader('content-type', 'application/json').end(JSON.stringify(about))
    }
    const { code, stderr } = await desk.logIn()
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('does not match') as string })
    expect(isSaved()).toBe(false)
  })

  it('says what to do if it cannot register, or there is nowhere to sign in', async () => {
    const second = desk.keep(await startAuthorizationServer({ features: { registration: { enabled: false } } }))
    desk.server.authorizationServer = second
    const { code, stderr } = await desk.logIn()
    expect(code).toBe(1)
    expect(stderr).toContain('Register a client there yourself, and set auth.clientId.')
    desk.server.instead = (request, response) =>
      response.writeHead(request.url?.startsWith('/mcp') === true ? 401 : 404).end()
    const nowhere = await desk.logIn()
    expect(nowhere).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not say where to sign in') as string,
    })
  })

  it('notices that a server of the older transport requires it', async () => {
    desk.server.instead = (request, response) => {
      const status = request.method === 'POST' ? 405 : 401
      return response.writeHead(request.url?.startsWith('/mcp') === true ? status : 404).end()
    }
    expect(await desk.logIn()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not say where to sign in') as string,
    })
  })

  it('can come after the server was added', async () => {
    const config = join(desk.folder, 'new.json')
    const { code, stdout } = await desk.run(['add', 'tickets', '--url', desk.server.url, '--config', config])
    expect(code).toBe(0)
    expect(stdout).toContain('was added')
    expect(stdout).toContain('Run foldout login tickets.')
    expect((await desk.logIn(config)).code).toBe(0)
  })

  it('is not offered when a server that names no place for it is added', async () => {
    desk.server.instead = (request, response) =>
      response.writeHead(request.url?.startsWith('/mcp') === true ? 401 : 404).end()
    const config = join(desk.folder, 'new.json')
    const words = ['add', 'tickets', '--url', desk.server.url, '--config', config]
    const { code, stderr } = await desk.run(words)
    expect(code).toBe(1)
    expect(stderr).toContain('tickets does not work, so it was not added')
    expect(stderr).toContain('does not say where to sign in')
    expect((await desk.run([...words, '--no-try'])).code).toBe(0)
  })

  it.each([
    ['nobody', '{}', "The configuration has no server 'nobody'. Choose from: tickets."],
    ['tickets', '{"command": "server", "url": null}', 'is started by a command'],
    ['tickets', '{"headers": {"Authorization": "Bearer x"}}', 'has an Authorization header'],
    ['tickets', '{"url": "${NOT_SET}"}', 'The environment variable NOT_SET is not set.'],
    ['tickets', '{"auth": {"type": "client-credentials"}}', 'needs a clientId'],
  ])('of %s with %s says what is wrong', async (name, entry, message) => {
    const config = desk.define(JSON.parse(entry) as Partial<ServerDefinition>)
    const { code, stdout, stderr } = await desk.run(['login', name, '--config', config, '--json'])
    const text = expect.stringContaining(message) as string
    expect({ code, stderr }).toEqual({ code: 2, stderr: text })
    expect(JSON.parse(stdout)).toEqual({ error: { message: text, exitCode: 2 } })
  })
})
