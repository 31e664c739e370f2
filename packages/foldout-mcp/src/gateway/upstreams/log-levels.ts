import type { CallContext } from 'foldout/catalog'
import { DEFAULT_LEVEL, isSevere } from './callers.ts'
import type { Snapshot } from './snapshot.ts'
import type { WantedNews } from './subscriptions.ts'
import type { UpstreamPool } from './upstream-pool.ts'
import type { UseContext } from './uses.ts'

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
   * set no level gets what the server logs by default, unless the server was told a level. Undefined if there is nothing to wait for.
   */
  want({ era, logLevel }: NonNullable<CallContext['peer']>): Promise<void> | undefined {
    const told = this.#wanted.logLevel
    const isDefault = era === 'legacy' && logLevel === undefined && told !== undefined
    if (!isDefault && logLevel === undefined) return undefined
    const level = logLevel ?? DEFAULT_LEVEL
    const snapshot = this.#getSnapshot()
    if (snapshot?.era === 'modern' || !('logging' in (snapshot?.capabilities ?? {}))) return undefined
    return told !== undefined && isSevere(level, told) ? undefined : this.set(level)
  }
}
