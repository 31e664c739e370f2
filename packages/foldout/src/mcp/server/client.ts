import { isPlainObject } from '../../core/json/json.ts'

/** Who is served. */
export interface ServedClient {
  /** By which the events of a catalog belong together. */
  readonly id: string
  /** `legacy` clients have a session and a list that may grow. From MCP 2026-07-28 on they are `modern`: nothing is kept. */
  readonly era: 'legacy' | 'modern'
  /** As it calls itself. */
  readonly name: string | undefined
  readonly version: string | undefined
}

export type ClientIdentity = Pick<ServedClient, 'name' | 'version'>

const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo'

export const NOBODY: ClientIdentity = Object.freeze({ name: undefined, version: undefined })

/** What a client says of itself: in `initialize`, and from 2026-07-28 on in every request. */
export function identityIn(message: unknown): ClientIdentity | undefined {
  if (!isPlainObject(message) || !isPlainObject(message['params'])) return undefined
  const { params } = message
  const meta = isPlainObject(params['_meta']) ? params['_meta'] : {}
  const info = message['method'] === 'initialize' ? params['clientInfo'] : meta[CLIENT_INFO]
  return isPlainObject(info) ? { name: textIn(info['name']), version: textIn(info['version']) } : undefined
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
