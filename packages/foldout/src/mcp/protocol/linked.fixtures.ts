import type { McpReceiver, McpTransport } from './transport.ts'

/** Two transports that are linked like a pipe: what one sends reaches the other later, as JSON. */
export function createLinkedTransports(): readonly [McpTransport, McpTransport] {
  const receivers: (McpReceiver | undefined)[] = []
  let isClosed = false
  const create = (own: number, other: number): McpTransport => ({
    async start(receiver) {
      receivers[own] = receiver
    },
    async send(message) {
      if (isClosed) throw new Error('The pipe is closed.')
      const text = JSON.stringify(message)
      queueMicrotask(() => receivers[other]?.receive(JSON.parse(text)))
    },
    async close() {
      if (isClosed) return
      isClosed = true
      for (const receiver of receivers) receiver?.close()
    },
  })
  return [create(0, 1), create(1, 0)]
}
