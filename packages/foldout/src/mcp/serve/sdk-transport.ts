import type { ClientTransport } from './connection.ts'

/**
 * A transport of an official SDK, for one client. Its messages and options have types of their own in each SDK.
 *
 * @example
 * ```ts
 * const nobody: SdkTransport = { start: async () => {}, send: async () => {}, close: async () => {} }
 * const { closed } = await served.connect(nobody)
 * ```
 */
export interface SdkTransport {
  onmessage?: ((message: never, extra?: never) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  start(): Promise<void>
  send(message: never, options?: never): Promise<void>
  close(): Promise<void>
  setProtocolVersion?: ((version: string) => void) | undefined
}

/** Lets a transport of an SDK carry the messages of a client. */
export function adaptTransport(transport: SdkTransport, onError: (error: Error) => void): ClientTransport {
  return {
    start(receiver) {
      Object.assign(transport, {
        onmessage: (message: unknown) => receiver.receive(message),
        onerror: onError,
        onclose: () => receiver.close(),
      })
      return transport.start()
    },
    send(message, { relatedTo } = {}) {
      const options = relatedTo === undefined ? {} : { relatedRequestId: relatedTo }
      return transport.send(message as never, options as never)
    },
    close: () => transport.close(),
    setProtocolVersion: (version) => transport.setProtocolVersion?.(version),
  }
}
