import type { FetchLike } from 'foldout/mcp'
import { HIDDEN } from '../../shared/secret-text.ts'
import type { FilledHttpServer } from '../config/fill-server.ts'
import { describeNetworkFailure } from '../../shared/describe-network.ts'
import { createSecrets } from '../policy/secrets/secrets.ts'
import { createRedactor } from '../policy/secrets/redact.ts'
import { AUTH_REQUEST_TIMEOUT_MS, MAX_AUTH_RESPONSE_BYTES } from './limits.ts'

/**
 * Sends the requests of a sign-in. The server names the URLs, so they are checked: only TLS, or this machine for a local
 * server. The configured headers go only to the server's own origin, responses are limited in time and size, and errors do
 * not repeat the secrets in a request.
 */
export function createAuthFetch({ url, headers }: FilledHttpServer, signal?: AbortSignal): FetchLike {
  return async (target, init = {}) => {
    const address = new URL(target)
    const isOwn = address.origin === url.origin
    if (!isOwn && !isSafe(address, url))
      throw new Error(`The server asks for a sign-in at ${address.origin}, which is not safe to use.`)
    const timeout = AbortSignal.timeout(AUTH_REQUEST_TIMEOUT_MS)
    const own = new Headers(isOwn ? { ...headers } : {})
    new Headers(init.headers).forEach((value, name) => own.set(name, value))
    const response = await fetch(address, {
      ...init,
      headers: own,
      // The SDK follows redirects, within the origin.
      redirect: 'manual',
      signal: AbortSignal.any([timeout, ...[signal ?? [], init.signal ?? []].flat()]),
    })
    const body = await readBody(response)
    const text = response.ok ? body : hideSent(body, init)
    const isEmpty = [204, 205, 304].includes(response.status)
    return new Response(isEmpty ? null : text, { status: response.status, headers: keepHeaders(response) })
  }
}

/** Whether a token may be sent to a URL: nobody in between can read it. */
export function isSafe(address: URL, server = address): boolean {
  if (address.protocol === 'https:') return true
  return address.protocol === 'http:' && isLoopback(address) && isLoopback(server)
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost') || /^127(?:\.\d+){3}$|^\[::1\]$/.test(hostname)
}

async function readBody({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > MAX_AUTH_RESPONSE_BYTES) throw new Error('A response during the sign-in is too long.')
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}

/** Headers that no longer apply, because the body is already decoded. */
function keepHeaders({ headers }: Response): Headers {
  const kept = new Headers(headers)
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) kept.delete(name)
  return kept
}

const SECRET_FIELDS = [
  'client_secret',
  'refresh_token',
  'code',
  'code_verifier',
  'client_assertion',
  'token',
  'client_id',
] as const

/** Removes the contents of the request from an error text, because errors are shown. */
function hideSent(text: string, { body, headers }: RequestInit): string {
  const form = body instanceof URLSearchParams ? body : new URLSearchParams()
  const sent = SECRET_FIELDS.map((field) => form.get(field) ?? '')
  const basic = /^Basic (.+)$/.exec(new Headers(headers).get('authorization') ?? '')?.[1]
  if (basic !== undefined)
    sent.push(basic, ...Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent))
  return sent
    .filter((secret) => secret.length > 3)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
}

const LONGEST_REASON = 300
const { redactText } = createRedactor(createSecrets())

/** Says in one sentence, without secrets, why a request failed. */
export function describeAuthFailure(error: unknown): string {
  const seen = new Set([error])
  for (const each of seen) if (each instanceof Error && each.cause !== undefined) seen.add(each.cause)
  const last = [...seen].findLast((each): each is Error => each instanceof Error && each.message !== '')
  const { value } = redactText(describeNetworkFailure([...seen]) ?? last?.message ?? String(error))
  const text = value.slice(0, LONGEST_REASON).trim()
  if (/[.!?]$/.test(text)) return text
  return `${text}.`
}
