import {
  HANDSHAKE_MS,
  MAX_SESSIONS,
  MAX_TIMER_MS,
  SESSION_IDLE_MS,
  SESSION_KEEP_MS,
  SESSIONS_PER_PEER,
} from '../../limits.ts'
import type { ServeMcpOptions } from '../options.ts'
import { PeerCounter, type PeerLimits, type Refusal } from './peer.ts'

/** The table's information about a session. */
export interface SessionUse {
  readonly peer: string
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
export class SessionTable<Session extends SessionUse> {
  readonly limits: PeerLimits
  readonly #keepMs: number
  readonly #idleMs: number
  readonly #end: (session: Session) => void
  readonly #counter: PeerCounter
  /** In the order in which they were last used. */
  readonly #sessions = new Map<string, { readonly session: Session; readonly release: () => void }>()

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
    return Array.from(this.#sessions.values(), ({ session }) => session)
  }

  get(id: string): Session | undefined {
    return this.#sessions.get(id)?.session
  }

  add(id: string, session: Session): void {
    this.#sessions.set(id, { session, release: this.#counter.take(session.peer) })
  }

  remove(id: string): void {
    const kept = this.#sessions.get(id)
    if (!kept) return
    clearTimeout(kept.session.timer)
    this.#sessions.delete(id)
    kept.release()
  }

  /** Records that a request of the session begins. Call the returned function when it has been answered. */
  use(id: string, session: Session): () => void {
    session.busy++
    return () => {
      session.busy--
      const kept = this.#sessions.get(id)
      if (session.busy > 0 || kept?.session !== session) return
      this.#sessions.delete(id)
      this.#sessions.set(id, kept)
      session.usedAt = Date.now()
      if (session.timer === undefined) this.#wait(session, this.#idleMs)
    }
  }

  /** Ends a session that is not used. There is one timer rather than one for each request. */
  #wait(session: Session, milliseconds: number): void {
    session.timer = setTimeout(() => {
      session.timer = undefined
      // What is under way waits again when it is done.
      if (session.busy > 0) return
      const left = session.usedAt + this.#idleMs - Date.now()
      if (left > 0) this.#wait(session, left)
      else this.#end(session)
    }, milliseconds)
    // A session that may come back is not a reason for a process to stay.
    session.timer.unref?.()
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
    return greediest !== undefined && this.#endIdlest(greediest, true, end) ? undefined : refusal
  }

  #endIdlest(peer: string, isOverShare: boolean, end: (session: Session) => void): boolean {
    let idlest: Session | undefined
    for (const { session } of this.#sessions.values()) {
      if (session.peer !== peer || !this.#canEnd(session, isOverShare)) continue
      // A session that was never used can be ended safely.
      if (!session.isReady) {
        idlest = session
        break
      }
      idlest ??= session
    }
    if (!idlest) return false
    end(idlest)
    return true
  }

  #canEnd({ busy, isReady, startedAt, usedAt }: Session, isOverShare: boolean): boolean {
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
