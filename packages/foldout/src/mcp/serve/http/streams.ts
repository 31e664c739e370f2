import type { HttpReply } from '../../transports/http/exchange.ts'
import { PeerCounter, type PeerLimits, type Refusal } from '../../transports/http/peer-counter.ts'
import { refuseForNow } from '../../transports/http/refusal.ts'
import type { Caller } from './caller.ts'

/** Event streams within limits. */
export class LimitedStreams {
  readonly #limits: PeerLimits
  readonly #counter: PeerCounter

  constructor(limits: PeerLimits) {
    this.#limits = limits
    this.#counter = new PeerCounter(limits)
  }

  /**
   * Counts a stream until it is closed.
   *
   * @throws HttpRefusal if there cannot be another one.
   */
  take(reply: HttpReply, { peer }: Caller): void {
    const refusal = this.#counter.check(peer)
    if (refusal) throw refuseForNow(refusal, this.#describe(refusal))
    reply.onClose(this.#counter.take(peer))
  }

  #describe(refusal: Refusal): string {
    const { max, perPeer } = this.#limits
    if (refusal === 'total') return `This server has ${max} open streams, which is the maximum. Try again later.`
    return `You have ${perPeer} open streams, which is the maximum for one client. Close one, or try again later.`
  }
}
