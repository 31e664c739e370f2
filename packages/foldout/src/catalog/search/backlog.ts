import type { Searchable } from './contract.ts'
import type { Slice } from './slices.ts'

/** Tools that still have to be added to the index or removed from it. */
export interface Backlog<Tool extends Searchable> {
  readonly isEmpty: boolean
  /** How many tools wait to be indexed. */
  readonly arrivals: number
  add(tool: Tool): void
  /** Removes a waiting tool. Returns whether it was waiting. */
  cancel(qualified: string): boolean
  /** Schedules a slot to be emptied before anything else is done. */
  leave(slot: number): void
  /** Works in slices until nothing is waiting. */
  work(slice: Slice): Promise<void>
}

/** Work that its owner has to do before all tools have arrived, such as naming them. */
export interface Preparation {
  isDone(): boolean
  /** Does a little of it, and returns its cost in characters of indexing. */
  work(): number
}

/** How waiting work is done. Both functions return its cost in characters. */
export interface BacklogWork<Tool extends Searchable> {
  readonly preparation?: Preparation | undefined
  index(tool: Tool): number
  empty(slot: number): number
}

export function createBacklog<Tool extends Searchable>(todo: BacklogWork<Tool>): Backlog<Tool> {
  const { index, empty, preparation } = todo
  const arriving = new Map<string, Tool>()
  const leaving: number[] = []
  const takeArrival = createTaker(arriving)

  const doOne = (): number => {
    const slot = leaving.pop()
    if (slot !== undefined) return empty(slot)
    // Arrivals go first to keep the queue short: the garbage collector moves everything that waits, in pauses that
    // nothing can interrupt.
    const arrival = takeArrival()
    if (arrival !== undefined) return index(arrival[1])
    if (preparation?.isDone() === false) return preparation.work()
    return 0
  }
  const isEmpty = (): boolean => arriving.size === 0 && leaving.length === 0 && preparation?.isDone() !== false

  return {
    get isEmpty() {
      return isEmpty()
    },
    get arrivals() {
      return arriving.size
    },
    add(tool) {
      arriving.delete(tool.qualified)
      arriving.set(tool.qualified, tool)
    },
    cancel: (qualified) => arriving.delete(qualified),
    leave: (slot) => void leaving.push(slot),
    async work(slice) {
      while (!isEmpty()) if (slice.spend(doOne())) await slice.next()
    },
  }
}

/**
 * Takes the members of a map or a set one at a time, the oldest first. It keeps one iterator: a new one would skip
 * everything that was already taken, so taking all members would be quadratic.
 */
export function createTaker<Key, Value>(members: {
  entries(): MapIterator<[Key, Value]> | SetIterator<[Key, Value]>
  delete(key: Key): boolean
}): () => [Key, Value] | undefined {
  let iterator = members.entries()
  return () => {
    let next = iterator.next()
    // There may be new members since it came to an end.
    if (next.done === true) next = (iterator = members.entries()).next()
    if (next.done === true) return undefined
    members.delete(next.value[0])
    return next.value
  }
}
