import { MOST_LINE_EDITS } from './limits.ts'

/**
 * Makes the change from `base` to `theirs` in `ours`, a text that someone else has made from `base`. Undefined if both
 * changed the same lines, or too many.
 */
export function mergeTexts(base: string, ours: string, theirs: string): string | undefined {
  const [from, own, other] = [splitLines(base), splitLines(ours), splitLines(theirs)]
  const inOwn = matchLines(from, own)
  const inOther = matchLines(from, other)
  if (!inOwn || !inOther) return undefined
  const merged: string[] = []
  let [i, j, k] = [0, 0, 0]
  while (i < from.length || j < own.length || k < other.length) {
    const next = findCommon(inOwn, inOther, i, from.length)
    const [endOwn, endOther] = [inOwn.get(next) ?? own.length, inOther.get(next) ?? other.length]
    const part = choose(from.slice(i, next), own.slice(j, endOwn), other.slice(k, endOther))
    if (!part) return undefined
    merged.push(...part, ...from.slice(next, next + 1))
    ;[i, j, k] = [next + 1, endOwn + 1, endOther + 1]
  }
  return merged.join('')
}

function splitLines(text: string): readonly string[] {
  if (text === '') return []
  return text.split(/(?<=\n)/)
}

/** The next line that both others still have. */
function findCommon(one: Matches, other: Matches, start: number, end: number): number {
  for (let line = start; line < end; line++) if (one.has(line) && other.has(line)) return line
  return end
}

/** The lines of the one who changed them; undefined if both did. */
function choose(
  base: readonly string[],
  ours: readonly string[],
  theirs: readonly string[],
): readonly string[] | undefined {
  if (isSame(ours, base)) return theirs
  if (isSame(theirs, base) || isSame(theirs, ours)) return ours
  return undefined
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, i) => line === other[i])
}

/** The lines of one text that are also in another, with their numbers there. */
type Matches = ReadonlyMap<number, number>

/** The shortest way from one text to another (Myers). Undefined if it has too many steps. */
function matchLines(one: readonly string[], other: readonly string[]): Matches | undefined {
  const most = Math.min(one.length + other.length, MOST_LINE_EDITS)
  const middle = most + 1
  /** The furthest line of `one` on each diagonal. */
  const furthest = new Int32Array(2 * middle + 1)
  const history: Int32Array[] = []
  for (let steps = 0; steps <= most; steps++) {
    history.push(furthest.slice())
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      let line = startOn(furthest, middle, diagonal, steps).line
      while (line < one.length && line - diagonal < other.length && one[line] === other[line - diagonal]) line += 1
      furthest[middle + diagonal] = line
      if (line >= one.length && line - diagonal >= other.length)
        return walkBack(history, middle, one.length, other.length)
    }
  }
  return undefined
}

/** Where a step onto a diagonal begins: a line is added to the text, or removed from it. */
function startOn(
  furthest: Int32Array,
  middle: number,
  diagonal: number,
  steps: number,
): { readonly line: number; readonly from: number } {
  const below = furthest[middle + diagonal - 1] ?? 0
  const above = furthest[middle + diagonal + 1] ?? 0
  const isAdded = diagonal === -steps || (diagonal !== steps && below < above)
  if (isAdded) return { line: above, from: diagonal + 1 }
  return { line: below + 1, from: diagonal - 1 }
}

function walkBack(history: readonly Int32Array[], middle: number, lines: number, others: number): Matches {
  const matches = new Map<number, number>()
  let [line, other] = [lines, others]
  for (let steps = history.length - 1; steps >= 0; steps--) {
    const furthest = history[steps] ?? new Int32Array()
    const { line: start, from } = startOn(furthest, middle, line - other, steps)
    const first = steps === 0 ? 0 : start
    while (line > first && other > 0) {
      line -= 1
      other -= 1
      matches.set(line, other)
    }
    if (steps === 0) break
    line = furthest[middle + from] ?? 0
    other = line - from
  }
  return matches
}
