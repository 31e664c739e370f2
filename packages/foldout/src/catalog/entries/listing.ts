import type { ListedTool } from '../exposures/exposure.ts'
import type { CatalogEntry } from '../tool.ts'

const listings = new WeakMap<CatalogEntry, ListedTool>()
const loadedListings = new WeakMap<CatalogEntry, ListedTool>()

/** Clients that hide listed tools behind a search of their own, as Claude Code does, show those that say this. */
const ALWAYS_LOAD = 'anthropic/alwaysLoad'

/** Marks a tool as one that a client must not hide: the others are found through it. */
export function withAlwaysLoad(listing: ListedTool): ListedTool {
  return { ...listing, meta: { ...listing.meta, [ALWAYS_LOAD]: true } }
}

/** A tool of a catalog as a client lists it that must not hide it. */
export function getLoadedListing(entry: CatalogEntry): ListedTool {
  let listing = loadedListings.get(entry)
  if (!listing) loadedListings.set(entry, (listing = Object.freeze(withAlwaysLoad(getListing(entry)))))
  return listing
}

/**
 * Gets a tool of a catalog as a client lists it.
 *
 * @example
 * const listed = catalog.tools.map(getListing)
 */
export function getListing(entry: CatalogEntry): ListedTool {
  let listing = listings.get(entry)
  if (!listing) listings.set(entry, (listing = Object.freeze(createListing(entry))))
  return listing
}

function createListing(entry: CatalogEntry): ListedTool {
  const { name, title, description, shortDescription, inputSchema, outputSchema, annotations, icons, meta } = entry
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description: description || shortDescription,
    inputSchema,
    // Clients of MCP before 2026-07-28 refuse a whole list in which one output schema is not of an object.
    ...(outputSchema?.['type'] === 'object' ? { outputSchema } : {}),
    ...(annotations === undefined ? {} : { annotations }),
    ...(icons === undefined ? {} : { icons }),
    ...(meta === undefined ? {} : { meta }),
  }
}
