import type { Exposure } from './exposure.ts'
import { exposed } from './exposed.ts'

/** Lists every tool: for clients that expect everything, and for catalogs that are small. */
export function all(): Exposure {
  return ALL
}

const ALL: Exposure = Object.freeze({
  name: 'all',
  expose: (catalog, client) =>
    exposed({ catalog, client, exposure: 'all', instructions: '', entries: () => catalog.tools, metaTools: [] }),
} satisfies Exposure)
