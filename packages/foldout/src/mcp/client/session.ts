import type { CallPeer } from '../../catalog/tool.ts'
import { deferPattern } from '../../core/defer-pattern.ts'
import { isObject } from 'foldout-shared/values'
import type { Era } from '../protocol/eras.ts'

type JsonObject = Readonly<Record<string, unknown>>

/**
 * A connection to an MCP server. It passes on everything that the server sends, including what no version of the protocol
 * knows.
 *
 * @example
 * ```ts
 * const showName = (session: McpSession): void => console.log(session.server.info['name'])
 * ```
 */
export interface McpSession {
  /** `legacy` before MCP 2026-07-28, `modern` since then. */
  readonly era: Era
  readonly server: McpServerDescription
  readonly isConnected: boolean
  /** Resolves when the connection has ended, by whichever side. */
  readonly closed: Promise<void>
  /** Answers the questions of a modern server. Undefined if nobody does. */
  readonly ask?: CallPeer['ask']
  /**
   * Sends a request, and resolves with the server's result as it is.
   *
   * @throws Error with the `code` and `data` of the server's answer, or with a `code` that says why there is none.
   */
  request(method: string, params?: JsonObject, options?: McpRequestOptions): Promise<JsonObject>
  notify(method: string, params?: JsonObject): Promise<void>
  /** Subscribes at a modern server. A legacy server announces changes of its lists on its own. */
  listen(filter: JsonObject, options?: { readonly signal?: AbortSignal }): Promise<McpSubscription>
  /** Calls back with every notification of the server. Returns a function that stops that. */
  onNotification(listener: (method: string, params: JsonObject) => void): () => void
  close(): Promise<void>
}

/**
 * What a server says about itself when it is connected.
 *
 * @example
 * ```ts
 * const hasTools = ({ capabilities }: McpServerDescription): boolean => 'tools' in capabilities
 * ```
 */
export interface McpServerDescription {
  /** Its name and version, and whatever else it says. */
  readonly info: JsonObject
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
  /** The version of the protocol that both sides speak. */
  readonly protocolVersion: string
}

/**
 * Options of a request to a server.
 *
 * @example
 * ```ts
 * const options: McpRequestOptions = { timeoutMs: 60_000, signal: AbortSignal.timeout(120_000) }
 * ```
 */
export interface McpRequestOptions {
  readonly signal?: AbortSignal | undefined
  /** How long the server may go without an answer or progress. Default: one minute. */
  readonly timeoutMs?: number
  /** How long the request may take, whatever progress there is. Default: no limit. */
  readonly maxMs?: number
  /** Called with progress. Only if it is defined, the server is asked for progress. */
  readonly onProgress?: ((progress: JsonObject) => void) | undefined
  /** Sent with a modern request over HTTP. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether a client of the SDK returns the questions of a modern server, instead of answering them itself. */
  readonly keepsQuestions?: boolean
}

/**
 * A subscription at a modern server.
 *
 * @example
 * ```ts
 * const isWatched = ({ honored }: McpSubscription): boolean => honored['toolsListChanged'] === true
 * ```
 */
export interface McpSubscription {
  /** The part of the filter that the server honors. */
  readonly honored: JsonObject
  /** Resolves when it has ended: by this side, or by the server or the network. */
  readonly closed: Promise<'local' | 'remote'>
  close(): Promise<void>
}

/** The maximum length of a name. A longer one is cut. */
const MAX_NAME = 200

/** Derives a source name from a server's name: `@acme/mcp-server-weather` and `Weather MCP Server` are `weather`. */
export function getServerName({ server }: McpSession): string {
  const declared = server.info['name']
  if (typeof declared !== 'string') return 'server'
  const name = declared.slice(0, MAX_NAME)
  const whole = words(name)
  const last = words(name.slice(name.lastIndexOf('/') + 1))
  return (plain(last) ?? plain(whole) ?? whole.join('-')) || 'server'
}

const getWords = deferPattern(String.raw`[\p{Letter}\p{Number}_.]+`, 'gu')

function words(name: string): readonly string[] {
  return name.toLowerCase().match(getWords()) ?? []
}

/** Removes the words that any server could have in its name. */
function plain(name: readonly string[]): string | undefined {
  const telling = name.filter((word) => !/^(?:mcp|servers?)$/.test(word))
  if (telling.length > 0) return telling.join('-')
  return undefined
}

/** Whether a server announces changes of one of its lists. */
export function announcesChanges({ server }: McpSession, list: 'tools' | 'resources' | 'prompts'): boolean {
  const capability = server.capabilities[list]
  return isObject(capability) && Boolean(capability['listChanged'])
}
