import { dropUndefined } from 'foldout-shared/values'
import type { ListedTool } from './exposure.ts'
import type { CatalogEntry } from './tool.ts'

const listings = new WeakMap<CatalogEntry, ListedTool>()
const loadedListings = new WeakMap<CatalogEntry, ListedTool>()

/** Clients that hide listed tools behind their own search, as Claude Code does, show the tools with this mark. */
const ALWAYS_LOAD = 'anthropic/alwaysLoad'

/** Marks a tool that a client must not hide, because the other tools are found through it. */
export function withAlwaysLoad(listing: ListedTool): ListedTool {
  return { ...listing, meta: { ...listing.meta, [ALWAYS_LOAD]: true } }
}

/** Gets a tool as a client lists it, marked so that the client does not hide it. */
export function getLoadedListing(entry: CatalogEntry): ListedTool {
  let listing = loadedListings.get(entry)
  if (!listing) loadedListings.set(entry, (listing = Object.freeze(withAlwaysLoad(getListing(entry)))))
  return listing
}

/**
 * Gets a tool of a catalog in the form in which clients list it.
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
  const { name, title, description, inputSchema, outputSchema, annotations, icons, execution, meta, extra } = entry
  // A short description takes longer to make than the rest of a listing.
  const text = description || entry.shortDescription
  return {
    ...dropUndefined({
      name,
      title,
      description: text,
      inputSchema,
      outputSchema,
      annotations,
      icons,
      execution,
      meta,
    }),
    ...dropUndefined({ extra }),
  }
}
