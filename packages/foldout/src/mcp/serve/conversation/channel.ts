import { CHANNEL_CHECK_MS, CHANNEL_GONE_MS, LONGEST_ANSWER_MS, MAX_QUESTIONS } from '../../limits.ts'
import type { Peer } from '../../protocol/peer.ts'
import type { ClientChannel } from '../contract/features.ts'

/** The channel of a client that cannot be asked outside of its requests. */
export const NO_CHANNEL: ClientChannel = {
  isOpen: false,
  async ask() {
    throw new Error('A client of MCP 2026-07-28 or later can only be asked in the result of a request.')
  },
}

/** Creates the channel of a legacy client. */
export function createChannel(isReachable: () => boolean, peer: Peer): ClientChannel {
  let waiting = 0
  return {
    get isOpen() {
      return isReachable()
    },
    async ask(method, params, signal) {
      signal?.throwIfAborted()
      // A message to nobody would be dropped, and the question would never end.
      if (!isReachable()) throw new Error('The client cannot be asked now, because it has no open event stream.')
      if (waiting >= MAX_QUESTIONS) throw new Error(`The client has ${MAX_QUESTIONS} questions to answer already.`)
      waiting++
      const watch = watchReach(isReachable)
      try {
        const signals = signal ? AbortSignal.any([signal, watch.gone]) : watch.gone
        return await peer.request(method, params, { signal: signals, timeoutMs: LONGEST_ANSWER_MS })
      } finally {
        waiting--
        watch.stop()
      }
    },
  }
}

/** Notices that a client has gone. Over HTTP, a stream that ends may be followed by another, and the answer needs none. */
function watchReach(isReachable: () => boolean): { readonly gone: AbortSignal; stop(): void } {
  const abort = new AbortController()
  let missedMs = 0
  const timer = setInterval(() => {
    if (isReachable()) missedMs = 0
    else missedMs = missedMs + CHANNEL_CHECK_MS
    if (missedMs >= CHANNEL_GONE_MS) abort.abort(new Error('The client has disconnected.'))
  }, CHANNEL_CHECK_MS)
  timer.unref?.()
  return { gone: abort.signal, stop: () => clearInterval(timer) }
}
