import {
  HANDSHAKE_MS,
  MAX_SESSIONS,
  MAX_TIMER_MS,
  SESSION_IDLE_MS,
  SESSION_KEEP_MS,
  SESSIONS_PER_PEER,
} from '../../limits.ts'
import { PeerCounter, type PeerLimits, type Refusal } from '../../transports/http/peer-counter.ts'
import type { ServeMcpOptions } from '../contract/options.ts'

/** What the table has to know of a session. */
export interface TabledSession {
  readonly id: string
  readonly peer: string
}

/**
 * How a session is used:
 *
 * ```
 * beginning ── anything after initialize ──▶ ready
 * ready, idle ── a request begins ──▶ ready, busy ── the last one is answered ──▶ ready, idle
 * idle for too long, or in the way of another one ──▶ ended
 * ```
 */
interface Row<Session> {
  readonly session: Session
  readonly release: () => void
  readonly startedAt: number
  /** Requests under way, open streams included. */
  busy: number
  /** Whether the client has sent anything after `initialize`. */
  isReady: boolean
  usedAt: number
  timer: ReturnType<typeof setTimeout> | undefined
}

type SessionLimits = NonNullable<ServeMcpOptions['sessions']>

/**
 * Sessions within limits. A peer that wants more than its share makes room among its own sessions; where all peers together
 * want too many, those with more than a fair share do. A session is ended for another one only if it has no request and no
 * open stream, is not in the middle of its handshake, and has not been used for a while.
 */
export class SessionTable<Session extends TabledSession> {
  readonly limits: PeerLimits
  readonly #keepMs: number
  readonly #idleMs: number
  readonly #end: (session: Session) => void
  readonly #counter: PeerCounter
  /** In the order in which they were last used. */
  readonly #rows = new Map<string, Row<Session>>()

  /** `end` must close a session and remove it. */
  constructor(limits: SessionLimits, end: (session: Session) => void) {
    const { max = MAX_SESSIONS, perPeer = Math.min(max, SESSIONS_PER_PEER) } = limits
    this.limits = { max, perPeer }
    this.#keepMs = limits.keepMs ?? SESSION_KEEP_MS
    this.#idleMs = Math.min(limits.idleMs ?? SESSION_IDLE_MS, MAX_TIMER_MS)
    this.#end = end
    this.#counter = new PeerCounter(this.limits)
  }

  get all(): readonly Session[] {
    return Array.from(this.#rows.values(), ({ session }) => session)
  }

  /** The sessions with requests under way or open streams. */
  get busy(): readonly Session[] {
    return [...this.#rows.values()].filter(({ busy }) => busy > 0).map(({ session }) => session)
  }

  get(id: string): Session | undefined {
    return this.#rows.get(id)?.session
  }

  add(session: Session): void {
    const now = Date.now()
    const release = this.#counter.take(session.peer)
    const row = { session, release, startedAt: now, usedAt: now, busy: 0, isReady: false, timer: undefined }
    this.#rows.set(session.id, row)
  }

  remove(id: string): void {
    const row = this.#rows.get(id)
    if (!row) return
    clearTimeout(row.timer)
    this.#rows.delete(id)
    row.release()
  }

  /** Records that the client has sent something after `initialize`. */
  ready({ id }: Session): void {
    const row = this.#rows.get(id)
    if (row) row.isReady = true
  }

  /** Records that a request of the session begins. Call the returned function when it has been answered. */
  use({ id }: Session): () => void {
    const row = this.#rows.get(id)
    if (!row) return () => undefined
    row.busy++
    return () => {
      row.busy--
      if (row.busy > 0 || this.#rows.get(id) !== row) return
      this.#rows.delete(id)
      this.#rows.set(id, row)
      row.usedAt = Date.now()
      if (row.timer === undefined) this.#wait(row, this.#idleMs)
    }
  }

  /** Ends a session that is not used. There is one timer rather than one for each request. */
  #wait(row: Row<Session>, milliseconds: number): void {
    row.timer = setTimeout(() => {
      row.timer = undefined
      // What is under way waits again when it is done.
      if (row.busy > 0) return
      const left = row.usedAt + this.#idleMs - Date.now()
      if (left > 0) this.#wait(row, left)
      else this.#end(row.session)
    }, milliseconds)
    // A session that may come back is not a reason for a process to stay.
    row.timer.unref?.()
  }

  /**
   * Makes room for one more session of a peer, by ending one that may be ended for it. If there is none, says which limit
   * forbids one more.
   */
  makeRoom(peer: string, end: (session: Session) => void = this.#end): Refusal | undefined {
    const refusal = this.#counter.check(peer)
    if (refusal === undefined || this.#endIdlest(peer, false, end)) return undefined
    if (this.#counter.isFull(peer)) return refusal
    const greediest = this.#findGreediest(peer)
    if (greediest !== undefined && this.#endIdlest(greediest, true, end)) return undefined
    return refusal
  }

  #endIdlest(peer: string, isOverShare: boolean, end: (session: Session) => void): boolean {
    const rows = [...this.#rows.values()].filter((row) => row.session.peer === peer && this.#canEnd(row, isOverShare))
    // A session that was never used can be ended safely.
    const idlest = rows.find(({ isReady }) => !isReady) ?? rows[0]
    if (idlest) end(idlest.session)
    return idlest !== undefined
  }

  #canEnd({ busy, isReady, startedAt, usedAt }: Row<Session>, isOverShare: boolean): boolean {
    const now = Date.now()
    if (busy > 0) return false
    if (!isReady) return now - startedAt >= HANDSHAKE_MS
    return isOverShare || now - usedAt >= this.#keepMs
  }

  /** Finds the peer with the most sessions, if that is more than its share and more than the requesting peer has. */
  #findGreediest(peer: string): string | undefined {
    const { peers } = this.#counter
    const share = this.limits.max / (peers.has(peer) ? peers.size : peers.size + 1)
    let greediest: string | undefined
    let most = Math.max(share, this.#counter.count(peer) + 1)
    for (const [other, count] of peers) {
      if (other === peer || count <= most) continue
      greediest = other
      most = count
    }
    return greediest
  }
}
