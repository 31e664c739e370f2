import { deferPattern } from '../../core/defer-pattern.ts'
import type { StandardSchemaV1 } from '../../core/schema/schema.ts'

/**
 * The part of a connected client of the official MCP SDK that `toolsFromMcp` uses: `@modelcontextprotocol/client`, or
 * `@modelcontextprotocol/sdk` before it.
 *
 * @example
 * const client: McpClient = new Client({ name: 'app', version: '1.0.0' })
 */
export interface McpClient {
  /** Undefined while it is not connected. */
  readonly transport?: object | undefined
  getServerVersion(): { readonly name: string } | undefined
  getServerCapabilities(): ServerCapabilities | undefined
  request(request: McpRequest, resultSchema: object, options: McpRequestOptions): Promise<unknown>
  callTool(params: McpRequest['params'], options: object | undefined): Promise<unknown>
  /** Clients that support MCP 2026-07-28 report here which era the server speaks. */
  getProtocolEra?(): string | undefined
  listen?(
    filter: { readonly toolsListChanged: true },
    options: { readonly signal?: AbortSignal },
  ): Promise<Subscription>
  /** The subscription that the client opened itself. */
  readonly autoOpenedSubscription?: Subscription | undefined
}

interface ServerCapabilities {
  readonly tools?: { readonly listChanged?: boolean | undefined } | undefined
}

interface McpRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

/**
 * Options of a request.
 *
 * @example
 * const options: McpRequestOptions = { timeout: 60_000, signal: AbortSignal.timeout(120_000) }
 */
export interface McpRequestOptions {
  readonly signal?: AbortSignal
  readonly timeout?: number
  readonly resetTimeoutOnProgress?: boolean
  readonly onprogress?: (progress: { readonly progress: number }) => void
  /** Whether to return the questions of a modern server instead of calling the client's handlers. */
  readonly allowInputRequired?: boolean
}

export interface Subscription {
  readonly honoredFilter: { readonly toolsListChanged?: boolean | undefined }
  readonly closed: Promise<string>
}

/** Accepts any result. Clients before MCP 2026-07-28 use it like a zod schema. */
export const ANY_RESULT: StandardSchemaV1 & { safeParse(data: unknown): { success: true; data: unknown } } = {
  '~standard': { version: 1, vendor: 'foldout', validate: (value) => ({ value }) },
  safeParse: (data) => ({ success: true, data }),
}

/** Whether the server speaks MCP 2026-07-28 or later: without sessions, and with subscriptions. */
export function isModern(client: McpClient): boolean {
  return client.getProtocolEra?.() === 'modern'
}

/** The maximum length of a name. A longer one is cut. */
const MAX_NAME = 200

/** Derives a source name from a server's name: `@acme/mcp-server-weather` and `Weather MCP Server` are `weather`. */
export function getServerName(client: McpClient): string {
  const declared = client.getServerVersion()?.name
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
  return telling.length > 0 ? telling.join('-') : undefined
}
