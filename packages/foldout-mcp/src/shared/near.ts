/** Whether two names differ by a letter or two. Short names may differ by one, because many short words are close. */
export function isNear(one: string, other: string): boolean {
  const most = Math.min(one.length, other.length) > 5 ? 2 : 1
  if (Math.abs(one.length - other.length) > most) return false
  return countEdits(one.toLowerCase(), other.toLowerCase()) <= most
}

/** How many letters must be added, removed or replaced to turn one text into the other. */
function countEdits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1]
      const [left = 0, above = 0, diagonal = 0] = [next[j - 1], row[j], row[j - 1]]
      next.push(Math.min(left + 1, above + 1, diagonal + (isSame ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
