export type HeaderValues = Readonly<Record<string, string>>

/** A request over HTTP, on whichever server it came in. */
export interface HttpRequest {
  readonly method: string
  /** Where it came from, if that is known. */
  readonly address: string | undefined
  /** Gets a header by its name in lower case. */
  getHeader(name: string): string | undefined
  /** Reads the body; undefined if it has more bytes. */
  readBody(maxBytes: number): Promise<string | undefined>
  /** Creates the request as the Fetch API has it. Its body may have been read. */
  toRequest(): Request
}

/** Where a request over HTTP is answered: at once, or with a stream. */
export interface HttpReply {
  /** Whether the answer is complete, or nobody waits for it. */
  readonly isClosed: boolean
  /** Sends a whole answer. */
  end(status: number, headers: HeaderValues, body?: string): void
  /** Begins an answer that comes in parts. */
  stream(headers: HeaderValues): HttpStream
  /** Calls back once, when the answer is complete or its client has gone. */
  onClose(listener: () => void): void
}

export interface HttpStream {
  /** How much the client has yet to read. */
  readonly unreadBytes: number
  write(text: string): void
  end(): void
  /** Ends it without what is unread. */
  destroy(): void
}
