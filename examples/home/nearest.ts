/** Finds the known words that are most similar to an unknown one, best first; ties keep the given order. */
export function nearest(word: string, known: readonly string[], limit = 3): string[] {
  const wanted = getPairs(word)
  return known
    .map((candidate) => ({ candidate, likeness: likeness(wanted, getPairs(candidate)) }))
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, limit)
    .map(({ candidate }) => candidate)
}

/** The pairs of neighboring letters, which stay the same if the words are reordered. */
function getPairs(text: string): string[] {
  const letters = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, ' ')
  return Array.from({ length: Math.max(letters.length - 1, 0) }, (_, at) => letters.slice(at, at + 2))
}

function likeness(a: readonly string[], b: readonly string[]): number {
  const left = [...b]
  let shared = 0
  for (const pair of a) {
    const at = left.indexOf(pair)
    if (at === -1) continue
    left.splice(at, 1)
    shared += 1
  }
  return a.length + b.length === 0 ? 0 : (2 * shared) / (a.length + b.length)
}
