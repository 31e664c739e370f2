import type { Catalog } from '../../../catalog/contract.ts'
import { all } from '../../../catalog/exposures/all.ts'
import { auto } from '../../../catalog/exposures/auto.ts'
import type { ExposedCatalog } from '../../../catalog/exposure.ts'
import { createSession, type Session } from '../../../session/session.ts'
import { MAX_SESSIONS, SESSION_IDLE_MS } from '../../limits.ts'
import { NOBODY, type ClientIdentity, type ServedClient } from '../contract/client.ts'
import type { McpFeatures } from '../contract/features.ts'
import { isSameList, listApps, takesApps } from './list.ts'
import { createClientMemory, type ClientMemory, type KeptClient } from './memory.ts'
import { checkOptions, type ServeMcpOptions } from '../contract/options.ts'
import { createFoldResults } from '../results/fold-results.ts'
import { serveSkills } from '../../skills/served-skills.ts'
import { serveSections, type SectionLibrary } from '../sections/sections.ts'

/** The catalog and features that a client is served. */
export interface ClientView {
  readonly client: ServedClient
  readonly exposed: ExposedCatalog
  /** The session that the client's tools work with. */
  getSession(): Session
  /**
   * Distinguishes the requests of this connection from those of others. Absent without a connection, in which case ids
   * of requests may repeat.
   */
  readonly connection?: string
  readonly instructions: string
  /** The sections as resources and as a prompt, if there are any. */
  readonly library: SectionLibrary | undefined
  /** The features that are served besides tools. */
  readonly features: McpFeatures | undefined
  /** The memory of a client that has a connection. */
  readonly memory?: ClientMemory
}

/** Creates views for clients. */
export interface ClientViews {
  /** Creates the view of a legacy client, whose session may be kept in a store and served by other machines too. */
  legacy(identity: ClientIdentity, principal?: string, kept?: KeptClient): ClientView
  /** Creates the view of a modern client with its own connection. */
  connection(identity: ClientIdentity): ClientView
  /** Creates the view for one request of a modern client over HTTP. */
  modern(identity: ClientIdentity, principal: string | undefined): ClientView
  /** Calls a listener with every list that modern clients get over HTTP, now and later. Returns a function that stops it. */
  watchModern(listener: (view: ClientView) => void): () => void
}

const STATELESS = 'stateless'

interface ViewChanges {
  /** The client that `features` are made for, if it is another one. */
  readonly asking?: ServedClient | undefined
  readonly memory?: ClientMemory
}

export function createViews(catalog: Catalog, options: ServeMcpOptions): ClientViews {
  const { expose = auto(), everything = false, foldResults, sessions: { modern: sharing = 'request' } = {} } = options
  checkOptions(options)
  const fold = createFoldResults(foldResults)
  expose.check?.(catalog)
  const sections = options.prompt && serveSections(options.prompt, catalog)
  let clients = 0
  // A modern client's list must not depend on the connection, so all clients that are served alike share their view.
  const shared = new Map<Catalog, Map<boolean, ClientView>>()
  const watchers = new Set<(view: ClientView) => void>()
  let sharedSession: Session | undefined
  const principals = createRecent<ClientView>(options.sessions?.max ?? MAX_SESSIONS, options.sessions?.idleMs)
  const numberCatalog = createNumbers()
  const wantsEverything = (client: ServedClient): boolean =>
    typeof everything === 'function' ? everything(client) : everything
  const getCatalog = (client: ServedClient): Catalog => options.catalogFor?.(client) ?? catalog
  const makeSession = (client: ServedClient, kept?: KeptClient): Session =>
    options.session?.(client) ?? kept?.session ?? createSession()

  function view(
    client: ServedClient,
    session: Session,
    isEverything: boolean,
    seen: Catalog,
    { asking = client, memory }: ViewChanges = {},
  ): ClientView {
    const exposure = isEverything ? all() : expose
    const takesListChanges = client.era === 'legacy'
    const inner = exposure.expose(seen, { id: client.id, takesListChanges, ...(memory ? { memory } : {}) })
    const served = sections?.forClient(inner, { client, session, isEverything, catalog })
    const exposed = fold(served?.exposed ?? inner, client.era)
    const parts = { client, exposed, library: served?.library, features: options.features?.(asking) }
    return toView(parts, session, () => getInstructions(options, asking))
  }
  function createConnectionView(given: Omit<ServedClient, 'id'>, kept?: KeptClient): ClientView {
    const { name: connection, memory } = kept ?? { name: crypto.randomUUID(), memory: createClientMemory() }
    const client: ServedClient = { ...given, id: `client-${kept?.name ?? ++clients}`, connection }
    const seen = getCatalog(client)
    const base = view(client, makeSession(client, kept), wantsEverything(client), seen, { memory })
    // Not a copy: what a view says may change.
    return Object.assign(chooseList(base, seen, client), { connection, memory })
  }
  function modernList(isEverything: boolean, seen: Catalog, asking?: ServedClient): ClientView {
    const lists = shared.get(seen) ?? new Map<boolean, ClientView>()
    shared.set(seen, lists)
    const known = lists.get(isEverything)
    if (known) return known
    const client: ServedClient = { id: STATELESS, isShared: true, era: 'modern', ...NOBODY, principal: undefined }
    sharedSession ??= makeSession(client)
    // Clients with the same catalog are served alike, so they share the features of the first one.
    const made = view(client, sharedSession, isEverything, seen, { asking })
    lists.set(isEverything, made)
    for (const watcher of watchers) watcher(getApps(made, seen))
    return made
  }

  return {
    legacy: (identity, principal, kept) => createConnectionView({ era: 'legacy', ...identity, principal }, kept),
    connection: (identity) => createConnectionView({ era: 'modern', ...identity, principal: undefined }),
    modern(identity, principal) {
      const client: ServedClient = { id: STATELESS, isShared: true, era: 'modern', ...identity, principal }
      const isEverything = wantsEverything(client)
      const seen = getCatalog(client)
      if (sharing === 'principal' && principal !== undefined) {
        const make = (): ClientView => view(client, makeSession(client), isEverything, seen)
        return chooseList(principals.get(`${numberCatalog(seen)} ${isEverything} ${principal}`, make), seen, client)
      }
      const list = chooseList(modernList(isEverything, seen, client), seen, client)
      return sharing === 'shared' ? list : withOwnSession(list, client, () => makeSession(client))
    },
    watchModern(listener) {
      for (const isEverything of typeof everything === 'function' ? [false, true] : [everything])
        modernList(isEverything, catalog)
      // The lists with apps include all tools of the others.
      for (const [seen, lists] of shared) for (const list of lists.values()) listener(getApps(list, seen))
      watchers.add(listener)
      return () => watchers.delete(listener)
    },
  }
}

/** The views with apps, by the views without. */
const appViews = new WeakMap<ClientView, ClientView>()

function chooseList(base: ClientView, catalog: Catalog, { capabilities }: ServedClient): ClientView {
  return takesApps(capabilities) ? getApps(base, catalog) : base
}

/** Returns the same view, with a list for a client that shows the pages of tools. */
function getApps(base: ClientView, catalog: Catalog): ClientView {
  const known = appViews.get(base)
  if (known) return known
  const made: ClientView = {
    client: base.client,
    exposed: listApps(base.exposed, catalog),
    library: base.library,
    features: base.features,
    getSession: () => base.getSession(),
    get instructions() {
      return base.instructions
    },
  }
  appViews.set(base, made)
  return made
}

function getInstructions({ instructions, skills }: ServeMcpOptions, client: ServedClient): string {
  const own = typeof instructions === 'function' ? instructions(client) : instructions
  const announced = skills && serveSkills(skills).instructions
  return [own, announced].filter((text) => text).join('\n\n')
}

/** Creates a view with a session. Its instructions may change with the exposed tools. */
function toView(
  parts: Pick<ClientView, 'client' | 'exposed' | 'library' | 'features'>,
  session: Session,
  getOthers: () => string | undefined,
): ClientView {
  return {
    ...parts,
    getSession: () => session,
    get instructions() {
      // Clients cut long instructions, and without this part nothing else helps.
      return [parts.exposed.instructions, getOthers()].filter((text) => text).join('\n\n')
    },
  }
}

/** Returns the same list, for a request whose tools get their own session when they first need one. */
function withOwnSession(list: ClientView, client: ServedClient, make: () => Session): ClientView {
  let session: Session | undefined
  return {
    client,
    exposed: list.exposed,
    library: list.library,
    features: list.features,
    getSession: () => (session ??= make()),
    get instructions() {
      return list.instructions
    },
  }
}

/** Assigns each catalog a stable number. */
function createNumbers(): (catalog: Catalog) => number {
  const numbers = new Map<Catalog, number>()
  return (catalog) => {
    const number = numbers.get(catalog) ?? numbers.size
    numbers.set(catalog, number)
    return number
  }
}

interface Recent<Value> {
  get(key: string, make: () => Value): Value
}

/** Keeps the most recently used values, as long as they are used. */
function createRecent<Value>(max: number, idleMs = SESSION_IDLE_MS): Recent<Value> {
  const kept = new Map<string, { readonly value: Value; readonly usedAt: number }>()
  return {
    get(key, make) {
      const now = Date.now()
      for (const [oldest, { usedAt }] of kept) {
        if (kept.size <= max && now - usedAt < idleMs) break
        kept.delete(oldest)
      }
      const value = kept.get(key)?.value ?? make()
      kept.delete(key)
      kept.set(key, { value, usedAt: now })
      return value
    },
  }
}

/** Calls a listener when a list differs from the one that the client last received or was notified of. */
export interface ListWatch {
  /** Records that the client has the current list. */
  given(): void
  stop(): void
}

export function watchList(exposed: ExposedCatalog, onChange: () => void): ListWatch {
  let known = exposed.list()
  const stop = exposed.onListChanged(() => {
    const list = exposed.list()
    if (isSameList(known, list)) return
    known = list
    onChange()
  })
  return {
    given() {
      known = exposed.list()
    },
    stop,
  }
}
