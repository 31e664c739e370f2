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
  /**
   * Identifies its connection among all others, including those to other machines; absent if its requests have none.
   */
  readonly connection?: string
  /** Whether other clients have the same id, because their requests have no connection. */
  readonly isShared?: boolean
  /**
   * `legacy` clients have a session and a list that may grow. Since MCP 2026-07-28, they are `modern` and have neither.
   */
  readonly era: 'legacy' | 'modern'
  /** The client's own name. */
  readonly name: string | undefined
  readonly version: string | undefined
  /** The identity returned by `authorize`; undefined without it. */
  readonly principal: string | undefined
  /** The capabilities that it declares. */
  readonly capabilities?: Readonly<Record<string, unknown>>
}

export type ClientIdentity = Pick<ServedClient, 'name' | 'version' | 'capabilities'>

const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'

export const NOBODY: ClientIdentity = Object.freeze({ name: undefined, version: undefined })

/** Reads what a client says about itself: in `initialize`, and since 2026-07-28 in every request. */
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
