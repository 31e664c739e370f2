import type { IncomingMessage, ServerResponse } from 'node:http'
import { FoldoutError } from '../../../core/errors.ts'
import { INVALID_REQUEST } from '../../protocol/errors.ts'
import { HTTP_ERROR } from './refusal.ts'

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
/** Every address of the machine. None of them is a name under which clients reach it. */
const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '[::]'])

export interface GuardOptions {
  readonly allowedHosts?: readonly string[]
  readonly allowedOrigins?: readonly string[]
}

/** Returns whether a request may pass. Answers it otherwise. */
type Guard = (request: IncomingMessage, response: ServerResponse) => boolean

/** Rejects requests from web pages of other origins, and requests for a host name that is not this server's. */
export function createGuard(
  hostName: string,
  { allowedHosts, allowedOrigins }: GuardOptions,
  isAuthorized: boolean,
): Guard {
  const isLocal = LOOPBACK.includes(hostName) || /^127\.\d+\.\d+\.\d+$/.test(hostName)
  if (!isLocal && !isAuthorized && !allowedHosts)
    throw new FoldoutError(
      'mcp-open',
      `Other machines can reach ${hostName}, but nothing restricts who may use this server. Pass an authorize hook to serveMcp(), and the host names that clients use as allowedHosts to http().`,
    )
  const own = WILDCARDS.has(hostName) ? [] : [hostName]
  const hosts = allowedHosts ?? (own.length > 0 ? [...LOOPBACK, ...own] : ['*'])
  const origins = new Set(allowedOrigins ?? [...LOOPBACK, ...own, ...hosts])
  origins.delete('*')
  const names = new Set(hosts)

  return (request, response) => {
    const { host = '', origin } = request.headers
    if (!HOST.test(host) || hasSecondHost(request)) return refuseHost(response)
    const isNamed = names.has('*') || names.has(host.replace(PORT, '')) || names.has(readName(`http://${host}`) ?? '')
    if (!isNamed) return forbid(response, `Invalid Host: ${host}`)
    // Only web pages send it.
    if (origin === undefined || origin === '' || isAllowed(origin, origins)) return true
    return forbid(response, `Invalid Origin: ${origin}`)
  }
}

const PORT = /:\d{1,5}$/
/** A name or an address, and a port. Parsers of URLs would accept more, such as a path, and ignore it. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~-]*)(?::\d{1,5})?$/i

/** The host name of a URL, in the form in which names are compared. */
function readName(url: string): string | undefined {
  if (URL.canParse(url)) return new URL(url).hostname
  return undefined
}

/** Extensions of browsers have a scheme of their own, and in Firefox a name that differs on every machine. */
function isAllowed(origin: string, origins: ReadonlySet<string>): boolean {
  const name = readName(origin)
  if (name === undefined || name === '') return false
  const { protocol } = new URL(origin)
  const isExtension = protocol !== 'http:' && protocol !== 'https:'
  return origins.has(name) || (isExtension && origins.has(`${protocol}//*`))
}

/** Whether a request names two hosts. Node.js reads the first one, and what is in front of this server may read the other. */
function hasSecondHost({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}

function refuseHost(response: ServerResponse): false {
  const message = 'Bad Request: the Host header must name one host.'
  response.writeHead(400, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: INVALID_REQUEST, message }, id: null }))
  return false
}

function forbid(response: ServerResponse, message: string): false {
  response.writeHead(403, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: HTTP_ERROR, message }, id: null }))
  return false
}
