import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Allows only the page's own scripts and styles, so that no text can become markup, even by mistake. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  // No other page can keep a reference to this one, load its files, or show it in a frame.
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Prompts and conversations are not cached on disk, and a link does not leak the token.
  'cache-control': 'no-store',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

export interface Refusal {
  readonly status: number
  readonly message: string
}

/** Why a request is not answered: it is not addressed to this machine, or comes from another page. */
export function findRefusal(request: IncomingMessage): Refusal | undefined {
  const { host, origin } = request.headers
  if ((request.headersDistinct['host']?.length ?? 0) > 1)
    return { status: 400, message: 'The Host header must name one host.' }
  // A page of another site can have its name resolve to 127.0.0.1, but cannot choose what its browser sends as Host.
  if (host === undefined || !isLoopback(host))
    return { status: 421, message: 'The inspector answers only on 127.0.0.1 and localhost.' }
  if (origin !== undefined && origin !== `http://${host}`)
    return { status: 403, message: 'The inspector does not answer other pages.' }
  const site = request.headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return { status: 403, message: 'The inspector does not answer other pages.' }
  return undefined
}

function isLoopback(host: string): boolean {
  return /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/.test(host)
}

/** The part of a path below `/<token>/`; undefined if the token is wrong. Takes constant time. */
export function readPath(url: string, token: string): string | undefined {
  const { pathname } = new URL(url, 'http://inspector')
  const [, given = '', ...rest] = pathname.split('/')
  const expected = Buffer.from(token)
  const actual = Buffer.from(given)
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return undefined
  // Without the slash the page's own files would not be found beside it.
  if (rest.length === 0) return undefined
  return rest.join('/')
}
