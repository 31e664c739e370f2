import type { Tuning } from './tuning.ts'

/** A measure of nearness that does not depend on shared words: a text compared with every tool by vectors of one kind. */
export interface Signal {
  readonly kind: SignalKind
  /** How near the tool in a slot is, from -1 to 1; 0 for an unrelated or unknown tool. */
  readonly cosineAt: (slot: number) => number
}

/** What vectors a signal compares: the table that comes with the package, or those of the user's own model. */
export type SignalKind = 'word-vectors' | 'own'

/** A signal, and how much it counts compared with words. */
export interface WeighedSignal extends Signal {
  readonly weight: number
}

/**
 * Decides how much each signal counts. The less of a text the best tool's words cover, the more it counts. This and `joinScore` are
 * the only places where words and vectors meet.
 */
export function weighSignals(
  signals: readonly Signal[],
  coverage: number,
  { meaningIfSure, meaningIfUnsure }: Tuning,
): readonly WeighedSignal[] {
  const weight = coverage * meaningIfSure + (1 - coverage) * meaningIfUnsure
  return signals.map((signal) => ({ ...signal, weight }))
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
