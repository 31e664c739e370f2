/** A signal that follows another until it is released. */
export interface Follower {
  readonly signal: AbortSignal
  abort(): void
  release(): void
}

/** Older clients listen to a signal for as long as it lives, so each request gets its own. */
export function createFollower(signal: AbortSignal | undefined): Follower {
  const follower = new AbortController()
  const abort = (): void => follower.abort(signal?.reason)
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  return { signal: follower.signal, abort, release: () => signal?.removeEventListener('abort', abort) }
}
