import type { Tool } from '@modelcontextprotocol/server'
import type { ListedTool } from '../../catalog/exposures/exposure.ts'

/** A tool as MCP lists it. */
export function mcpTool({ meta, ...tool }: ListedTool): Tool {
  return (meta === undefined ? tool : { ...tool, _meta: meta }) as Tool
}

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor?: string
}

/**
 * A part of a list, behind the cursor; nothing if the cursor is none of ours. A cursor has the name of the last item, so that
 * nothing is repeated or skipped when others come or go, and its place, in case that item itself has gone.
 */
export function formatPage<Item>(
  all: readonly Item[],
  cursor: string | undefined,
  options: { readonly size: number; readonly getName: (item: Item) => string },
): Page<Item> | undefined {
  const { size, getName } = options
  const start = cursor === undefined ? 0 : startBehind(cursor, all, getName)
  if (start === undefined) return undefined
  const items = all.slice(start, start + size)
  const end = start + items.length
  return end < all.length ? { items, nextCursor: `${end - 1}:${getName(items.at(-1)!)}` } : { items }
}

function startBehind<Item>(cursor: string, all: readonly Item[], getName: (item: Item) => string): number | undefined {
  const [, place, name] = /^(\d{1,9}):(.+)$/s.exec(cursor) ?? []
  if (place === undefined) return undefined
  const index = all.findIndex((item) => getName(item) === name)
  return (index === -1 ? Number(place) - 1 : index) + 1
}

/** Whether a client that has one list has the other. */
export function isSameList(one: readonly ListedTool[], other: readonly ListedTool[]): boolean {
  return (
    one.length === other.length &&
    one.every((tool, i) => tool === other[i] || JSON.stringify(tool) === JSON.stringify(other[i]))
  )
}
