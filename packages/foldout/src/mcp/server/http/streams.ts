import type { Caller } from './endpoint.ts'
import { PeerCounter, type PeerLimits, type Refusal } from './peer.ts'
import { refuseForNow, watchResponse } from './response.ts'

/** Event streams within limits. */
export class LimitedStreams {
  readonly limits: PeerLimits
  readonly #counter: PeerCounter

  constructor(limits: PeerLimits) {
    this.limits = limits
    this.#counter = new PeerCounter(limits)
  }

  /** Counts a stream. Returns a function that ends it, or the answer that says why there cannot be another one. */
  take({ peer }: Caller): (() => void) | Response {
    const refusal = this.#counter.check(peer)
    return refusal ? refuseForNow(refusal, this.#describe(refusal)) : this.#counter.take(peer)
  }

  /** Answers with a stream, as long as there are not too many of them. */
  async open(
    request: Request,
    caller: Caller,
    answer: () => Promise<Response>,
    listen?: () => (() => void) | undefined,
  ): Promise<Response> {
    const leave = this.take(caller)
    if (leave instanceof Response) return leave
    let stop: (() => void) | undefined
    const finish = (): void => {
      leave()
      stop?.()
    }
    try {
      const response = await answer()
      if (response.ok && response.body) stop = listen?.()
      return watchResponse(response, request, { done: finish })
    } catch (error) {
      finish()
      throw error
    }
  }

  #describe(refusal: Refusal): string {
    const { max, perPeer } = this.limits
    if (refusal === 'total') return `This server has ${max} open streams, which is the maximum. Try again later.`
    return `You have ${perPeer} open streams, which is the maximum for one client. Close one, or try again later.`
  }
}
