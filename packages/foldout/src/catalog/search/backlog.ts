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
  /** Schedules a slot to be emptied before anything else. */
  leave(slot: number): void
  /** Works in slices until nothing is waiting. */
  work(slice: Slice): Promise<void>
}

/** How waiting work is done. Both functions return its cost in characters. */
export interface BacklogWork<Tool extends Searchable> {
  index(tool: Tool): number
  empty(slot: number): number
}

export function createBacklog<Tool extends Searchable>({ index, empty }: BacklogWork<Tool>): Backlog<Tool> {
  const arriving = new Map<string, Tool>()
  const leaving: number[] = []

  const doOne = (): number => {
    const slot = leaving.pop()
    if (slot !== undefined) return empty(slot)
    for (const [qualified, tool] of arriving) {
      arriving.delete(qualified)
      return index(tool)
    }
    return 0
  }
  const isEmpty = (): boolean => arriving.size === 0 && leaving.length === 0

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
