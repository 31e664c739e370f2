import { ignore } from 'foldout/promises'
import type { CallContext } from 'foldout/catalog'
import type { Snapshot } from '../model/snapshot.ts'
import { DEFAULT_LEVEL, isSevere } from './asking/callers.ts'
import type { Connection } from './connection.ts'
import type { Upstream } from './upstream.ts'
import type { UseContext } from './uses.ts'

/** The server whose news are wanted. */
export interface NewsSource {
  getSnapshot(): Snapshot | undefined
  /** Runs work on the process of a client. */
  use(work: (connection: Connection) => Promise<void>, context: UseContext): Promise<void>
}

/** A use of the server for no client. */
const OWN: UseContext = { isOwn: true }

/** What clients want to hear from a server: changes of resources, and logs. Every new connection to the server is told. */
export class WantedNews {
  readonly #upstreams: { listRunning(): readonly Upstream[] }
  readonly #source: NewsSource
  #logLevel: string | undefined
  /** The watched resources, with the number of watchers. */
  readonly #watched = new Map<string, number>()

  constructor(upstreams: { listRunning(): readonly Upstream[] }, source: NewsSource) {
    this.#upstreams = upstreams
    this.#source = source
  }

  /** The least severe level that the server logs; undefined if nobody has set one. */
  get logLevel(): string | undefined {
    return this.#logLevel
  }

  get isWatching(): boolean {
    return this.#watched.size > 0
  }

  /** Watches a resource until nobody needs it, even across restarts of the server. */
  async watch(uri: string, context: UseContext): Promise<void> {
    this.#watched.set(uri, (this.#watched.get(uri) ?? 0) + 1)
    try {
      await this.#source.use(({ subscriptions }) => subscriptions.watch(uri), context)
    } catch (error) {
      this.#leave(uri)
      throw error
    }
  }

  async unwatch(uri: string): Promise<void> {
    this.#leave(uri)
    if (!this.#watched.has(uri)) await this.#tellAll(({ subscriptions }) => subscriptions.unwatch(uri))
  }

  #leave(uri: string): void {
    const left = (this.#watched.get(uri) ?? 0) - 1
    if (left > 0) this.#watched.set(uri, left)
    else this.#watched.delete(uri)
  }

  /** Tells a connection, before anything else uses it. */
  async tell({ session, snapshot, subscriptions }: Connection): Promise<void> {
    for (const uri of this.#watched.keys())
      await ignore(subscriptions.watch(uri), 'the other resources are still watched')
    const level = this.#logLevel
    if (level === undefined || snapshot.era === 'modern' || !('logging' in snapshot.capabilities)) return
    await session.request('logging/setLevel', { level })
  }

  /** Sets the least severe level that the server logs. */
  async setLogLevel(level: string): Promise<void> {
    this.#logLevel = level
    await ignore(
      this.#tellAll((connection) => this.tell(connection)),
      'a new connection is told again',
    )
  }

  /**
   * Makes a legacy server log at the level a tool's caller wants. Other clients do not get the extra messages. A legacy client that has
   * set no level gets what the server logs by default, unless the server was told a level.
   */
  async wantLogs({ era, logLevel }: NonNullable<CallContext['peer']>): Promise<void> {
    const told = this.#logLevel
    const isDefault = era === 'legacy' && logLevel === undefined && told !== undefined
    if (!isDefault && logLevel === undefined) return
    const level = logLevel ?? DEFAULT_LEVEL
    const snapshot = this.#source.getSnapshot()
    if (snapshot?.era === 'modern' || !('logging' in (snapshot?.capabilities ?? {}))) return
    if (told === undefined || !isSevere(level, told)) await this.setLogLevel(level)
  }

  async #tellAll(work: (connection: Connection) => Promise<void>): Promise<void> {
    await Promise.all(this.#upstreams.listRunning().map((upstream) => upstream.use(work, OWN)))
  }
}
