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
  getServerCapabilities(): object | undefined
  request(request: SdkRequest, resultSchema: object, options: SdkRequestOptions): Promise<unknown>
  /** Clients that support MCP 2026-07-28 report here which era the server speaks. */
  getProtocolEra?(): string | undefined
  listen?(filter: object, options: { readonly signal?: AbortSignal }): Promise<SdkSubscription>
  /** The subscription that the client opened itself. */
  readonly autoOpenedSubscription?: SdkSubscription | undefined
}

interface SdkRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

interface SdkRequestOptions {
  readonly signal?: AbortSignal
  readonly timeout?: number
  readonly maxTotalTimeout?: number
  readonly resetTimeoutOnProgress?: boolean
  readonly onprogress?: (progress: { readonly progress: number }) => void
  readonly allowInputRequired?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

export interface SdkSubscription {
  readonly honoredFilter: object
  readonly closed: Promise<string>
  close(): Promise<void>
}

/** Accepts any result. Clients before MCP 2026-07-28 use it like a zod schema. */
export const ANY_RESULT: StandardSchemaV1 & { safeParse(data: unknown): { success: true; data: unknown } } = {
  '~standard': { version: 1, vendor: 'foldout', validate: (value) => ({ value }) },
  safeParse: (data) => ({ success: true, data }),
}
