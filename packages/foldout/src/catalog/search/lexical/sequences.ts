/** The words of each tool in order, as ids. */
export interface Sequences {
  /** One more than the highest slot ever used. */
  readonly slots: number
  /** The ids in a slot; none for an empty slot. Do not modify them, and read them before anything is set or removed. */
  get(slot: number): Int32Array
  /** Puts ids into an empty slot. */
  set(slot: number, ids: readonly number[]): void
  remove(slot: number): void
}

const NONE = new Int32Array(0)
/** How many ids share one array. */
const SHARED = 2 ** 15

/**
 * Many sequences share one array: thousands of small arrays would keep the garbage collector busy, in pauses that nothing can
 * interrupt. Removed sequences leave holes, and when more than half is holes, all sequences move together.
 */
export function createSequences(): Sequences {
  /** For each slot its array, where it begins there, and how long it is. */
  let arrays: Int32Array[] = []
  let starts: number[] = []
  const lengths: number[] = []
  let current = NONE
  let used = 0
  let live = 0
  let holes = 0

  const place = (slot: number, ids: ArrayLike<number>): void => {
    if (used + ids.length > current.length) {
      holes += current.length - used
      current = new Int32Array(Math.max(SHARED, ids.length))
      used = 0
    }
    current.set(ids, used)
    arrays[slot] = current
    starts[slot] = used
    lengths[slot] = ids.length
    used += ids.length
    live += ids.length
  }
  const get = (slot: number): Int32Array => {
    const start = starts[slot] ?? 0
    return arrays[slot]?.subarray(start, start + (lengths[slot] ?? 0)) ?? NONE
  }
  const moveTogether = (): void => {
    const all = Array.from(lengths, (_, slot) => get(slot))
    arrays = []
    starts = []
    current = NONE
    used = live = holes = 0
    for (const [slot, ids] of all.entries()) place(slot, ids)
  }

  return {
    get slots() {
      return lengths.length
    },
    get,
    set: place,
    remove(slot) {
      const length = lengths[slot] ?? 0
      lengths[slot] = 0
      live -= length
      holes += length
      if (holes > live + SHARED) moveTogether()
    },
  }
}
