/**
 * How many characters must be inserted, deleted or replaced to make one word of another, or `Infinity` if more than `most`.
 * Only what lies within `most` of the diagonal is worked out, and no further than it can still matter, so that words that
 * have little in common cost little.
 */
export function getEditDistance(a: string, b: string, most: number = Infinity): number {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  if (long.length - short.length > most) return Infinity
  let start = 0
  while (start < short.length && short.charCodeAt(start) === long.charCodeAt(start)) start++
  let shortEnd = short.length
  let longEnd = long.length
  while (shortEnd > start && short.charCodeAt(shortEnd - 1) === long.charCodeAt(longEnd - 1)) {
    shortEnd--
    longEnd--
  }
  const width = shortEnd - start
  const height = longEnd - start
  if (width === 0) return height <= most ? height : Infinity
  const band = Math.min(most, height)
  // The distances of the beginnings of the short word to the beginning of the long one that the row stands for.
  const row = Uint32Array.from({ length: width + 1 }, (_, column) => column)
  for (let y = 1; y <= height; y++) {
    const from = Math.max(1, y - band)
    const to = Math.min(width, y + band)
    const code = long.charCodeAt(start + y - 1)
    let diagonal = row[from - 1] ?? 0
    let left = from === 1 ? y : FAR
    let least = left
    row[from - 1] = left
    for (let x = from; x <= to; x++) {
      // What lies above the end of the band was not worked out.
      const above = x === y + band ? FAR : (row[x] ?? FAR)
      const replaced = short.charCodeAt(start + x - 1) === code ? diagonal : diagonal + 1
      left = Math.min(replaced, above + 1, left + 1)
      diagonal = row[x] ?? FAR
      row[x] = left
      if (left < least) least = left
    }
    if (least > most) return Infinity
  }
  const distance = row[width] ?? FAR
  return distance <= most ? distance : Infinity
}

/** More than any distance, and far from the end of 32 bits. */
const FAR = 2 ** 30
