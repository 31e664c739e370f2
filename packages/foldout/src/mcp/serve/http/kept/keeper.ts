import { FoldoutError } from '../../../../core/errors.ts'
import { sha256Hex } from '../../../../core/hash.ts'
import { beginSharedSession, openSharedSession, type SharedSession } from '../../../../session/stores/shared-session.ts'
import type { SessionEnd, SessionPage, SessionStore } from '../../../../session/stores/store.ts'
import { MAX_TIMER_MS, SESSION_IDLE_MS, SESSION_KEEP_MS } from '../../../limits.ts'
import type { ClientMemory, KeptClient } from '../../views/memory.ts'
import type { ServeMcpOptions } from '../../contract/options.ts'
import { clientSlice, type ClientState } from './slice.ts'

/** This process's copy of a session that is kept in a store. */
export interface KeptCopy {
  readonly shared: SharedSession
  readonly client: KeptClient
  /** Returns the local state; `shared.sync()` applies the changes of others. */
  getState(): ClientState
  /** Marks the session as in use, so nobody considers it idle. Returns whether the mark must be saved. */
  touch(): boolean
}

/** The sessions of clients, in a store that several machines share. */
export interface SessionKeeper {
  begin(id: string, begun: Omit<Parameters<typeof clientSlice.events.begun>[0], 'name'>): KeptCopy
  /** Loads a session that was begun on any machine; undefined if there is none. */
  load(id: string): Promise<KeptCopy | undefined>
  /** Ends a session on all machines. */
  end(id: string): Promise<void>
  /** Ends a session on all machines, unless one of them has used it since this machine last checked. */
  endIfUnused(id: string, copy: KeptCopy): Promise<void>
  close(): void
}

/** How often, within the idle time of a session, its users mark it as used and idle sessions are searched for. */
const SIGNS_OF_LIFE = 4
const PAGE = 500

export function createSessionKeeper(options: ServeMcpOptions): SessionKeeper | undefined {
  const { store, namespace = options.name, slices = [], idleMs = SESSION_IDLE_MS } = options.sessions ?? {}
  if (!store) return undefined
  const prefix = `mcp/${encodeURIComponent(namespace)}/`
  // The id is a secret, which a reader of the store must not learn.
  const toKey = (id: string): string => `${prefix}${sha256Hex(id)}`
  const open = (id: string) => ({ store, id: toKey(id), slices: [clientSlice, ...slices] })
  const signMs = Math.min(idleMs / SIGNS_OF_LIFE, options.sessions?.keepMs ?? SESSION_KEEP_MS)
  const sweep = createSweep(store, prefix, idleMs)
  const timer = setInterval(
    () => void sweep().catch((error: unknown) => options.onError?.(error as Error)),
    Math.min(Math.max(idleMs / SIGNS_OF_LIFE, 10), MAX_TIMER_MS),
  )
  timer.unref?.()

  return {
    begin(id, begun) {
      const shared = beginSharedSession(open(id))
      shared.session.dispatch(clientSlice.events.begun({ ...begun, name: crypto.randomUUID() }))
      return createCopy(shared, signMs)
    },
    async load(id) {
      try {
        const shared = await openSharedSession(open(id))
        return shared && createCopy(shared, signMs)
      } catch (error) {
        if (!isUnreadable(error)) throw error
        // Another version of the server wrote it, so the client has to start over.
        options.onError?.(error as Error)
        return undefined
      }
    },
    end: (id) => store.delete(toKey(id)),
    async endIfUnused(id, { shared }) {
      const known = shared.sequence
      await shared.sync()
      if (shared.sequence === known) await store.delete(toKey(id))
    },
    close: () => clearInterval(timer),
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof FoldoutError && (error.code.startsWith('snapshot-') || error.code === 'store-corrupt')
}

function createCopy(shared: SharedSession, signMs: number): KeptCopy {
  const { session } = shared
  const getState = (): ClientState => session.get(clientSlice)
  let lastSign = performance.now()
  return {
    shared,
    getState,
    client: { name: getState().name, session, memory: createKeptMemory(shared) },
    touch() {
      if (performance.now() - lastSign < signMs) return false
      lastSign = performance.now()
      session.dispatch(clientSlice.events.used())
      return true
    },
  }
}

function createKeptMemory({ session }: SharedSession): ClientMemory {
  const getState = (): ClientState => session.get(clientSlice)
  const { events } = clientSlice
  return {
    get joined() {
      return getState().joined
    },
    get logLevel() {
      return getState().logLevel ?? undefined
    },
    get watched() {
      return getState().watched
    },
    join: (tool) => session.dispatch(events.joined(tool)),
    setLogLevel: (level) => session.dispatch(events.leveled(level)),
    watch: (uri) => session.dispatch(events.watched(uri)),
    unwatch: (uri) => session.dispatch(events.unwatched(uri)),
  }
}

/** Where a session ended, and since when, by the clock of this machine. */
interface Seen {
  readonly last: number
  readonly since: number
}

async function listEnds(store: SessionStore, page: SessionPage): Promise<readonly SessionEnd[]> {
  if (store.listEnds) return store.listEnds(page)
  const ends: SessionEnd[] = []
  for (const id of await store.list(page)) ends.push({ id, last: await readEnd(store, id) })
  return ends
}

async function readEnd(store: SessionStore, id: string): Promise<number> {
  const stored = await store.load(id)
  return stored?.events.at(-1)?.sequence ?? stored?.sequence ?? 0
}

/**
 * Ends sessions that no machine has used for a while. A session that is used gets an event now and then, so one whose journal has
 * not changed for as long, by the clock of this machine alone, is idle. Clocks of machines are not compared.
 */
function createSweep(store: SessionStore, prefix: string, idleMs: number): () => Promise<void> {
  let known = new Map<string, Seen>()
  let isSweeping = false
  async function look({ id, last }: SessionEnd, now: number): Promise<Seen | undefined> {
    const before = known.get(id)
    if (before?.last !== last) return { last, since: now }
    if (now - before.since < idleMs) return before
    // It may have been used since the page was read.
    if ((await readEnd(store, id)) === last) await store.delete(id)
    return undefined
  }
  return async () => {
    if (isSweeping) return
    isSweeping = true
    try {
      const seen: typeof known = new Map()
      for (let after: string | undefined = prefix; after !== undefined;) {
        const page: readonly SessionEnd[] = await listEnds(store, { after, limit: PAGE })
        const own = page.filter(({ id }) => id.startsWith(prefix))
        for (const end of own) {
          const state = await look(end, performance.now())
          if (state) seen.set(end.id, state)
        }
        if (own.length === PAGE) after = own.at(-1)?.id
        else after = undefined
      }
      known = seen
    } finally {
      isSweeping = false
    }
  }
}
