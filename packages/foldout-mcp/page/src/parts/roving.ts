const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }

/** The row that a key leads to from another one; undefined if the key is not for moving. */
function findNext(key: string, from: number, count: number): number | undefined {
  if (key === 'Home') return 0
  if (key === 'End') return count - 1
  const step = STEPS[key]
  if (step === undefined) return undefined
  return Math.max(0, Math.min(count - 1, from + step))
}

/**
 * Moves the focus through the rows of a list with the keys for moving, so that a long list is one stop for the Tab key. Rows carry
 * `data-index`; `show` brings one into view that may not exist yet.
 */
export function moveFocus(event: KeyboardEvent, count: number, show?: (index: number) => void): void {
  const list = event.currentTarget as HTMLElement
  const from = Number((event.target as HTMLElement).dataset['index'] ?? NaN)
  const next = Number.isNaN(from) ? undefined : findNext(event.key, from, count)
  if (next === undefined) return
  event.preventDefault()
  show?.(next)
  focusSoon(list, next, MOST_FRAMES)
}

/** A row that was far away is drawn some frames later. */
const MOST_FRAMES = 30

function focusSoon(list: HTMLElement, index: number, frames: number): void {
  const row = list.querySelector<HTMLElement>(`[data-index="${index}"]`)
  if (row) return row.focus()
  if (frames > 0) requestAnimationFrame(() => focusSoon(list, index, frames - 1))
}
