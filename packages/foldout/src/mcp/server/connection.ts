import type { JSONRPCMessage, JSONRPCRequest, Transport } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../core/json/json.ts'
import { readIdentity, NOBODY, type ClientIdentity } from './client.ts'
import { DirectCalls, isPlainCall } from './direct-calls.ts'
import { readWatched } from './features.ts'
import { MAX_MESSAGE_BYTES } from '../limits.ts'
import type { ServeMcpOptions } from './options.ts'
import { loadServerSdk, loadStdioSdk } from './sdk.ts'
import { createMcpServer } from './requests.ts'
import { Stops } from './stops.ts'
import type { ClientView, ClientViews } from './views.ts'

/**
 * One client, served over its own transport.
 *
 * @example
 * const { closed } = await served.stdio()
 * await closed
 */
export interface McpConnection {
  /** Resolves when the client has disconnected or was closed. */
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
  const reporting = reportOnce(options.onError)
  let identity: ClientIdentity = NOBODY
  let view: ClientView | undefined
  let calls: DirectCalls | undefined
  const listening = new Listening(() => view)
  const { wire, closed, started } = watchTransport(transport, (message) => {
    if (calls && isPlainCall(message)) {
      void answerCall(calls, message, transport, options)
      return true
    }
    identity = readIdentity(message) ?? identity
    listening.hear(message)
    return calls?.cancel(message) ?? false
  })
  void closed.then(() => listening.stopAll())
  void closed.then(() => calls?.stopAll())
  // Made for stdio, it serves any transport that has one client.
  const handle = serveStdio(
    ({ era }) => {
      view = era === 'legacy' ? views.legacy(identity) : views.connection(identity)
      const served = { ...options, ...reporting }
      const { server } = createMcpServer({ sdk, options: served, view }, { isLasting: true, maxResultBytes })
      if (era === 'legacy') calls = new DirectCalls(server, new Stops(options.reuseSignals === true))
      return server
    },
    { transport: wire, ...(reporting.onError ? { onerror: reporting.onError } : {}) },
  )
  await started
  return { closed, close: () => handle.close() }
}

/** The SDK tells both the connection and the server of an error. */
function reportOnce(onError: ServeMcpOptions['onError']): Pick<ServeMcpOptions, 'onError'> {
  if (!onError) return {}
  const known = new WeakSet<Error>()
  return {
    onError(error) {
      if (known.has(error)) return
      known.add(error)
      onError(error)
    },
  }
}

async function answerCall(
  calls: DirectCalls,
  request: JSONRPCRequest,
  transport: Transport,
  { onError }: ServeMcpOptions,
): Promise<void> {
  try {
    const answer = await calls.answer(request)
    if (answer) await transport.send(answer)
  } catch (error) {
    onError?.(new Error(`An answer was not sent: ${(error as Error).message}`, { cause: error }))
  }
}

/** The resources that a modern client listens for. The SDK keeps these requests to itself. */
class Listening {
  readonly #getView: () => ClientView | undefined
  readonly #stops = new Map<unknown, () => void>()

  constructor(getView: () => ClientView | undefined) {
    this.#getView = getView
  }

  hear(message: unknown): void {
    const uris = readWatched(message)
    // Once the SDK has seen it, which may be what makes the view.
    if (uris) queueMicrotask(() => this.#start((message as { readonly id?: unknown }).id, uris))
    if (isPlainObject(message) && message['method'] === 'notifications/cancelled' && isPlainObject(message['params']))
      this.#stop(message['params']['requestId'])
  }

  stopAll(): void {
    for (const id of Array.from(this.#stops.keys())) this.#stop(id)
  }

  #start(id: unknown, uris: readonly string[]): void {
    const { client, features } = this.#getView() ?? {}
    const stop = client && features?.listen?.(uris, { client })
    if (!stop) return
    this.#stop(id)
    this.#stops.set(id, stop)
  }

  #stop(id: unknown): void {
    const stop = this.#stops.get(id)
    this.#stops.delete(id)
    stop?.()
  }
}

interface WatchedTransport {
  readonly wire: Transport
  readonly started: Promise<void>
  readonly closed: Promise<void>
}

/** A transport that shows each message before it is handled, unless it is taken, and says when it is open and when it has closed. */
function watchTransport(inner: Transport, take: (message: JSONRPCMessage) => boolean): WatchedTransport {
  let onStart: (start: Promise<void>) => void
  let onClose: () => void
  const started = new Promise<void>((resolve) => (onStart = resolve))
  const closed = new Promise<void>((resolve) => (onClose = resolve))
  const wire: Transport = {
    start() {
      Object.assign(inner, {
        onmessage(message, extra) {
          if (!take(message)) wire.onmessage?.(message, extra)
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
