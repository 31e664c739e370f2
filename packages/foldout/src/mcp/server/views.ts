import { FoldoutError } from '../../core/errors.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import { all } from '../../catalog/exposures/all.ts'
import { auto } from '../../catalog/exposures/auto.ts'
import type { Exposed } from '../../catalog/exposures/exposure.ts'
import { createSession, type Session } from '../../session/session.ts'
import type { ClientIdentity, ServedClient } from './client.ts'
import { isSameList } from './list.ts'
import type { ServeMcpOptions } from './options.ts'
import { serveSections, type SectionLibrary } from './sections/sections.ts'

/** What a client is served. */
export interface ClientView {
  readonly client: ServedClient
  readonly exposed: Exposed
  readonly session: Session
  readonly instructions: string
  /** The sections as resources and as a prompt, if there are any. */
  readonly library: SectionLibrary | undefined
}

/** A view for each client that has a session, and one for all that have none. */
export interface ClientViews {
  legacy(identity: ClientIdentity): ClientView
  modern(identity: ClientIdentity): ClientView
  /** Every view that a modern client may get. */
  readonly everyModern: readonly ClientView[]
}

export function createViews(catalog: Catalog, options: ServeMcpOptions): ClientViews {
  const { expose = auto(), everything = false } = options
  checkOptions(options)
  expose.check?.(catalog)
  const sections = options.prompt && serveSections(options.prompt, catalog)
  let clients = 0
  // The list must not depend on the connection there, so whoever is served alike shares what is served.
  const shared = new Map<boolean, ClientView>()
  let sharedSession: Session | undefined

  const wantsEverything = (client: ServedClient): boolean =>
    typeof everything === 'function' ? everything(client) : everything

  function view(client: ServedClient, session: Session, isEverything: boolean): ClientView {
    const exposure = isEverything ? all() : expose
    const inner = exposure.expose(catalog, { id: client.id, takesListChanges: client.era === 'legacy' })
    const served = sections?.forClient(inner, { client, session, isEverything, catalog })
    const exposed = served?.exposed ?? inner
    return {
      client,
      exposed,
      session,
      get instructions() {
        return [options.instructions, exposed.instructions].filter((text) => text).join('\n\n')
      },
      library: served?.library,
    }
  }

  function modern(isEverything: boolean): ClientView {
    const known = shared.get(isEverything)
    if (known) return known
    const client: ServedClient = { id: STATELESS, era: 'modern', name: undefined, version: undefined }
    sharedSession ??= options.session?.(client) ?? createSession()
    const made = view(client, sharedSession, isEverything)
    shared.set(isEverything, made)
    return made
  }

  return {
    legacy(identity) {
      const client: ServedClient = { id: `client-${++clients}`, era: 'legacy', ...identity }
      return view(client, options.session?.(client) ?? createSession(), wantsEverything(client))
    },
    modern: (identity) => modern(wantsEverything({ id: STATELESS, era: 'modern', ...identity })),
    get everyModern() {
      return (typeof everything === 'function' ? [false, true] : [everything]).map(modern)
    },
  }
}

const STATELESS = 'stateless'

function checkOptions({ name, version, pageSize }: ServeMcpOptions): void {
  if (typeof name !== 'string' || name === '' || typeof version !== 'string' || version === '')
    throw new FoldoutError('mcp-options', 'An MCP server needs a name and a version, which its clients are told.')
  if (pageSize !== undefined && !(Number.isInteger(pageSize) && pageSize > 0))
    throw new FoldoutError('mcp-options', `A page of ${pageSize} tools cannot be. Give pageSize a whole number from 1.`)
}

/** Calls a listener when a list is another than the client was last given or told of. */
export interface ListWatch {
  /** Says that the client has the list as it is now. */
  given(): void
  stop(): void
}

export function watchList(exposed: Exposed, onChange: () => void): ListWatch {
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
