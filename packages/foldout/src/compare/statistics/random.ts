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
