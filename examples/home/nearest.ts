/** Of the known words those most like one that is not known, best first; ties in the order given. */
export function nearest(word: string, known: readonly string[], limit = 3): string[] {
  const wanted = getPairs(word)
  return known
    .map((candidate) => ({ candidate, likeness: likeness(wanted, getPairs(candidate)) }))
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, limit)
    .map(({ candidate }) => candidate)
}

/** The pairs of neighbouring letters, which the words in another order still share. */
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
