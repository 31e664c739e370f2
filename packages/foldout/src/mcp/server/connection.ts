import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { readIdentity, NOBODY, type ClientIdentity } from './client.ts'
import { MAX_MESSAGE_BYTES } from '../limits.ts'
import type { ServeMcpOptions } from './options.ts'
import { loadServerSdk, loadStdioSdk } from './sdk.ts'
import { createMcpServer } from './requests.ts'
import type { ClientViews } from './views.ts'

/**
 * One client, served over a transport of its own.
 *
 * @example
 * const { closed } = await served.stdio()
 * await closed
 */
export interface McpConnection {
  /** Resolves when the client has gone, or was closed. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/** Serves the client at the other end of a transport, in the era of its first message. */
export async function connectClient(
  transport: Transport,
  views: ClientViews,
  options: ServeMcpOptions,
): Promise<McpConnection> {
  const [sdk, { serveStdio }] = await Promise.all([loadServerSdk(), loadStdioSdk()])
  const maxResultBytes = options.maxResultBytes ?? MAX_MESSAGE_BYTES
  let identity: ClientIdentity = NOBODY
  const { wire, closed, started } = watchTransport(transport, (message) => {
    identity = readIdentity(message) ?? identity
  })
  // Made for stdio, it serves any transport that has one client.
  const handle = serveStdio(
    ({ era }) => {
      const view = era === 'legacy' ? views.legacy(identity) : views.connection(identity)
      return createMcpServer({ sdk, options, view }, { isLasting: true, maxResultBytes })
    },
    { transport: wire, ...(options.onError ? { onerror: options.onError } : {}) },
  )
  await started
  return { closed, close: () => handle.close() }
}

interface WatchedTransport {
  readonly wire: Transport
  readonly started: Promise<void>
  readonly closed: Promise<void>
}

/** A transport that shows each message before it is handled, and says when it is open and when it has closed. */
function watchTransport(inner: Transport, onMessage: (message: JSONRPCMessage) => void): WatchedTransport {
  let onStart: (start: Promise<void>) => void
  let onClose: () => void
  const started = new Promise<void>((resolve) => (onStart = resolve))
  const closed = new Promise<void>((resolve) => (onClose = resolve))
  const wire: Transport = {
    start() {
      Object.assign(inner, {
        onmessage(message, extra) {
          onMessage(message)
          wire.onmessage?.(message, extra)
        },
        onerror: (error) => wire.onerror?.(error),
        onclose() {
          onClose()
          wire.onclose?.()
        },
      } satisfies Partial<Transport>)
      const start = inner.start()
      onStart(start)
      return start
    },
    send: (message, sending) => inner.send(message, sending),
    close: () => inner.close(),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    get sessionId() {
      return inner.sessionId
    },
  }
  return { wire, started, closed }
}
