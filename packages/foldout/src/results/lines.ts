interface Line {
  /** From 1 on. */
  readonly at: number
  readonly start: number
  readonly end: number
}

/** The lines after a number of them. */
export function* splitLines(text: string, skipped: number): Generator<Line> {
  let at = 0
  for (let start = 0; start <= text.length;) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    at++
    if (at > skipped && !(found === -1 && start === end && at > 1)) yield { at, start, end }
    start = end + 1
  }
}

/** How many lines a text has. A line break at its end does not begin another. */
export function countLines(text: string): number {
  let lines = text.endsWith('\n') || text === '' ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
