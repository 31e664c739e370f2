import type { Tool } from '@modelcontextprotocol/server'
import type { ListedTool } from '../../catalog/exposures/exposure.ts'
import { PAGE_BYTES } from '../limits.ts'
import { findSizeFault } from '../../core/json/measure.ts'

/** A tool as MCP lists it. */
export function toMcpTool({ meta, ...tool }: ListedTool): Tool {
  return (meta === undefined ? tool : { ...tool, _meta: meta }) as Tool
}

const PAGE_LIMITS = { maxBytes: PAGE_BYTES, maxDepth: Infinity }

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor?: string
}

/**
 * The part of a list that follows a cursor; nothing if the cursor is not valid. A cursor has the name of the last item, so that
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
  const items = fitPage(all.slice(start, start + size))
  const end = start + items.length
  const last = items.at(-1)
  return end < all.length && last !== undefined ? { items, nextCursor: `${end - 1}:${getName(last)}` } : { items }
}

/** As many items as a message may hold; at least one. */
function fitPage<Item>(items: readonly Item[]): readonly Item[] {
  if (!findSizeFault(items, PAGE_LIMITS)) return items
  let bytes = 0
  const end = items.findIndex((item) => {
    bytes += new TextEncoder().encode(JSON.stringify(item)).byteLength
    return bytes > PAGE_BYTES
  })
  return end === -1 ? items : items.slice(0, Math.max(end, 1))
}

function startBehind<Item>(cursor: string, all: readonly Item[], getName: (item: Item) => string): number | undefined {
  const [, place, name] = /^(\d{1,9}):(.+)$/s.exec(cursor) ?? []
  if (place === undefined) return undefined
  const index = all.findIndex((item) => getName(item) === name)
  return (index === -1 ? Number(place) - 1 : index) + 1
}

/** Whether two lists look the same to a client. */
export function isSameList(one: readonly ListedTool[], other: readonly ListedTool[]): boolean {
  return (
    one.length === other.length &&
    one.every((tool, i) => tool === other[i] || JSON.stringify(tool) === JSON.stringify(other[i]))
  )
}
