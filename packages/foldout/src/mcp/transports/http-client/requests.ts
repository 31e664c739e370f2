import { dropBody } from './body.ts'
import { HttpError } from './http-error.ts'

/**
 * Sends a request over HTTP, like the global `fetch`.
 *
 * @example
 * ```ts
 * const send: FetchLike = (url, init) => fetch(url, { ...init, keepalive: true })
 * ```
 */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>

/**
 * Authorizes the requests to a server.
 *
 * @example
 * ```ts
 * const authorization: McpAuthorization = { token: async () => process.env['TOKEN'] }
 * ```
 */
export interface McpAuthorization {
  /** The token to send; undefined to send none. What it throws fails the request. */
  token(): Promise<string | undefined>
  /** Called when the server has refused a request with 401. If it returns, the request is sent once more. */
  onUnauthorized?(refusal: { readonly response: Response }): Promise<void>
}

/**
 * Options of a transport over HTTP.
 *
 * @example
 * ```ts
 * const options: HttpTransportOptions = { headers: { 'x-api-key': 'secret' } }
 * ```
 */
export interface HttpTransportOptions {
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: FetchLike
  readonly authorization?: McpAuthorization | undefined
  /** Called when the connection is of no use any more. It may be called more than once. */
  readonly onLost?: (loss: McpLoss) => void
  /** Called with failures that concern no request, such as an event that is no message. */
  readonly onError?: (error: Error) => void
}

/**
 * Why a connection over HTTP is of no use any more.
 *
 * @example
 * ```ts
 * const describe = ({ reason, isDown }: McpLoss): string => (isDown ? `down: ${reason}` : 'forgotten')
 * ```
 */
export interface McpLoss {
  readonly reason: string
  /** Whether the server cannot be reached at all. Otherwise, it has only forgotten the session. */
  readonly isDown: boolean
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

const MAX_REDIRECTS = 5

/** Sends requests with their credentials. Follows redirects within the server's origin only. */
export class Requests {
  readonly #options: HttpTransportOptions

  constructor(options: HttpTransportOptions) {
    this.#options = options
  }

  async send(url: URL, request: HttpRequest): Promise<Response> {
    const { authorization } = this.#options
    const response = await this.#sendOnce(url, request)
    if (response.status !== 401 || !authorization?.onUnauthorized) return response
    await authorization.onUnauthorized({ response })
    await dropBody(response)
    return this.#sendOnce(url, request)
  }

  async #sendOnce(url: URL, { headers, ...request }: HttpRequest): Promise<Response> {
    const { fetch: send = fetch, authorization } = this.#options
    const all = new Headers(this.#options.headers)
    for (const [name, value] of Object.entries(headers)) all.set(name, value)
    const token = await authorization?.token()
    if (token !== undefined) all.set('authorization', `Bearer ${token}`)
    let target = url
    for (let followed = 0; ; followed++) {
      const response = await send(target, { ...request, headers: all, redirect: 'manual' })
      const next = findRedirect(target, response)
      if (!next) return response
      if (followed === MAX_REDIRECTS || !mayFollow(request.method, response.status, target, next)) {
        await dropBody(response)
        throw new HttpError(response.status, '', describeRedirect(next, target))
      }
      await dropBody(response)
      target = next
    }
  }
}

function findRedirect(url: URL, { status, headers }: Response): URL | undefined {
  const location = headers.get('location')
  if (status < 300 || status >= 400 || status === 304 || location === null) return undefined
  if (URL.canParse(location, url.href)) return new URL(location, url)
  return undefined
}

/** A request must not become another one, nor go to another server, which would get its credentials. */
function mayFollow(method: string, status: number, from: URL, to: URL): boolean {
  const keepsMethod = method === 'GET' || status === 307 || status === 308
  const keepsUser = (to.username === '' && to.password === '') || to.username === from.username
  return keepsMethod && keepsUser && to.origin === from.origin
}

function describeRedirect(to: URL, from: URL): string {
  const shown = new URL(to)
  shown.username = shown.password = shown.search = shown.hash = ''
  if (shown.protocol !== 'http:' || from.protocol !== 'https:')
    return `It redirects to ${shown.href}, which was not followed. Use that URL if it is the intended server.`
  shown.protocol = 'https:'
  return `It redirects from https to plain http, which was not followed. Try ${shown.href}.`
}
