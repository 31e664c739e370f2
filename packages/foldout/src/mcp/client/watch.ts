import { isModern, type McpClient, type Subscription } from './client.ts'
import { onToolsChanged } from './wire.ts'

/** News come in bursts, such as one for each tool that a server takes in. */
const BURST_MS = 50
/** Before a subscription that ended is asked for again; twice as long after each time in vain. */
const FIRST_PAUSE_MS = 500
const MAX_ATTEMPTS = 8
/** However short a server says that a list holds, it is not asked for more often than this on that ground. */
const SHORTEST_TTL_MS = 10_000
/** Timers take no more. */
const LONGEST_TTL_MS = 2 ** 31 - 1

export interface WatchOptions {
  readonly client: McpClient
  /** Lists the tools anew and tells whoever wants to know. Gives back for how long the list holds. Never rejects. */
  readonly refresh: () => Promise<number>
  readonly onError: (error: unknown) => void
  readonly signal: AbortSignal | undefined
}

export interface ToolWatch {
  /** Says that there is a first list, which holds so long. What was heard before is acted on now. */
  start(ttlMs: number): void
  stop(): void
}

/** Hears of changes from when it resolves; the list is asked for again when one is announced, or when its time is over. */
export async function watchTools({ client, refresh, onError, signal }: WatchOptions): Promise<ToolWatch> {
  const end = new AbortController()
  let isStarted = false
  let isStale = false
  let isRunning = false
  let isSubscribed = false
  let burst: NodeJS.Timeout | undefined
  let expiry: NodeJS.Timeout | undefined

  const isOver = (): boolean => end.signal.aborted || client.transport === undefined
  const expire = (ttlMs: number): void => {
    clearTimeout(expiry)
    // Before MCP 2026-07-28 lists have no time, and who is subscribed hears of changes.
    if (ttlMs <= 0 || isSubscribed || isOver() || !isModern(client)) return
    expiry = quietTimer(refreshNow, Math.min(Math.max(ttlMs, SHORTEST_TTL_MS), LONGEST_TTL_MS))
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
    burst ??= setTimeout(() => {
      burst = undefined
      refreshNow()
    }, BURST_MS)
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

/** One that keeps no process alive, where timers could. */
function quietTimer(run: () => void, ms: number): NodeJS.Timeout {
  const timer = setTimeout(run, ms)
  const { unref }: Partial<NodeJS.Timeout> = timer
  unref?.call(timer)
  return timer
}
