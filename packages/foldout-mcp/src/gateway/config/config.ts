import type { ExposureName, PresetDefinition, ServerToolOverride } from './definition.ts'

/** What servers of every kind have in common. */
interface CommonServer {
  readonly name: string
  readonly description: string | undefined
  readonly isRequired: boolean
  readonly start: 'lazy' | 'eager'
  readonly isIsolated: boolean
  /** Infinite if the server is never stopped. */
  readonly idleMs: number
  readonly timeoutMs: number
  readonly maxConcurrent: number
  readonly overrides: ReadonlyMap<string, ServerToolOverride>
}

/** A server that this process starts and talks to over standard input and output. */
export interface StdioServer extends CommonServer {
  readonly kind: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  /** Variables in addition to the few that every server gets, such as PATH. */
  readonly env: Readonly<Record<string, string>>
  readonly envFile: string | undefined
  readonly cwd: string | undefined
}

/** A server that is reached over HTTP. */
export interface HttpServer extends CommonServer {
  readonly kind: 'http' | 'sse'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** A server with its texts as they are written, before variables are filled in. */
export type ServerConfig = StdioServer | HttpServer

/** An entry of the configuration that is invalid. */
export interface InvalidServer {
  readonly name: string
  readonly reason: string
}

/**
 * A configuration that was read: every server with its settings, and the entries that are invalid.
 *
 * @example
 * const config: GatewayConfig = { servers: [], invalid: [], expose: 'auto', presets: new Map(), instructions: undefined }
 */
export interface GatewayConfig {
  readonly servers: readonly ServerConfig[]
  readonly invalid: readonly InvalidServer[]
  readonly expose: ExposureName
  readonly presets: ReadonlyMap<string, PresetDefinition>
  readonly instructions: string | undefined
}

/**
 * A mistake in the command or in a file. The message says what the user has to change.
 *
 * @example
 * const explain = (error: unknown): string => (error instanceof UsageError ? error.message : 'That was not expected.')
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
