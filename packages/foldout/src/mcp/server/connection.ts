import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server'
import { identityIn, NOBODY, type ClientIdentity } from './client.ts'
import type { ServeMcpOptions } from './options.ts'
import { loadServerSdk, loadStdioSdk } from './sdk.ts'
import { createMcpServer } from './requests.ts'
import type { ClientViews } from './views.ts'

/** One client, served over a transport of its own. */
export interface McpConnection {
  /** When it has gone, or was closed. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/** Serves whoever is at the other end of a transport, in the era that its first message is of. */
export async function connectClient(
  transport: Transport,
  views: ClientViews,
  options: ServeMcpOptions,
): Promise<McpConnection> {
  const [sdk, { serveStdio }] = await Promise.all([loadServerSdk(), loadStdioSdk()])
  let identity: ClientIdentity = NOBODY
  const { wire, closed, started } = watchedTransport(transport, (message) => {
    identity = identityIn(message) ?? identity
  })
  // Made for stdio, it serves any transport that has one client.
  const handle = serveStdio(
    ({ era }) => createMcpServer({ sdk, options, view: views[era](identity) }, { isLasting: true }),
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

/** A transport that shows each message before whoever reads it gets it, and says when it is open and when it has closed. */
function watchedTransport(inner: Transport, onMessage: (message: JSONRPCMessage) => void): WatchedTransport {
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
