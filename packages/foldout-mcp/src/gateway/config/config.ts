/** A server that this process starts and speaks to over its standard input and output. */
export interface StdioServer {
  readonly kind: 'stdio'
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** Beside the few variables that every server gets, such as PATH. */
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

/** An entry of the configuration that no server can be made of. */
export interface InvalidServer {
  readonly name: string
  readonly reason: string
}

export interface Config {
  readonly servers: readonly ServerConfig[]
  readonly invalid: readonly InvalidServer[]
}

/** Something that the user has to change: the command, or a file. The message says what. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
