import type { ListedTool } from '../exposures/exposure.ts'
import type { CatalogEntry } from '../tool.ts'

const listings = new WeakMap<CatalogEntry, ListedTool>()

/** A tool of a catalog as a client lists it. */
export function getListing(entry: CatalogEntry): ListedTool {
  let listing = listings.get(entry)
  if (!listing) listings.set(entry, (listing = Object.freeze(makeListing(entry))))
  return listing
}

function makeListing(entry: CatalogEntry): ListedTool {
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
