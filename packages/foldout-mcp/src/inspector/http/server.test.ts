import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_REQUEST_BYTES } from './limits.ts'
import { listenForPages, type PageServer } from './server.ts'

let server: PageServer
beforeAll(async () => {
  server = await listenForPages({
    getHello: () => ({
      type: 'hello',
      version: '1',
      title: '</script><script>alert(1)</script>',
      views: ['prompt'],
      topics: [],
    }),
    act: async (name, body) => {
      if (name === 'fail') throw new Error('It failed.')
      return { name, body }
    },
    download: async () => undefined,
  })
})
afterAll(() => server.close())

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** Sends exactly these headers, which `fetch` would not. */
function ask(path: string, headers: Readonly<Record<string, string>> = {}, body?: string): Promise<Answer> {
  const { port, pathname } = new URL(server.url)
  const url = path.startsWith('/') ? path : `${pathname}${path}`
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: url, method: body === undefined ? 'GET' : 'POST', headers },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

const JSON_TYPE = { 'content-type': 'application/json' }

describe('R60 the server of the inspector', () => {
  it('listens on loopback, behind a token that cannot be guessed', async () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/)
    expect((await ask('')).text).toContain('<div id="page">')
    const { pathname } = new URL(server.url)
    const wrong = `${pathname.slice(0, -2)}${pathname.at(-2) === 'A' ? 'B' : 'A'}/`
    for (const path of ['/', '/index.html', '/api/events', wrong, `${wrong}api/events`, pathname.slice(0, -1)])
      expect({ path, status: (await ask(path)).status }).toEqual({ path, status: 404 })
  })

  it('has a policy that keeps text from becoming markup and blocks requests to other hosts', async () => {
    const { headers } = await ask('')
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' })
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })

  it.each([
    ['another name for this machine', { host: 'evil.example:80' }, 421],
    ['a name that only begins like this machine', { host: '127.0.0.1.evil.example' }, 421],
    ['another page', { origin: 'http://evil.example' }, 403],
    ['a page from a file', { origin: 'null' }, 403],
    ['a link on another page', { 'sec-fetch-site': 'cross-site' }, 403],
  ] as const)('refuses %s', async (_, headers, status) => {
    expect((await ask('', headers)).status).toBe(status)
    expect((await ask('api/prompt/render', { ...JSON_TYPE, ...headers }, '{}')).status).toBe(status)
  })

  it('refuses two names for this machine', async () => {
    const { port, host, pathname } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`)
    let answer = ''
    for await (const chunk of socket) answer += String(chunk)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('accepts JSON from its own page', async () => {
    const { host, origin } = new URL(server.url)
    const own = { ...JSON_TYPE, host, origin, 'sec-fetch-site': 'same-origin' }
    expect(JSON.parse((await ask('api/prompt/render', own, '{"a":1}')).text)).toEqual({
      name: 'prompt/render',
      body: { a: 1 },
    })
    expect((await ask('api/prompt/render', { 'content-type': 'text/plain' }, '{}')).status).toBe(415)
    expect((await ask('api/prompt/render', JSON_TYPE, '{')).status).toBe(400)
    expect(await ask('api/fail', JSON_TYPE, '{}')).toMatchObject({ status: 400, text: '{"error":"It failed."}' })
    expect((await ask('api/x', JSON_TYPE, `"${'x'.repeat(MAX_REQUEST_BYTES)}"`)).status).toBe(413)
  })

  it.each(['../package.json', '..%2f..%2fpackage.json', 'page.js/../../main.js', '__proto__', 'constructor', '%00'])(
    'serves only the files of the page: %s',
    async (path) => {
      expect((await ask(path)).status).toBe(404)
    },
  )

  it('sends each page the state when it connects, then the changes', async () => {
    const { body } = await fetch(`${server.url}api/events`)
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    const first = await reader?.read()
    expect(first?.value).toMatch(/^data: \{"type":"hello".*\}\n\n$/)
    server.tell({ type: 'changed', topic: 'prompt' })
    expect((await reader?.read())?.value).toBe('data: {"type":"changed","topic":"prompt"}\n\n')
    await reader?.cancel()
  })
})
