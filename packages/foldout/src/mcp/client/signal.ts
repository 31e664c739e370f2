import { toTimerMs } from '../../core/timer.ts'
import { ProtocolError } from '../protocol/errors.ts'

/** A signal that follows another until it is released. */
export interface Follower {
  readonly signal: AbortSignal
  release(): void
}

/** Follows a signal, so that listeners that nothing removes do not stay on a signal that lives long. */
export function createFollower(signal: AbortSignal | undefined): Follower {
  const { follower, release } = follow(signal)
  return { signal: follower.signal, release }
}

/** Follows a signal, and aborts by itself after a time. */
export function createDeadline(signal: AbortSignal | undefined, ms: number): Follower {
  const { follower, release } = follow(signal)
  const why = new ProtocolError('OVERDUE', 'It took too long.')
  const timer = setTimeout(() => follower.abort(why), toTimerMs(Math.max(0, ms)))
  return {
    signal: follower.signal,
    release() {
      clearTimeout(timer)
      release()
    },
  }
}

function follow(signal: AbortSignal | undefined): { readonly follower: AbortController; release(): void } {
  const follower = new AbortController()
  const abort = (): void => follower.abort(signal?.reason)
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  return { follower, release: () => signal?.removeEventListener('abort', abort) }
}
