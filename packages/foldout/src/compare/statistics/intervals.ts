import { findT } from './distributions.ts'

export interface Ends {
  readonly low: number
  readonly high: number
}

/** Wilson's interval for a share: `passed` of `n`. */
export function getWilson(passed: number, n: number, z: number): Ends {
  if (n === 0) return { low: 0, high: 1 }
  const share = passed / n
  const squared = z * z
  const center = (share + squared / (2 * n)) / (1 + squared / n)
  const half = (z / (1 + squared / n)) * Math.sqrt((share * (1 - share)) / n + squared / (4 * n * n))
  return { low: Math.max(0, center - half), high: Math.min(1, center + half) }
}

/**
 * Tango's score interval for the difference of two shares of the same `n` cases, of which `better` and `worse` differ.
 * Unlike the t interval, it does not collapse when few cases differ.
 */
export function getTango(better: number, worse: number, n: number, z: number): Ends {
  const difference = (better - worse) / n
  const reaches = (delta: number): boolean => Math.abs(getTangoScore({ better, worse, n }, delta)) <= z
  return {
    low: findEdge(reaches, difference, -1),
    high: findEdge(reaches, difference, 1),
  }
}

interface Discordant {
  readonly better: number
  readonly worse: number
  readonly n: number
}

/** How many standard errors the data are away from a true difference. */
function getTangoScore({ better, worse, n }: Discordant, delta: number): number {
  const b = -better - worse + (2 * n - better + worse) * delta
  const c = -worse * delta * (1 - delta)
  // The share of cases that became worse, as likely as possible under this difference.
  const share = (Math.sqrt(Math.max(0, b * b - 8 * n * c)) - b) / (4 * n)
  const variance = n * (2 * share + delta * (1 - delta))
  const distance = better - worse - n * delta
  if (variance <= 0) {
    if (distance === 0) return 0
    return Math.sign(distance) * Infinity
  }
  return distance / Math.sqrt(variance)
}

const ROUNDS = 60

/** Goes from a value that is reached towards 1 or -1, to the last one that is. */
function findEdge(reaches: (delta: number) => boolean, from: number, towards: 1 | -1): number {
  let inside = from
  let outside: number = towards
  if (reaches(outside * 0.999999999)) return outside
  for (let round = 0; round < ROUNDS; round++) {
    const middle = (inside + outside) / 2
    if (reaches(middle)) inside = middle
    else outside = middle
  }
  return (inside + outside) / 2
}

/** The t interval of a mean with this standard error. `share` is that of each end: 0.95 leaves out 5 % beyond it. */
export function getMeanInterval(mean: number, error: number, degrees: number, share: number): Ends {
  const half = degrees < 1 ? Infinity : findT(share, degrees) * error
  return { low: mean - half, high: mean + half }
}
