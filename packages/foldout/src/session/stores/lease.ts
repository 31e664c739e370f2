import type { SessionLease, SessionStore } from './store.ts'
import { FoldoutError } from '../../core/errors.ts'

/**
 * How a run holds the lease of its session.
 *
 * @example
 * ```ts
 * const lease: LeaseOptions = { ifHeld: 'wait' }
 * await runAgent(bound, { adapter, session, lease, input: 'Go.' })
 * ```
 */
export interface LeaseOptions {
  /** How long the process may be silent before another may take over its run, in milliseconds. Default 10,000. */
  readonly ms?: number
  /**
   * What to do if another process holds the lease. `'refuse'` rejects the run with the code `run-busy` once the other
   * process has shown that it lives, and takes over if it has not for as long as its lease says. `'wait'` waits until
   * the other run has ended, too. `'take'` takes the lease without waiting, for engines that know that the other
   * process is dead. Default `'refuse'`.
   */
  readonly ifHeld?: 'refuse' | 'wait' | 'take'
}

/** A lease that is held. */
export interface HeldLease {
  /** Whether somebody else held the lease first, so the session may have changed since it was opened. */
  readonly isTaken: boolean
  /** Lets others have the session. */
  release(): Promise<void>
}

export interface LeaseRequest extends LeaseOptions {
  readonly store: SessionStore
  readonly id: string
  /** Ends the wait for the lease. */
  readonly signal: AbortSignal
  /** Called once if another process has taken the lease. */
  readonly onLost: (error: FoldoutError) => void
  /** Waits, or returns early when the signal aborts. Default: with a timer. */
  readonly pause?: Pause
}

export type Pause = (ms: number, signal: AbortSignal, isBackground: boolean) => Promise<void>

const DEFAULT_LEASE_MS = 10_000
/** The holder beats this many times in the time of its lease, and others look as often. */
const BEATS = 5

/**
 * Takes the lease of a session and renews it until it is released. Whether a holder is alive is judged by looking
 * whether its beat changes, so clocks need not agree, and a process that was suspended while it looked does not count
 * the time it was away.
 */
export async function holdLease(request: LeaseRequest): Promise<HeldLease> {
  const { store, id, ms = DEFAULT_LEASE_MS } = request
  const owner = crypto.randomUUID()
  let mine: SessionLease = { owner, beat: 1, ms }
  const isTaken = await acquire(request, mine)
  const ended = new AbortController()
  const renew = async (): Promise<boolean> => {
    const next = { ...mine, beat: mine.beat + 1 }
    const held = await store.swapLease(id, mine, next)
    // The answer to an earlier renewal may have been lost, so the owner counts and not the beat.
    if (held?.owner === owner) mine = held
    return held?.owner === owner
  }
  const beating = keepBeating(request, renew, { ms, signal: ended.signal })
  return {
    isTaken,
    async release() {
      ended.abort()
      await beating
      await store.swapLease(id, mine, undefined)
    },
  }
}

/** Renews a lease until it is released or lost. A store that is away for a moment does not end the run. */
async function keepBeating(
  { id, onLost, pause = pauseWithTimer }: LeaseRequest,
  renew: () => Promise<boolean>,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
): Promise<void> {
  for (;;) {
    await pause(ms / BEATS, signal, true)
    if (signal.aborted) return
    // A renewal that fails is tried again with the next beat; the session's journal refuses writes of two runs anyway.
    if (await renew().catch(() => true)) continue
    onLost(createLostError(id))
    return
  }
}

/** Returns once the lease is held, with whether somebody else held it first. */
async function acquire(request: LeaseRequest, mine: SessionLease): Promise<boolean> {
  const { store, id, signal, ifHeld = 'refuse', pause = pauseWithTimer } = request
  let known: SessionLease | undefined
  let isTaken = false
  for (let looks = 0; ; looks++) {
    const canTake = known === undefined || ifHeld === 'take' || looks > BEATS
    const held = await store.swapLease(id, canTake ? known : mine, mine)
    if (held?.owner === mine.owner) return isTaken
    isTaken = true
    if (!isSameLease(held, known)) {
      if (known && held && ifHeld === 'refuse') throw createBusyError(id)
      looks = 0
    }
    known = held
    if (held === undefined || ifHeld === 'take') continue
    await pause(held.ms / BEATS, signal, false)
    signal.throwIfAborted()
  }
}

/**
 * Whether two leases are the same: by the same owner, at the same beat. Use it in custom stores.
 *
 * @example
 * ```ts
 * isSameLease({ owner: 'a', beat: 1, ms: 1000 }, { owner: 'a', beat: 2, ms: 1000 }) // => false
 * ```
 */
export function isSameLease(one: SessionLease | undefined, other: SessionLease | undefined): boolean {
  return one?.owner === other?.owner && one?.beat === other?.beat
}

function createBusyError(id: string): FoldoutError {
  return new FoldoutError(
    'run-busy',
    `Another process has a live run on the session '${id}', which goes on. Wait for it (lease: { ifHeld: 'wait' }) or cancel it there, or give each run its own session.`,
  )
}

function createLostError(id: string): FoldoutError {
  return new FoldoutError(
    'lease-lost',
    `Another process has taken over the run on the session '${id}', or has deleted the session, because this process did not renew its lease in time. This process has stopped, and can write no more. Open the session again to see how the run went on.`,
  )
}

const pauseWithTimer: Pause = (ms, signal, isBackground) =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    // Renewing alone is no reason for a process to live on.
    if (isBackground && typeof timer === 'object') timer.unref()
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
