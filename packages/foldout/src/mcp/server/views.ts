import type { Catalog } from '../../catalog/contract.ts'
import { all } from '../../catalog/exposures/all.ts'
import { auto } from '../../catalog/exposures/auto.ts'
import type { ExposedCatalog } from '../../catalog/exposures/exposure.ts'
import { createSession, type Session } from '../../session/session.ts'
import { MAX_SESSIONS, SESSION_IDLE_MS } from '../limits.ts'
import { NOBODY, type ClientIdentity, type ServedClient } from './client.ts'
import type { McpFeatures } from './features.ts'
import { isSameList } from './list.ts'
import { checkOptions, type ServeMcpOptions } from './options.ts'
import { serveSections, type SectionLibrary } from './sections/sections.ts'

/** What a client is served. */
export interface ClientView {
  readonly client: ServedClient
  readonly exposed: ExposedCatalog
  /** The session that the client's tools work with. */
  getSession(): Session
  /** Tells the requests of this connection from those of others. Absent where there is none: ids of requests may repeat then. */
  readonly connection?: string
  readonly instructions: string
  /** The sections as resources and as a prompt, if there are any. */
  readonly library: SectionLibrary | undefined
  /** What is served beside tools. */
  readonly features: McpFeatures | undefined
}

/** Makes views for clients. */
export interface ClientViews {
  /** For a legacy client. */
  legacy(identity: ClientIdentity, principal?: string): ClientView
  /** For a modern client that has a connection to itself. */
  connection(identity: ClientIdentity): ClientView
  /** For one request of a modern client over HTTP. */
  modern(identity: ClientIdentity, principal: string | undefined): ClientView
  /** Every list that a modern client may get over HTTP. */
  readonly everyModern: readonly ClientView[]
}

const STATELESS = 'stateless'

export function createViews(catalog: Catalog, options: ServeMcpOptions): ClientViews {
  const { expose = auto(), everything = false, sessions: { modern: sharing = 'request' } = {} } = options
  checkOptions(options)
  expose.check?.(catalog)
  const sections = options.prompt && serveSections(options.prompt, catalog)
  let clients = 0
  // A modern client's list must not depend on the connection, so all that are served alike share what is served.
  const shared = new Map<boolean, ClientView>()
  let sharedSession: Session | undefined
  const principals = createRecent<ClientView>(options.sessions?.max ?? MAX_SESSIONS, options.sessions?.idleMs)

  const wantsEverything = (client: ServedClient): boolean =>
    typeof everything === 'function' ? everything(client) : everything
  const makeSession = (client: ServedClient): Session => options.session?.(client) ?? createSession()

  function view(client: ServedClient, session: Session, isEverything: boolean): ClientView {
    const exposure = isEverything ? all() : expose
    const inner = exposure.expose(catalog, { id: client.id, takesListChanges: client.era === 'legacy' })
    const served = sections?.forClient(inner, { client, session, isEverything, catalog })
    const exposed = served?.exposed ?? inner
    return {
      client,
      exposed,
      getSession: () => session,
      get instructions() {
        return [options.instructions, exposed.instructions].filter((text) => text).join('\n\n')
      },
      library: served?.library,
      features: options.features?.(client),
    }
  }
  function createConnectionView(era: ServedClient['era'], identity: ClientIdentity, principal?: string): ClientView {
    const client: ServedClient = { id: `client-${++clients}`, era, ...identity, principal }
    // Not a copy: what a view says may change.
    return Object.assign(view(client, makeSession(client), wantsEverything(client)), {
      connection: crypto.randomUUID(),
    })
  }
  function modernList(isEverything: boolean): ClientView {
    const known = shared.get(isEverything)
    if (known) return known
    const client: ServedClient = { id: STATELESS, isShared: true, era: 'modern', ...NOBODY, principal: undefined }
    sharedSession ??= makeSession(client)
    const made = view(client, sharedSession, isEverything)
    shared.set(isEverything, made)
    return made
  }

  return {
    legacy: (identity, principal) => createConnectionView('legacy', identity, principal),
    connection: (identity) => createConnectionView('modern', identity),
    modern(identity, principal) {
      const client: ServedClient = { id: STATELESS, isShared: true, era: 'modern', ...identity, principal }
      const isEverything = wantsEverything(client)
      if (sharing === 'principal' && principal !== undefined)
        return principals.get(`${isEverything} ${principal}`, () => view(client, makeSession(client), isEverything))
      const list = modernList(isEverything)
      return sharing === 'shared' ? list : withOwnSession(list, client, () => makeSession(client))
    },
    get everyModern() {
      return (typeof everything === 'function' ? [false, true] : [everything]).map(modernList)
    },
  }
}

/** The same list, for a request whose tools get a session of their own when they first need one. */
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

interface Recent<Value> {
  get(key: string, make: () => Value): Value
}

/** Keeps the values that were used last, as long as they are used. */
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

/** Calls a listener when a list differs from the one that the client was last given or told of. */
export interface ListWatch {
  /** Says that the client has the list as it is now. */
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
