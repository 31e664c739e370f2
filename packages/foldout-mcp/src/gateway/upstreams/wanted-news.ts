import { ignore } from 'foldout/promises'
import type { CallContext } from 'foldout/catalog'
import type { Snapshot } from '../model/snapshot.ts'
import { DEFAULT_LEVEL, isSevere } from './asking/callers.ts'
import type { Connection } from './connection.ts'
import type { UpstreamPool } from './upstream-pool.ts'
import type { UseContext } from './uses.ts'

/** What clients want to hear from a server: changes of resources, and logs. Every new connection to the server is told. */
export class WantedNews {
  /** The least severe level that the server logs; undefined if nobody has set one. */
  logLevel: string | undefined
  /** The watched resources, with the number of watchers. */
  readonly #watched = new Map<string, number>()

  get isWatching(): boolean {
    return this.#watched.size > 0
  }

  isWatched(uri: string): boolean {
    return this.#watched.has(uri)
  }

  watch(uri: string): void {
    this.#watched.set(uri, (this.#watched.get(uri) ?? 0) + 1)
  }

  unwatch(uri: string): void {
    const left = (this.#watched.get(uri) ?? 0) - 1
    if (left > 0) this.#watched.set(uri, left)
    else this.#watched.delete(uri)
  }

  /** Tells a connection, before anything else uses it. */
  async tell({ session, snapshot, subscriptions }: Connection): Promise<void> {
    for (const uri of this.#watched.keys())
      await ignore(subscriptions.watch(uri), 'the other resources are still watched')
    const level = this.logLevel
    if (level === undefined || snapshot.era === 'modern' || !('logging' in snapshot.capabilities)) return
    await session.request('logging/setLevel', { level })
  }
}

/** A use of the server for no client. */
export const OWN: UseContext = { isOwn: true }

/** Tells the processes of a server at which level they log. */
export class LogLevels {
  readonly #wanted: WantedNews
  readonly #upstreams: UpstreamPool
  readonly #getSnapshot: () => Snapshot | undefined

  constructor(wanted: WantedNews, upstreams: UpstreamPool, getSnapshot: () => Snapshot | undefined) {
    this.#wanted = wanted
    this.#upstreams = upstreams
    this.#getSnapshot = getSnapshot
  }

  /** Sets the least severe level that the server logs. */
  async set(level: string): Promise<void> {
    this.#wanted.logLevel = level
    const running = this.#upstreams.listRunning()
    await Promise.allSettled(
      running.map((upstream) => upstream.use((connection) => this.#wanted.tell(connection), OWN)),
    )
  }

  /**
   * Makes a legacy server log at the level a tool's caller wants. Other clients do not get the extra messages. A legacy client that has
   * set no level gets what the server logs by default, unless the server was told a level.
   */
  async want({ era, logLevel }: NonNullable<CallContext['peer']>): Promise<void> {
    const told = this.#wanted.logLevel
    const isDefault = era === 'legacy' && logLevel === undefined && told !== undefined
    if (!isDefault && logLevel === undefined) return
    const level = logLevel ?? DEFAULT_LEVEL
    const snapshot = this.#getSnapshot()
    if (snapshot?.era === 'modern' || !('logging' in (snapshot?.capabilities ?? {}))) return
    if (told === undefined || !isSevere(level, told)) await this.set(level)
  }
}
