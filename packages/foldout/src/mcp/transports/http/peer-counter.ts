/** The peer that limits are counted for, if no address is known. */
const UNKNOWN = 'unknown'

/**
 * The key under which an address is counted. An IPv6 client has a whole /64 network to itself, so its addresses count as one;
 * an IPv4 address that is written as an IPv6 one is the same address.
 */
export function toPeer(address: string | undefined): string {
  if (address === undefined || address === '') return UNKNOWN
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [bare = address] = address.split('%')
  if (bare.includes(':')) return `${expandIPv6(bare).slice(0, 4).join(':')}::/64`
  return address
}

function expandIPv6(address: string): readonly string[] {
  const [head = '', tail] = address.toLowerCase().split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  return [...before, ...Array.from({ length: missing }, () => '0'), ...after]
}

export interface PeerLimits {
  /** For all peers together. */
  readonly max: number
  readonly perPeer: number
}

/** Which of the two limits a peer has run into. */
export type Refusal = 'peer' | 'total'

/** Counts what is in use, per peer and in total. */
export class PeerCounter {
  readonly #counts = new Map<string, number>()
  readonly #limits: PeerLimits
  #total = 0

  constructor(limits: PeerLimits) {
    this.#limits = limits
  }

  get total(): number {
    return this.#total
  }

  get peers(): ReadonlyMap<string, number> {
    return this.#counts
  }

  count(peer: string): number {
    return this.#counts.get(peer) ?? 0
  }

  isFull(peer: string): boolean {
    return this.count(peer) >= this.#limits.perPeer
  }

  /** Returns why a peer cannot have one more; undefined if it can. */
  check(peer: string): Refusal | undefined {
    if (this.#total >= this.#limits.max) return 'total'
    if (this.isFull(peer)) return 'peer'
    return undefined
  }

  /** Counts one more, until the function it returns is called. */
  take(peer: string): () => void {
    this.#counts.set(peer, this.count(peer) + 1)
    this.#total++
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#total--
      const left = this.count(peer) - 1
      if (left > 0) this.#counts.set(peer, left)
      else this.#counts.delete(peer)
    }
  }
}
