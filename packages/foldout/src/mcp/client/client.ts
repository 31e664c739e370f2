import type { StandardSchemaV1 } from '../../core/schema/schema.ts'

/** What a connected client of the official MCP SDK is needed for: `@modelcontextprotocol/client`, or `@modelcontextprotocol/sdk` before it. */
export interface McpClient {
  /** Nothing while it is not connected. */
  readonly transport?: object | undefined
  getServerVersion(): { readonly name: string } | undefined
  getServerCapabilities(): ServerCapabilities | undefined
  request(request: McpRequest, resultSchema: object, options: McpRequestOptions): Promise<unknown>
  callTool(params: McpRequest['params'], options: object | undefined): Promise<unknown>
  /** Clients that know of MCP 2026-07-28 say here which era the server speaks. */
  getProtocolEra?(): string | undefined
  listen?(
    filter: { readonly toolsListChanged: true },
    options: { readonly signal?: AbortSignal },
  ): Promise<Subscription>
  /** The one that the client opened itself. */
  readonly autoOpenedSubscription?: Subscription | undefined
}

interface ServerCapabilities {
  readonly tools?: { readonly listChanged?: boolean | undefined } | undefined
}

interface McpRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

export interface McpRequestOptions {
  readonly signal?: AbortSignal
  readonly timeout?: number
  readonly resetTimeoutOnProgress?: boolean
  readonly onprogress?: (progress: { readonly progress: number }) => void
}

export interface Subscription {
  readonly honoredFilter: { readonly toolsListChanged?: boolean | undefined }
  readonly closed: Promise<string>
}

/** Takes any result. Clients of before MCP 2026-07-28 ask it as they ask zod. */
export const ANY_RESULT: StandardSchemaV1 & { safeParse(data: unknown): { success: true; data: unknown } } = {
  '~standard': { version: 1, vendor: 'foldout', validate: (value) => ({ value }) },
  safeParse: (data) => ({ success: true, data }),
}

/** Whether the server speaks MCP 2026-07-28 or later: without sessions, and with subscriptions. */
export function isModern(client: McpClient): boolean {
  return client.getProtocolEra?.() === 'modern'
}

/** A name for what comes from a server: `@acme/mcp-server-weather` and `Weather MCP Server` are `weather`. */
export function serverName(client: McpClient): string {
  const declared = client.getServerVersion()?.name
  if (typeof declared !== 'string') return 'server'
  const whole = words(declared)
  const last = words(declared.slice(declared.lastIndexOf('/') + 1))
  return (plain(last) ?? plain(whole) ?? whole.join('-')) || 'server'
}

function words(name: string): readonly string[] {
  return name.toLowerCase().match(/[\p{Letter}\p{Number}_.]+/gu) ?? []
}

/** Without the words that say no more than what it is. */
function plain(name: readonly string[]): string | undefined {
  const telling = name.filter((word) => !/^(?:mcp|servers?)$/.test(word))
  return telling.length > 0 ? telling.join('-') : undefined
}
