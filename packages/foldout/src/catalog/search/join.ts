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

/**
 * Decides how much each signal counts. The less of a text the best tool's words cover, the more it counts, and word vectors count
 * less beside an encoder. This and `joinScore` are the only places where words and vectors meet.
 */
export function weighSignals(signals: readonly Signal[], coverage: number, tuning: Tuning): readonly WeighedSignal[] {
  const isEncoded = signals.some(({ kind }) => kind === 'encoder')
  return signals.map((signal) => {
    const [ifSure, ifUnsure] = getWeights(signal.kind, isEncoded, tuning)
    return { ...signal, weight: coverage * ifSure + (1 - coverage) * ifUnsure }
  })
}

function getWeights(kind: SignalKind, isEncoded: boolean, tuning: Tuning): readonly [number, number] {
  if (!isEncoded) return [tuning.meaningIfSure, tuning.meaningIfUnsure]
  const { wordVectors, meaningIfSure, meaningIfUnsure } = tuning.encoder
  const share = kind === 'encoder' ? 1 - wordVectors : wordVectors
  return [share * meaningIfSure, share * meaningIfUnsure]
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
