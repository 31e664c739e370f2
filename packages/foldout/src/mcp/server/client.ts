import { isPlainObject } from '../../core/json/json.ts'

/**
 * A client of the server.
 *
 * @example
 * serveMcp(catalog, { name: 'home', version: '1.0.0', everything: ({ name }) => name === 'inspector' })
 */
export interface ServedClient {
  /** Groups the events of a catalog by client. */
  readonly id: string
  /** Whether other clients have the same id, because their requests have no connection. */
  readonly isShared?: boolean
  /** `legacy` clients have a session and a list that may grow. From MCP 2026-07-28 on they are `modern` and have neither. */
  readonly era: 'legacy' | 'modern'
  /** As it calls itself. */
  readonly name: string | undefined
  readonly version: string | undefined
  /** As `authorize` says; nothing without it. */
  readonly principal: string | undefined
}

export type ClientIdentity = Pick<ServedClient, 'name' | 'version'>

const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'

export const NOBODY: ClientIdentity = Object.freeze({ name: undefined, version: undefined })

/** What a client says of itself: in `initialize`, and from 2026-07-28 on in every request. */
export function readIdentity(message: unknown): ClientIdentity | undefined {
  if (!isPlainObject(message) || !isPlainObject(message['params'])) return undefined
  const { params } = message
  const meta = isPlainObject(params['_meta']) ? params['_meta'] : {}
  const info = message['method'] === 'initialize' ? params['clientInfo'] : meta[CLIENT_INFO]
  return isPlainObject(info) ? { name: readText(info['name']), version: readText(info['version']) } : undefined
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
