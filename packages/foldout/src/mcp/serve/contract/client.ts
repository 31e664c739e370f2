import { readText } from 'foldout-shared/values'
import { isObject } from 'foldout-shared/values'
import { CLIENT_CAPABILITIES, CLIENT_INFO } from '../../keys.ts'
import type { JsonObject } from '../../protocol/messages.ts'

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

export const NOBODY: ClientIdentity = Object.freeze({ name: undefined, version: undefined })

/** Reads what a legacy client says about itself in `initialize`. */
export function readInitialize({ clientInfo, capabilities }: JsonObject): ClientIdentity {
  return toIdentity(clientInfo, capabilities)
}

/** Reads what a modern client says about itself in every request. */
export function readEnvelope({ [CLIENT_INFO]: info, [CLIENT_CAPABILITIES]: capabilities }: JsonObject): ClientIdentity {
  return toIdentity(info, capabilities)
}

function toIdentity(info: unknown, capabilities: unknown): ClientIdentity {
  const { name, version } = isObject(info) ? info : {}
  return {
    name: readText(name),
    version: readText(version),
    ...(isObject(capabilities) && { capabilities }),
  }
}
