import {
  HANDSHAKE_MS,
  MAX_SESSIONS,
  MAX_TIMER_MS,
  SESSION_IDLE_MS,
  SESSION_KEEP_MS,
  SESSIONS_PER_PEER,
} from '../../limits.ts'
import type { ServeMcpOptions } from '../options.ts'
import { PeerCounter, type Refusal } from './peer.ts'

/** What the table knows of a session. */
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

export interface SessionTable<Session extends SessionUse> {
  get(id: string): Session | undefined
  /**
   * Makes room for one more session of a peer, by ending one that may be ended for it. Gives back which limit forbids it, if
   * there is none.
   */
  makeRoom(peer: string): Refusal | undefined
  add(id: string, session: Session): void
  remove(id: string): void
  /** Says that a request of the session begins. Call what it returns when it has been answered. */
  use(id: string, session: Session): () => void
  readonly all: Iterable<Session>
  readonly limits: { readonly max: number; readonly perPeer: number }
}

/**
 * Sessions within limits. A peer that wants more than its share makes room among its own sessions; where all peers together
 * want too many, those with more than a fair share do. A session is ended for another one only if it has no request and no
 * open stream, is not in the middle of its handshake, and has not been used for a while.
 */
export function createSessionTable<Session extends SessionUse>(
  {
    max = MAX_SESSIONS,
    perPeer,
    keepMs = SESSION_KEEP_MS,
    idleMs = SESSION_IDLE_MS,
  }: NonNullable<ServeMcpOptions['sessions']>,
  end: (session: Session) => void,
): SessionTable<Session> {
  const limits = { max, perPeer: perPeer ?? Math.min(max, SESSIONS_PER_PEER) }
  const counter = new PeerCounter(limits)
  // In the order in which they were last used.
  const sessions = new Map<string, { readonly session: Session; readonly release: () => void }>()

  function canEnd({ busy, isReady, startedAt, usedAt }: Session, isOverShare: boolean): boolean {
    const now = Date.now()
    if (busy > 0) return false
    if (!isReady) return now - startedAt >= HANDSHAKE_MS
    return isOverShare || now - usedAt >= keepMs
  }
  function endIdlest(peer: string, isOverShare: boolean): boolean {
    let idlest: Session | undefined
    for (const { session } of sessions.values()) {
      if (session.peer !== peer || !canEnd(session, isOverShare)) continue
      // One that was never used is missed by nobody.
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
  function findGreediest(peer: string): string | undefined {
    const share = max / (counter.peers.size + (counter.count(peer) > 0 ? 0 : 1))
    let greediest: string | undefined
    let most = Math.max(share, counter.count(peer) + 1)
    for (const [other, count] of counter.peers) {
      if (other === peer || count <= most) continue
      greediest = other
      most = count
    }
    return greediest
  }

  return {
    limits,
    get: (id) => sessions.get(id)?.session,
    makeRoom(peer) {
      const refusal = counter.check(peer)
      if (refusal === undefined || endIdlest(peer, false)) return undefined
      if (counter.isFull(peer)) return refusal
      const greediest = findGreediest(peer)
      return greediest !== undefined && endIdlest(greediest, true) ? undefined : refusal
    },
    add(id, session) {
      sessions.set(id, { session, release: counter.take(session.peer) })
    },
    remove(id) {
      const kept = sessions.get(id)
      if (!kept) return
      clearTimeout(kept.session.timer)
      sessions.delete(id)
      kept.release()
    },
    use(id, session) {
      clearTimeout(session.timer)
      session.busy++
      return () => {
        session.busy--
        const kept = sessions.get(id)
        if (session.busy > 0 || kept?.session !== session) return
        sessions.delete(id)
        sessions.set(id, kept)
        session.usedAt = Date.now()
        session.timer = setTimeout(() => end(session), Math.min(idleMs, MAX_TIMER_MS))
        // A session that may come back is not a reason for a process to stay.
        session.timer.unref?.()
      }
    },
    get all() {
      return Array.from(sessions.values(), ({ session }) => session)
    },
  }
}
