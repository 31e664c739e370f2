import type { Catalog, ExposedCatalog, Exposure, ExposureClient } from 'foldout/catalog'

/** An exposure that can be replaced while clients are connected. */
export class CurrentExposure {
  readonly exposure: Exposure
  readonly #listeners = new Set<() => void>()
  /** The exposure of this moment. */
  inner: Exposure

  constructor(first: Exposure) {
    this.inner = first
    const { name } = first
    this.exposure = {
      name,
      check: (catalog) => this.inner.check?.(catalog),
      expose: (catalog, client) => follow(this, catalog, client),
    }
  }

  /** Shows the catalog in another way from now on. Clients whose list changes are notified. */
  replace(next: Exposure): void {
    this.inner = next
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
  let exposure = current.inner
  let exposed = exposure.expose(catalog, client)
  /** The meta tools of earlier exposures. A client that does not list again keeps calling them. */
  const former = new Map<string, ExposedCatalog>()

  function get(): ExposedCatalog {
    const next = current.inner
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
      return get().instructions
    },
    list: () => get().list(),
    listed: (tools) => get().listed(tools),
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
