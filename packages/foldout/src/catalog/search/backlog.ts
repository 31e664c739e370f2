import type { Searchable } from './contract.ts'
import type { Slice } from './slices.ts'

/** Tools that have come and gone and are not yet, or still, in the index. */
export interface Backlog<Tool extends Searchable> {
  readonly isEmpty: boolean
  /** How many tools wait to be indexed. */
  readonly arrivals: number
  add(tool: Tool): void
  /** Whether a tool of that name was waiting; it is not anymore. */
  cancel(qualified: string): boolean
  /** Has a slot emptied before anything else is done. */
  leave(slot: number): void
  /** Works until nothing waits, in slices. */
  work(slice: Slice): Promise<void>
}

/** What is done with what waits. Both return what it cost, in characters. */
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
