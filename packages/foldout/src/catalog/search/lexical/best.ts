/**
 * The best so many of some slots, best first. `isBefore` must put every two slots in an order. A heap with the worst on top,
 * since most slots are worse than that and cost one comparison.
 */
export function takeBest(
  slots: ArrayLike<number>,
  limit: number,
  isBefore: (a: number, b: number) => boolean,
): number[] {
  const heap: number[] = []
  if (limit < 1) return heap
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i]!
    if (heap.length < limit) {
      heap.push(slot)
      rise(heap, isBefore)
    } else if (isBefore(slot, heap[0]!)) {
      heap[0] = slot
      sink(heap, isBefore)
    }
  }
  return heap.sort((a, b) => (a === b ? 0 : isBefore(a, b) ? -1 : 1))
}

function rise(heap: number[], isBefore: (a: number, b: number) => boolean): void {
  let at = heap.length - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!isBefore(heap[parent]!, heap[at]!)) return
    swap(heap, at, parent)
    at = parent
  }
}

function sink(heap: number[], isBefore: (a: number, b: number) => boolean): void {
  let at = 0
  for (;;) {
    let worst = at
    for (const child of [2 * at + 1, 2 * at + 2]) {
      if (child < heap.length && isBefore(heap[worst]!, heap[child]!)) worst = child
    }
    if (worst === at) return
    swap(heap, at, worst)
    at = worst
  }
}

function swap(heap: number[], a: number, b: number): void {
  const kept = heap[a]!
  heap[a] = heap[b]!
  heap[b] = kept
}
