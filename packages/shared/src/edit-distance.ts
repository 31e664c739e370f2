/**
 * Returns how many characters must be inserted, deleted or replaced to turn one word into another, or `Infinity` if
 * more than `most`. Only cells within `most` of the diagonal are computed, and only while they can still matter, so
 * dissimilar words are cheap.
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
  if (width === 0) {
    if (height <= most) return height
    return Infinity
  }
  const band = Math.min(most, height)
  // The distances between the prefixes of the short word and the row's prefix of the long word.
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
      // The cell above the end of the band was not computed.
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
  if (distance <= most) return distance
  return Infinity
}

/** Larger than any distance, and far below the 32-bit limit. */
const FAR = 2 ** 30
