import { Peer, type PeerOptions } from './peer.ts'
import type { JsonObject, Message } from './messages.ts'
import type { SendOptions } from './transport.ts'

/** A peer whose other side is the test. */
export function createLonePeer(options: Partial<PeerOptions> = {}) {
  const sent: Message[] = []
  const sentWith: (SendOptions | undefined)[] = []
  const errors: string[] = []
  const peer = new Peer({
    async send(message, sending) {
      sent.push(message)
      sentWith.push(sending)
    },
    onError: (error) => errors.push(error.message),
    ...options,
  })
  const find = (method: string): Message => {
    const found = sent.find((message) => message['method'] === method)
    if (!found) throw new Error(`No message '${method}' was sent.`)
    return found
  }
  return {
    peer,
    sent,
    sentWith,
    errors,
    find,
    answer: (method: string, fields: JsonObject = { result: { method } }) =>
      peer.receive({ jsonrpc: '2.0', id: find(method)['id'], ...fields }),
    report: (method: string, progress: JsonObject, toToken: (id: unknown) => unknown = (id) => id) =>
      peer.receive({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: toToken(find(method)['id']), ...progress },
      }),
    listCancelled: () =>
      sent
        .filter(({ method }) => method === 'notifications/cancelled')
        .map(({ params }) => (params as JsonObject)['requestId']),
  }
}

/** Two peers that are linked like two programs: what one sends reaches the other later, as JSON. */
export function createLinkedPeers(left: Partial<PeerOptions> = {}, right: Partial<PeerOptions> = {}) {
  const peers: Peer[] = []
  const link = (to: number): PeerOptions['send'] => {
    return async (message) => {
      const text = JSON.stringify(message)
      queueMicrotask(() => peers[to]?.receive(JSON.parse(text)))
    }
  }
  const one = new Peer({ send: link(1), ...left })
  const other = new Peer({ send: link(0), ...right })
  peers.push(one, other)
  return { one, other }
}
