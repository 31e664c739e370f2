/** A signal that follows another until it is released. Older clients listen to one for as long as it lives, so each request gets its own. */
export function following(signal: AbortSignal | undefined): { readonly signal: AbortSignal; release(): void } {
  const follower = new AbortController()
  const abort = (): void => follower.abort(signal?.reason)
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  return { signal: follower.signal, release: () => signal?.removeEventListener('abort', abort) }
}
