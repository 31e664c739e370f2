import type { Tuning } from './tuning.ts'

/** A measure of nearness that does not depend on shared words: a text compared with every tool by vectors of one kind. */
export interface Signal {
  readonly kind: SignalKind
  /** How near the tool in a slot is, from -1 to 1; 0 for an unrelated or unknown tool. */
  readonly cosineAt: (slot: number) => number
}

/** What vectors a signal compares: the table that comes with the package, or those of the catalog's encoder. */
export type SignalKind = 'word-vectors' | 'encoder'

/** A signal, and how much it counts compared with words. */
export interface WeighedSignal extends Signal {
  readonly weight: number
}

/** Smaller catalogs are weighed like one of this size. */
const SMALL = 30
/** With an encoder, larger catalogs are weighed like one of this size: what it finds near is rarely near by chance. */
const LARGE = 5_000

/**
 * Decides how much each signal counts: the more, the less of a text the best tool's words cover, and the fewer tools there are, because
 * among many some are near by chance. Word vectors count less beside an encoder. This and `joinScore` are the only places where words
 * and vectors meet.
 */
export function weighSignals(
  signals: readonly Signal[],
  coverage: number,
  size: number,
  tuning: Tuning,
): readonly WeighedSignal[] {
  const isEncoded = signals.some(({ kind }) => kind === 'encoder')
  return signals.map((signal) => {
    const [ifSure, ifUnsure] = getWeights(signal.kind, isEncoded, size, tuning)
    return { ...signal, weight: coverage * ifSure + (1 - coverage) * ifUnsure }
  })
}

/**
 * Joins what an encoder says about a request and about its parts, in this order. A tool for one part is not near to the request as a
 * whole, so the part that it is nearest to counts too.
 */
export function joinParts(cosines: readonly Signal['cosineAt'][], { encoder }: Tuning): Signal {
  const [whole = () => 0, ...parts] = cosines
  if (parts.length === 0) return { kind: 'encoder', cosineAt: whole }
  return {
    kind: 'encoder',
    cosineAt(slot) {
      let nearest = -1
      for (const cosineAt of parts) nearest = Math.max(nearest, cosineAt(slot))
      return (1 - encoder.part) * whole(slot) + encoder.part * nearest
    },
  }
}

function getWeights(kind: SignalKind, isEncoded: boolean, size: number, tuning: Tuning): readonly [number, number] {
  const { wordVectors } = tuning.encoder
  const { meaningIfSure, meaningIfUnsure } = isEncoded ? tuning.encoder : tuning
  const weighed = Math.min(Math.max(size, SMALL), isEncoded ? LARGE : Infinity)
  const bySize = tuning.meaningBySize / Math.log(weighed)
  const share = bySize * getShare(kind, isEncoded, wordVectors)
  return [share * meaningIfSure, share * meaningIfUnsure]
}

function getShare(kind: SignalKind, isEncoded: boolean, wordVectors: number): number {
  if (!isEncoded) return 1
  if (kind === 'encoder') return 1 - wordVectors
  return wordVectors
}

/** Joins what the words of a tool score with what signals say about it. */
export function joinScore(words: number, signals: readonly WeighedSignal[], slot: number): number {
  let score = words
  for (const { cosineAt, weight } of signals) {
    const cosine = cosineAt(slot)
    if (cosine > 0) score += weight * cosine
  }
  return score
}
