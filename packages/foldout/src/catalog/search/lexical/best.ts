import { PASSED_AT_ONCE, type Steps } from '../slices.ts'

/**
 * Takes the best slots, at most `limit`, best first. `isBefore` must order every two slots. This keeps a heap with the worst slot
 * on top: most slots are worse than that one and cost a single comparison.
 */
export function* takeBest(
  slots: ArrayLike<number>,
  limit: number,
  isBefore: (a: number, b: number) => boolean,
): Steps<number[]> {
  const heap: number[] = []
  if (limit < 1) return heap
  for (let i = 0; i < slots.length; i++) {
    if (i % PASSED_AT_ONCE === PASSED_AT_ONCE - 1) yield
    const slot = slots[i] ?? 0
    if (heap.length < limit) {
      heap.push(slot)
      rise(heap, isBefore)
    } else if (isBefore(slot, heap[0] ?? 0)) {
      heap[0] = slot
      sink(heap, isBefore)
    }
  }
  return heap.sort((a, b) => {
    if (a === b) return 0
    if (isBefore(a, b)) return -1
    return 1
  })
}

function rise(heap: number[], isBefore: (a: number, b: number) => boolean): void {
  let at = heap.length - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!isBefore(heap[parent] ?? 0, heap[at] ?? 0)) return
    swap(heap, at, parent)
    at = parent
  }
}

function sink(heap: number[], isBefore: (a: number, b: number) => boolean): void {
  let at = 0
  for (;;) {
    let worst = at
    for (const child of [2 * at + 1, 2 * at + 2]) {
      if (child < heap.length && isBefore(heap[worst] ?? 0, heap[child] ?? 0)) worst = child
    }
    if (worst === at) return
    swap(heap, at, worst)
    at = worst
  }
}

function swap(heap: number[], a: number, b: number): void {
  const kept = heap[a] ?? 0
  heap[a] = heap[b] ?? 0
  heap[b] = kept
}
