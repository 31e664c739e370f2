import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The browser's return from the authorization server. */
export interface Redirect {
  readonly params: URLSearchParams
  /** Answers the browser. */
  finish(message: string): void
}

/** Waits for the browser on this machine. */
export interface RedirectListener {
  readonly url: string
  /** Waits for the first redirect with this state. All others are refused and change nothing. */
  readonly redirect: Promise<Redirect>
  close(): Promise<void>
}

const HOST = '127.0.0.1'
const PATH = '/callback'

/** Listens, on loopback only, for the redirect that ends a sign-in. */
export async function listenForRedirect(state: string, port = 0): Promise<RedirectListener> {
  let resolve: (redirect: Redirect) => void
  const redirect = new Promise<Redirect>((done) => (resolve = done))
  let isDone = false
  const server = createServer((request, response) => {
    const found = readRequest(request, getHost())
    if (found === undefined) return answer(response, 404, 'There is nothing here.')
    if (!isSame(found.get('state') ?? '', state))
      return answer(response, 400, 'This page does not belong to a sign-in in progress.')
    if (isDone) return answer(response, 400, 'This sign-in is already complete. You can close this window.')
    isDone = true
    resolve({ params: found, finish: (message) => answer(response, 200, message) })
  })
  const getHost = (): string => `${HOST}:${(server.address() as AddressInfo).port}`
  await new Promise<void>((done, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, done)
  })
  return {
    url: `http://${getHost()}${PATH}`,
    redirect,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeIdleConnections()
        // By then, a browser that is still connected has its response.
        setTimeout(() => server.closeAllConnections(), 200).unref()
      }),
  }
}

/** The parameters of a redirect; undefined for other requests and other hosts, because a site may resolve its name to this machine. */
function readRequest({ method, url = '', headers }: IncomingMessage, host: string): URLSearchParams | undefined {
  if (method !== 'GET' || headers.host !== host || !URL.canParse(url, `http://${host}`)) return undefined
  const { pathname, searchParams } = new URL(url, `http://${host}`)
  if (pathname === PATH) return searchParams
  return undefined
}

function isSame(text: string, secret: string): boolean {
  const [given, expected] = [Buffer.from(text), Buffer.from(secret)]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function answer(response: ServerResponse, status: number, message: string): void {
  const text = message.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    // The URL contains the code.
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Foldout</title><p>${text}</p></html>\n`)
}
