import { isPlainObject } from '../../core/json/json.ts'
import { CLIENT_CAPABILITIES } from '../keys.ts'

/**
 * A client of the server.
 *
 * @example
 * serveMcp(catalog, { name: 'home', version: '1.0.0', everything: ({ name }) => name === 'inspector' })
 */
export interface ServedClient {
  /** Groups the events of a catalog by client. */
  readonly id: string
  /** Tells its connection from all others, also those to other machines; absent if its requests have none. */
  readonly connection?: string
  /** Whether other clients have the same id, because their requests have no connection. */
  readonly isShared?: boolean
  /** `legacy` clients have a session and a list that may grow. From MCP 2026-07-28 on they are `modern` and have neither. */
  readonly era: 'legacy' | 'modern'
  /** As it calls itself. */
  readonly name: string | undefined
  readonly version: string | undefined
  /** As `authorize` says; nothing without it. */
  readonly principal: string | undefined
  /** What it says that it can do. */
  readonly capabilities?: Readonly<Record<string, unknown>>
}

export type ClientIdentity = Pick<ServedClient, 'name' | 'version' | 'capabilities'>

const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'

export const NOBODY: ClientIdentity = Object.freeze({ name: undefined, version: undefined })

/** What a client says of itself: in `initialize`, and from 2026-07-28 on in every request. */
export function readIdentity(message: unknown): ClientIdentity | undefined {
  if (!isPlainObject(message) || !isPlainObject(message['params'])) return undefined
  const { params } = message
  const meta = isPlainObject(params['_meta']) ? params['_meta'] : {}
  const isInitialize = message['method'] === 'initialize'
  const info = isInitialize ? params['clientInfo'] : meta[CLIENT_INFO]
  const capabilities = isInitialize ? params['capabilities'] : meta[CLIENT_CAPABILITIES]
  if (!isPlainObject(info) && !isPlainObject(capabilities)) return undefined
  const { name, version } = isPlainObject(info) ? info : {}
  return {
    name: readText(name),
    version: readText(version),
    ...(isPlainObject(capabilities) ? { capabilities } : {}),
  }
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
