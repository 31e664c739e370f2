import type { JsonObject, Message } from './messages.ts'

/**
 * Carries whole messages to and from one other program. It knows bytes and limits, and neither methods nor versions of
 * the protocol.
 *
 * @example
 * ```ts
 * const deaf: McpTransport = { start: async () => {}, send: async () => {}, close: async () => {} }
 * ```
 */
export interface McpTransport {
  /**
   * Whether each request has a stream of its own, so that ending the stream cancels the request, and a stream that ends
   * without the answer is noticed.
   */
  readonly hasRequestStreams?: boolean
  /** Begins to receive. Called once. Rejects if the other side cannot be reached. */
  start(receiver: McpReceiver): Promise<void>
  /** Rejects if the message cannot be sent. */
  send(message: JsonObject, options?: SendOptions): Promise<void>
  close(): Promise<void>
  /** Listens for messages outside of answers. Only for transports on which that takes a request of its own. */
  listen?(headers: Readonly<Record<string, string>>): void
}

/**
 * Takes what a transport receives.
 *
 * @example
 * ```ts
 * const receiver: McpReceiver = { receive: (message) => console.log(message), close: () => console.log('closed') }
 * ```
 */
export interface McpReceiver {
  /** Called with each message. It may be any JSON. */
  receive(message: unknown): void
  /** Called once when the connection has ended, by whichever side. */
  close(): void
}

/**
 * How a message is sent. Transports leave out what does not apply to them.
 *
 * @example
 * ```ts
 * const options: SendOptions = { headers: { 'mcp-method': 'tools/call' } }
 * ```
 */
export interface SendOptions {
  /** Sent with the message over HTTP. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the message begins a session, which the transport may have to remember. */
  readonly isHandshake?: boolean
  /** The request of the other side that the message belongs to. */
  readonly relatedTo?: string | number
  /** Of a request: aborted when the answer is no longer wanted. */
  readonly signal?: AbortSignal
  /** Of a request: called when its stream has ended without the answer. */
  readonly onStreamEnd?: (reason?: string) => void
}

/** Sends a message. Rejects if it cannot be sent. */
export type Send = (message: Message, options?: SendOptions) => Promise<void>
