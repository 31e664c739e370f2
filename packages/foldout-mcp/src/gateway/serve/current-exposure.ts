import type { Catalog, ExposedCatalog, Exposure, ExposureClient } from 'foldout/catalog'

/** How a view shows its catalog. */
export interface Showing {
  readonly exposure: Exposure
  /** What models are told before the explanation of how to find tools. */
  readonly instructions: string | undefined
}

/** An exposure that can be replaced while clients are connected. */
export class CurrentExposure {
  readonly exposure: Exposure
  readonly #listeners = new Set<() => void>()
  showing: Showing

  constructor(first: Showing) {
    this.showing = first
    const { name } = first.exposure
    this.exposure = {
      name,
      check: (catalog) => this.showing.exposure.check?.(catalog),
      expose: (catalog, client) => follow(this, catalog, client),
    }
  }

  /** Shows the catalog in another way from now on. Clients whose list changes are notified. */
  replace(next: Showing): void {
    this.showing = next
    for (const listener of Array.from(this.#listeners)) listener()
  }

  /** Calls a listener after each replacement. Returns a function that stops it. */
  onReplaced(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** A catalog as a client sees it at any time. */
function follow(current: CurrentExposure, catalog: Catalog, client: ExposureClient): ExposedCatalog {
  let { exposure } = current.showing
  let exposed = exposure.expose(catalog, client)
  /** The meta tools of earlier exposures. A client that does not list again keeps calling them. */
  const former = new Map<string, ExposedCatalog>()

  function get(): ExposedCatalog {
    const { exposure: next } = current.showing
    if (next === exposure) return exposed
    const before = exposed
    exposure = next
    exposed = exposure.expose(catalog, client)
    for (const { name } of before.list()) if (!exposed.target(name, {})) former.set(name, before)
    for (const { name } of exposed.list()) former.delete(name)
    return exposed
  }
  function find(tool: string): ExposedCatalog {
    const now = get()
    return former.get(tool) ?? now
  }
  return {
    get choice() {
      return get().choice
    },
    get instructions() {
      return [current.showing.instructions, get().instructions].filter((text) => text).join('\n\n')
    },
    list: () => get().list(),
    listed: () => get().listed(),
    call: (name, args, context) => find(name).call(name, args, context),
    target: (name, args) => find(name).target(name, args),
    refresh: () => get().refresh?.(),
    onListChanged(listener) {
      let stop = get().onListChanged(listener)
      const unsubscribe = current.onReplaced(() => {
        stop()
        stop = get().onListChanged(listener)
        listener()
      })
      return () => {
        unsubscribe()
        stop()
      }
    },
  }
}
