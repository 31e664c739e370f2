import type { Exposure } from '../exposure.ts'
import { createExposedCatalog } from './exposed-catalog.ts'

/**
 * Lists every tool. Use it for small catalogs, and for clients that expect the full list.
 *
 * @example
 * serveMcp(catalog, { name: 'home', version: '1.0.0', expose: all() })
 */
export function all(): Exposure {
  return ALL
}

const ALL: Exposure = Object.freeze({
  name: 'all',
  expose: (catalog, client) =>
    createExposedCatalog({
      catalog,
      client,
      exposure: 'all',
      instructions: '',
      entries: () => catalog.tools,
      metaTools: [],
    }),
} satisfies Exposure)
