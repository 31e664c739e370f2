import { MAX_TIMER_MS, RELIST_MS } from '../limits.ts'
import { announcesChanges, type McpSession, type McpSubscription } from '../client/session.ts'

/** Announcements come in bursts, such as one for each tool that a server adds. */
const BURST_MS = 50
/** The pause before an ended subscription is requested again; doubled after each failure. */
const FIRST_PAUSE_MS = 500
const MAX_ATTEMPTS = 8
/** The minimum time between requests for a list, even if it expires sooner. */
const SHORTEST_TTL_MS = 10_000

export interface WatchOptions {
  readonly session: McpSession
  /** Lists the tools again and reports changes. Returns how long the list stays valid. Never rejects. */
  readonly refresh: () => Promise<number>
  readonly onError: (error: unknown) => void
  readonly signal: AbortSignal | undefined
}

export interface ToolWatch {
  /**
   * Starts with the first list, which stays valid for this time. Changes that were already announced are handled now.
   */
  start(ttlMs: number): void
  stop(): void
}

/**
 * Watches for changes once it resolves; the list is requested again when a change is announced, or when the list
 * expires.
 */
export async function watchTools(options: WatchOptions): Promise<ToolWatch> {
  const watcher = new ToolWatcher(options)
  await watcher.subscribe()
  return watcher
}

class ToolWatcher implements ToolWatch {
  readonly #options: WatchOptions
  readonly #end = new AbortController()
  readonly #stopListening: () => void
  #isStarted = false
  #isStale = false
  #isRunning = false
  #isSubscribed = false
  #lastRefresh = -Infinity
  /** How many announcements were handled in quick succession. */
  #inARow = 0
  #burst: NodeJS.Timeout | undefined
  #expiry: NodeJS.Timeout | undefined

  constructor(options: WatchOptions) {
    const { session, signal } = options
    this.#options = options
    this.#stopListening = session.onNotification((method) => {
      if (method === 'notifications/tools/list_changed') this.#hear()
    })
    if (signal?.aborted) this.stop()
    signal?.addEventListener('abort', () => this.stop(), { once: true })
  }

  start(ttlMs: number): void {
    this.#isStarted = true
    if (this.#isStale) this.#refreshNow()
    else this.#expire(ttlMs)
  }

  stop(): void {
    this.#end.abort()
    this.#stopListening()
    clearTimeout(this.#burst)
    clearTimeout(this.#expiry)
  }

  /** Asks a modern server to announce changes. A legacy one does so on its own. */
  async subscribe(): Promise<void> {
    const { session, onError } = this.#options
    if (session.era === 'legacy' || !announcesChanges(session, 'tools')) return
    try {
      void this.#keepSubscribed(await this.#listen())
    } catch (error) {
      onError(error)
    }
  }

  get #isOver(): boolean {
    return this.#end.signal.aborted || !this.#options.session.isConnected
  }

  #expire(ttlMs: number): void {
    clearTimeout(this.#expiry)
    // Before MCP 2026-07-28, lists have no lifetime, and a subscribed client is notified of changes.
    if (ttlMs <= 0 || this.#isSubscribed || this.#isOver || this.#options.session.era === 'legacy') return
    const waitMs = Math.min(Math.max(ttlMs, SHORTEST_TTL_MS), MAX_TIMER_MS)
    this.#expiry = startQuietTimer(() => this.#refreshNow(), waitMs)
  }

  #refreshNow(): void {
    this.#isStale = true
    if (this.#isStarted && !this.#isRunning) void this.#refreshWhileStale()
  }

  async #refreshWhileStale(): Promise<void> {
    this.#isRunning = true
    let ttlMs = 0
    while (this.#isStale && !this.#isOver) {
      this.#isStale = false
      ttlMs = await this.#options.refresh()
    }
    this.#isRunning = false
    this.#expire(ttlMs)
  }

  #hear(): void {
    if (this.#burst) return
    // A server that keeps announcing changes is listed less and less often.
    if (performance.now() - this.#lastRefresh > 2 * RELIST_MS) this.#inARow = 0
    const pauseMs = Math.min(BURST_MS * 2 ** this.#inARow, RELIST_MS)
    this.#burst = setTimeout(() => {
      this.#burst = undefined
      this.#inARow++
      this.#lastRefresh = performance.now()
      this.#refreshNow()
    }, pauseMs)
  }

  async #keepSubscribed(first: McpSubscription): Promise<void> {
    let subscription: McpSubscription | undefined = first
    while (subscription?.honored['toolsListChanged']) {
      this.#isSubscribed = true
      const how = await subscription.closed
      this.#isSubscribed = false
      if (how === 'local' || this.#isOver) return
      subscription = await this.#subscribeAgain()
      // Changes in between were not announced.
      if (!this.#isOver) this.#refreshNow()
    }
  }

  async #subscribeAgain(): Promise<McpSubscription | undefined> {
    for (let attempt = 0; !this.#isOver; attempt++) {
      await pause(FIRST_PAUSE_MS * 2 ** attempt)
      try {
        if (!this.#isOver) return await this.#listen()
      } catch (error) {
        if (attempt + 1 < MAX_ATTEMPTS) continue
        this.#options.onError(error)
        return undefined
      }
    }
    return undefined
  }

  #listen(): Promise<McpSubscription> {
    return this.#options.session.listen({ toolsListChanged: true }, { signal: this.#end.signal })
  }
}

async function pause(ms: number): Promise<void> {
  await new Promise<void>((resolve) => void startQuietTimer(resolve, ms))
}

/** A timer that does not keep the process alive. */
function startQuietTimer(run: () => void, ms: number): NodeJS.Timeout {
  const timer = setTimeout(run, ms)
  const { unref }: Partial<NodeJS.Timeout> = timer
  unref?.call(timer)
  return timer
}
