import { expect } from 'vitest'

export const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

export const rpc = (method: string, params: object = {}, id: number | undefined = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, params })

export const initialize = (protocolVersion = '2025-11-25'): string =>
  rpc('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } })

const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** The body and the headers of a request of 2026-07-28. */
export function modernRequest(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const named = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}
  return {
    body: rpc(method, { ...params, _meta: MODERN_META }),
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named },
  }
}

export interface Sent {
  readonly status: number
  readonly text: string
  readonly session: string | null
  readonly headers: Headers
  readonly error: { readonly code: number; readonly message: string } | undefined
}

export async function send(url: string, init: RequestInit): Promise<Sent> {
  const response = await fetch(url, init)
  const text = await response.text()
  let error: Sent['error']
  try {
    error = (JSON.parse(text) as { error?: Sent['error'] }).error
  } catch {
    error = undefined
  }
  const { status, headers } = response
  return { status, text, headers, session: headers.get('mcp-session-id'), error }
}

export const post = (url: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<Sent> =>
  send(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body })

/** Begins a session and leaves it in the middle of its handshake. */
export async function beginSession(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { session } = await post(url, initialize(), headers)
  expect(session).toMatch(/^[0-9a-f-]{36}$/)
  return session ?? ''
}

/** Begins a session and ends its handshake. */
export async function openSession(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const session = await beginSession(url, headers)
  const told = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  expect((await post(url, told, { ...headers, 'mcp-session-id': session })).status).toBe(202)
  return session
}

export const callVisits = (
  url: string,
  session: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Sent> => post(url, rpc('tools/call', { name: 'count_visits' }), { ...headers, 'mcp-session-id': session })

/** Holds the stream of a session open until it is closed. */
export async function openStream(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; close(): void }> {
  const stop = new AbortController()
  const init = { headers: { accept: 'text/event-stream', ...headers }, signal: stop.signal }
  const { status } = await fetch(url, init)
  return { status, close: () => stop.abort() }
}
