/** How well one ranking of tools answers one query. */
export interface Scores {
  readonly recall1: number
  readonly recall5: number
  readonly recall10: number
  readonly ndcg10: number
  readonly mrr: number
}

/** How many tools an engine is asked for: the reciprocal rank looks that far. */
export const DEPTH = 50

export function computeScores(ranked: readonly string[], relevant: readonly string[]): Scores {
  const right = new Set(relevant)
  const recall = (k: number) => ranked.slice(0, k).filter((name) => right.has(name)).length / right.size
  const gain = (rank: number) => 1 / Math.log2(rank + 2)
  let gained = 0
  ranked.slice(0, 10).forEach((name, rank) => (gained += right.has(name) ? gain(rank) : 0))
  let possible = 0
  for (let rank = 0; rank < Math.min(10, right.size); rank++) possible += gain(rank)
  const first = ranked.slice(0, DEPTH).findIndex((name) => right.has(name))
  return {
    recall1: recall(1),
    recall5: recall(5),
    recall10: recall(10),
    ndcg10: gained / possible,
    mrr: first < 0 ? 0 : 1 / (first + 1),
  }
}

export function meanScores(all: readonly Scores[]): Scores {
  const mean = (key: keyof Scores) => all.reduce((sum, scores) => sum + scores[key], 0) / all.length
  return {
    recall1: mean('recall1'),
    recall5: mean('recall5'),
    recall10: mean('recall10'),
    ndcg10: mean('ndcg10'),
    mrr: mean('mrr'),
  }
}

/** The percentile of some values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}
