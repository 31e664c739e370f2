import type { Catalog } from '../../../catalog/contract.ts'
import { getLoadedListing } from '../../../catalog/listing.ts'
import { changeExposed } from '../../../catalog/exposures/exposed-catalog.ts'
import type { ExposedCatalog, ListedTool } from '../../../catalog/exposure.ts'
import type { CatalogEntry } from '../../../catalog/tool.ts'
import { isObject } from 'foldout-shared/values'
import { PAGE_BYTES, PAGE_SIZE } from '../../limits.ts'
import { findSizeFault } from '../../../core/json/measure.ts'
import type { JsonObject } from '../../protocol/messages.ts'
import type { ServedClient } from '../contract/client.ts'

/** A tool as MCP lists it for clients of an era. */
export function toMcpTool({ meta, extra, ...tool }: ListedTool, era: ServedClient['era']): JsonObject {
  const listed: Record<string, unknown> = { ...extra, ...tool, ...(meta && { _meta: meta }) }
  // Not part of the protocol any more.
  if (era === 'modern') delete listed['execution']
  // Clients before 2026-07-28 reject the whole list if one output schema does not describe an object.
  else if (tool.outputSchema && tool.outputSchema['type'] !== 'object') delete listed['outputSchema']
  return listed
}

const PAGE_LIMITS = { maxBytes: PAGE_BYTES, maxDepth: Infinity }

/**
 * A page of a list, and where the next one begins.
 *
 * @example
 * ```ts
 * const page: Page<string> = { items: ['a', 'b'], nextCursor: '1:b' }
 * ```
 */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor?: string
}

/**
 * Returns the part of a list after a cursor; undefined if the cursor is invalid. A cursor contains the name of the last
 * item, so nothing is repeated or skipped when other items are added or removed, and its index, in case that item
 * itself was removed. A page never exceeds the size of a message.
 *
 * @example
 * ```ts
 * const getName = (name: string) => name
 * formatPage(['a', 'b', 'c'], undefined, { size: 2, getName }) // => { items: [ 'a', 'b' ], nextCursor: '1:b' }
 * formatPage(['a', 'b', 'c'], '1:b', { size: 2, getName }) // => { items: [ 'c' ] }
 * ```
 */
export function formatPage<Item>(
  all: readonly Item[],
  cursor: unknown,
  options: { readonly size?: number; readonly getName: (item: Item) => string },
): Page<Item> | undefined {
  const { size = PAGE_SIZE, getName } = options
  const start = cursor === undefined ? 0 : startBehind(cursor, all, getName)
  if (start === undefined) return undefined
  const items = fitPage(all.slice(start, start + size))
  const end = start + items.length
  const last = items.at(-1)
  if (end < all.length && last !== undefined) return { items, nextCursor: `${end - 1}:${getName(last)}` }
  return { items }
}

/** As many items as a message may hold; at least one. */
function fitPage<Item>(items: readonly Item[]): readonly Item[] {
  if (!findSizeFault(items, PAGE_LIMITS)) return items
  let bytes = 0
  const end = items.findIndex((item) => {
    bytes += new TextEncoder().encode(JSON.stringify(item)).byteLength
    return bytes > PAGE_BYTES
  })
  if (end === -1) return items
  return items.slice(0, Math.max(end, 1))
}

function startBehind<Item>(cursor: unknown, all: readonly Item[], getName: (item: Item) => string): number | undefined {
  if (typeof cursor !== 'string') return undefined
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

/** The extension by which clients say that they show the pages of tools (MCP Apps). */
const APPS = 'io.modelcontextprotocol/ui'

/** Whether a client shows the pages that tools have. */
export function takesApps(capabilities: Readonly<Record<string, unknown>> | undefined): boolean {
  // Clients declared it as experimental before there were extensions.
  return ['extensions', 'experimental'].some((field) => {
    const declared = capabilities?.[field]
    return isObject(declared) && isObject(declared[APPS])
  })
}

/** Whether a tool has a page, or is there for one. */
function hasPage({ meta }: CatalogEntry): boolean {
  return isObject(meta?.['ui']) || typeof meta?.['ui/resourceUri'] === 'string'
}

/**
 * Returns the same catalog with all tools listed that have a page. A client finds the page of a tool in its list, so
 * one that is called through another tool would never be shown.
 */
export function listApps(exposed: ExposedCatalog, catalog: Catalog): ExposedCatalog {
  const listApp = (listed: readonly ListedTool[]): readonly ListedTool[] => {
    const apps = catalog.tools.filter(hasPage)
    if (apps.length === 0) return listed
    const names = new Set(listed.map(({ name }) => name))
    return [...listed, ...apps.filter(({ name }) => !names.has(name)).map(getLoadedListing)]
  }
  return changeExposed(exposed, { list: () => listApp(exposed.list()) })
}
