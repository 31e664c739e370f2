/** Distributions, without a library: each is within 1e-7 of the published tables. */

const LANCZOS = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
  -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7,
]

function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x)
  const sum = LANCZOS.reduce((total, factor, at) => total + factor / (x + at), 0.9999999999998099)
  const t = x + 6.5
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum)
}

const TINY = 1e-300
const MAX_ROUNDS = 500

/** The regularized incomplete beta function, by its continued fraction. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  // The fraction converges fast only on this side.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a)
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a
  let c = 1
  let d = 1 / keepAway(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m < MAX_ROUNDS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / keepAway(1 + even * d)
    c = keepAway(1 + even / c)
    fraction *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / keepAway(1 + odd * d)
    c = keepAway(1 + odd / c)
    const step = d * c
    fraction *= step
    if (Math.abs(step - 1) < 1e-14) break
  }
  return front * fraction
}

function keepAway(x: number): number {
  if (Math.abs(x) < TINY) return TINY
  return x
}

/** How likely a standard normal value is at most `z`. */
export function getNormalShare(z: number): number {
  const x = Math.abs(z)
  // Below this, the sum of the series; above it, the continued fraction of the tail.
  if (x < 3) {
    let term = x
    let sum = x
    for (let k = 3; term > 1e-17; k += 2) {
      term *= (x * x) / k
      sum += term
    }
    const share = 0.5 + sum * getNormalDensity(x)
    if (z > 0) return share
    return 1 - share
  }
  let fraction = x
  for (let k = 60; k >= 1; k--) fraction = x + k / fraction
  const tail = getNormalDensity(x) / fraction
  if (z > 0) return 1 - tail
  return tail
}

function getNormalDensity(x: number): number {
  return Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)
}

/** How likely a value of Student's t distribution is at most `t`. */
export function getTShare(t: number, degrees: number): number {
  if (!Number.isFinite(t)) {
    if (t > 0) return 1
    return 0
  }
  if (degrees > 1e6) return getNormalShare(t)
  const tail = incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2
  if (t > 0) return 1 - tail
  return tail
}

/** The value of Student's t distribution below which a share of all values lies. */
export function findT(share: number, degrees: number): number {
  if (share <= 0) return -Infinity
  if (share >= 1) return Infinity
  if (share < 0.5) return -findT(1 - share, degrees)
  const known = found.get(`${share} ${degrees}`)
  if (known !== undefined) return known
  let low = 0
  let high = 1
  while (getTShare(high, degrees) < share && high < 1e12) high *= 2
  for (let round = 0; round < 60 && high - low > 1e-10 * high; round++) {
    const middle = (low + high) / 2
    if (getTShare(middle, degrees) < share) low = middle
    else high = middle
  }
  const t = (low + high) / 2
  if (found.size >= MAX_FOUND) found.clear()
  found.set(`${share} ${degrees}`, t)
  return t
}

/** A report asks for the same values again and again. */
const found = new Map<string, number>()
const MAX_FOUND = 1_000

/** How likely at most `least` of `n` fair coins show heads. */
export function getCoinShare(least: number, n: number): number {
  let sum = 0
  for (let k = 0; k <= Math.min(least, n); k++)
    sum += Math.exp(logGamma(n + 1) - logGamma(k + 1) - logGamma(n - k + 1) - n * Math.LN2)
  return Math.min(1, sum)
}

/** Numbers from 0 to 1 in an order that depends on the seed alone. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Returns the items in a random order. */
export function shuffle<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  const keyed = items.map((item, at) => ({ item, at, key: random() }))
  return keyed.toSorted((a, b) => a.key - b.key || a.at - b.at).map(({ item }) => item)
}
