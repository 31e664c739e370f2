import type { GatewayServer } from '../../servers/server.ts'

/** A server's item, under the name that clients see. */
export interface Route {
  readonly server: GatewayServer
  /** The server's own name or URI for it. */
  readonly own: string
}

const SCHEME = 'foldout://'
/** Clients accept only pages with this URI scheme. */
const PAGE_SCHEME = 'ui://'
const FOREIGN_PAGE = `${PAGE_SCHEME}foldout/`

/**
 * A URI, or a URI template, with the name of its server. The server's own one stays as it is, so what a client inserts
 * into a template is still exactly what the server gets.
 */
export function toForeignUri(server: string, uri: string): string {
  const scheme = uri.startsWith(PAGE_SCHEME) ? FOREIGN_PAGE : SCHEME
  return `${scheme}${encodeURIComponent(server)}/${uri}`
}

export function readForeignUri(servers: readonly GatewayServer[], uri: string): Route | undefined {
  const scheme = [SCHEME, FOREIGN_PAGE].find((one) => uri.startsWith(one))
  if (scheme === undefined) return undefined
  const end = uri.indexOf('/', scheme.length)
  if (end === -1) return undefined
  const rest = uri.slice(end + 1)
  try {
    const name = decodeURIComponent(uri.slice(scheme.length, end))
    const server = servers.find((one) => one.name === name)
    // Every URI has a colon. Some clients escape it when they parse a URI and write it again.
    return server && { server, own: rest.includes(':') ? rest : decodeURIComponent(rest) }
  } catch {
    return undefined
  }
}

/** The fixed parts of a URI template, between which anything may occur. */
export function toParts(template: string): readonly string[] {
  return template.split(/\{[^{}]*\}/)
}

/** Whether some URI may match both templates, by what they begin and end with. */
export function mayOverlap(one: readonly string[], other: readonly string[]): boolean {
  const [begin = '', otherBegin = ''] = [one[0], other[0]]
  const [end = '', otherEnd = ''] = [one.at(-1), other.at(-1)]
  const isSameBegin = begin.startsWith(otherBegin) || otherBegin.startsWith(begin)
  return isSameBegin && (end.endsWith(otherEnd) || otherEnd.endsWith(end))
}

/**
 * The watched resources that an update of a server's resource concerns, with the URIs that clients get for it. A server may report
 * a part of a watched resource, such as a file of a folder.
 *
 * @param toSeen The URI that clients use for a resource that nobody watches.
 */
export function findUpdates(
  watched: ReadonlyMap<string, Route>,
  server: GatewayServer,
  updated: string,
  toSeen: (uri: string) => string,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [uri, { server: owner, own }] of watched) {
    if (owner.name !== server.name || !isWithin(updated, own)) continue
    // The parts of a resource that has the server's name added have it too.
    const isPlainPart = uri === own && updated !== own
    found.set(uri, isPlainPart ? toSeen(updated) : `${uri}${updated.slice(own.length)}`)
  }
  return found
}

/** Whether a URI is another one, or a part of it. */
function isWithin(uri: string, whole: string): boolean {
  return (
    uri.startsWith(whole) &&
    (uri.length === whole.length || whole.endsWith('/') || /[/?#]/.test(uri.charAt(whole.length)))
  )
}
