import { MAX_TIMER_MS, RELIST_MS } from '../limits.ts'
import { isModern, type McpClient, type Subscription } from './client.ts'
import { onToolsChanged } from './wire.ts'

/** Announcements come in bursts, such as one for each tool that a server adds. */
const BURST_MS = 50
/** Before a subscription that ended is requested again; twice as long after each failure. */
const FIRST_PAUSE_MS = 500
const MAX_ATTEMPTS = 8
/** A list that holds for less time is requested again after this time. */
const SHORTEST_TTL_MS = 10_000

export interface WatchOptions {
  readonly client: McpClient
  /** Lists the tools again and reports changes. Returns for how long the list holds. Never rejects. */
  readonly refresh: () => Promise<number>
  readonly onError: (error: unknown) => void
  readonly signal: AbortSignal | undefined
}

export interface ToolWatch {
  /** Says that there is a first list, and for how long it holds. Changes that were announced before are acted on now. */
  start(ttlMs: number): void
  stop(): void
}

/** Watches for changes once it resolves; the list is requested again when one is announced, or when its time is over. */
export async function watchTools({ client, refresh, onError, signal }: WatchOptions): Promise<ToolWatch> {
  const end = new AbortController()
  let isStarted = false
  let isStale = false
  let isRunning = false
  let isSubscribed = false
  let lastRefresh = -Infinity
  let inARow = 0
  let burst: NodeJS.Timeout | undefined
  let expiry: NodeJS.Timeout | undefined

  const isOver = (): boolean => end.signal.aborted || client.transport === undefined
  const expire = (ttlMs: number): void => {
    clearTimeout(expiry)
    // Before MCP 2026-07-28 lists have no time, and who is subscribed hears of changes.
    if (ttlMs <= 0 || isSubscribed || isOver() || !isModern(client)) return
    expiry = quietTimer(refreshNow, Math.min(Math.max(ttlMs, SHORTEST_TTL_MS), MAX_TIMER_MS))
  }
  const refreshNow = (): void => {
    isStale = true
    if (isStarted && !isRunning) void refreshWhileStale()
  }
  const refreshWhileStale = async (): Promise<void> => {
    isRunning = true
    let ttlMs = 0
    while (isStale && !isOver()) {
      isStale = false
      ttlMs = await refresh()
    }
    isRunning = false
    expire(ttlMs)
  }
  const hear = (): void => {
    if (burst) return
    // A server that keeps announcing changes is asked less and less often.
    if (performance.now() - lastRefresh > 2 * RELIST_MS) inARow = 0
    const pauseMs = Math.min(BURST_MS * 2 ** inARow, RELIST_MS)
    burst = setTimeout(() => {
      burst = undefined
      inARow++
      lastRefresh = performance.now()
      refreshNow()
    }, pauseMs)
  }
  const stopListening = onToolsChanged(client, hear)
  const stop = (): void => {
    end.abort()
    stopListening()
    clearTimeout(burst)
    clearTimeout(expiry)
  }
  if (signal?.aborted) stop()
  signal?.addEventListener('abort', stop, { once: true })

  const keepSubscribed = async (first: Subscription): Promise<void> => {
    let subscription: Subscription | undefined = first
    while (subscription?.honoredFilter.toolsListChanged) {
      isSubscribed = true
      const how = await subscription.closed
      isSubscribed = false
      if (how === 'local' || isOver()) return
      subscription = await subscribeAgain()
      // What changed in between was announced to nobody.
      if (!isOver()) refreshNow()
    }
  }
  const subscribe = async (): Promise<Subscription> =>
    client.listen!({ toolsListChanged: true }, { signal: end.signal })
  const subscribeAgain = async (): Promise<Subscription | undefined> => {
    for (let attempt = 0; !isOver(); attempt++) {
      await pause(FIRST_PAUSE_MS * 2 ** attempt)
      try {
        if (!isOver()) return await subscribe()
      } catch (error) {
        if (attempt + 1 < MAX_ATTEMPTS) continue
        onError(error)
        return undefined
      }
    }
    return undefined
  }
  if (isModern(client) && client.listen && client.getServerCapabilities()?.tools?.listChanged) {
    const own = client.autoOpenedSubscription
    try {
      void keepSubscribed(own?.honoredFilter.toolsListChanged ? own : await subscribe())
    } catch (error) {
      onError(error)
    }
  }
  return {
    stop,
    start(ttlMs) {
      isStarted = true
      if (isStale) refreshNow()
      else expire(ttlMs)
    },
  }
}

async function pause(ms: number): Promise<void> {
  await new Promise<void>((resolve) => void quietTimer(resolve, ms))
}

/** A timer that does not keep the process alive. */
function quietTimer(run: () => void, ms: number): NodeJS.Timeout {
  const timer = setTimeout(run, ms)
  const { unref }: Partial<NodeJS.Timeout> = timer
  unref?.call(timer)
  return timer
}
