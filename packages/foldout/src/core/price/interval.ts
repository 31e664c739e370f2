/** A mean, and the ends of its 95 % interval. */
export interface MeanInterval {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** Computes the normal interval of the mean of some values. */
export function computeInterval(values: readonly number[]): MeanInterval {
  const count = Math.max(1, values.length)
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count
  const half = 1.96 * Math.sqrt(variance / Math.max(1, count - 1))
  return { mean: Math.round(mean), low: Math.round(mean - half), high: Math.round(mean + half) }
}

/** Pairs what to learn from with what to check it on: each half of the items with the other one. */
export function pairHalves<Item>(items: readonly Item[]): readonly (readonly [learned: Item[], checked: Item[]])[] {
  const even = items.filter((_, at) => at % 2 === 0)
  const odd = items.filter((_, at) => at % 2 === 1)
  return [
    [even, odd],
    [odd, even],
  ]
}
