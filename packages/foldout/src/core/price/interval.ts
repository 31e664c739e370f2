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
