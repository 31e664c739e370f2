/** A server that this process starts and talks to over standard input and output. */
export interface StdioServer {
  readonly kind: 'stdio'
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** Variables in addition to the few that every server gets, such as PATH. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
}

/** A server that is reached over HTTP. */
export interface HttpServer {
  readonly kind: 'http' | 'sse'
  readonly name: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

export type ServerConfig = StdioServer | HttpServer

/** An entry of the configuration that is invalid. */
export interface InvalidServer {
  readonly name: string
  readonly reason: string
}

export interface Config {
  readonly servers: readonly ServerConfig[]
  readonly invalid: readonly InvalidServer[]
}

/** A mistake in the command or in a file. The message says what the user has to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
