import { FOLLOW_MS, FOLLOWED_PER_SECOND, LETTER_MS } from '../../../limits.ts'
import { Mailbox } from './mailbox.ts'
import type { KeptCopy } from './keeper.ts'

/** The part of a session that other machines may have as well. */
export class KeptSession {
  readonly copy: KeptCopy
  readonly mailbox: Mailbox
  /** When this process last checked for changes by others. */
  lookedAt = performance.now()
  readonly #report: (error: unknown) => void

  constructor(copy: KeptCopy, report: (error: unknown) => void) {
    this.copy = copy
    this.mailbox = new Mailbox(copy)
    this.#report = report
  }

  /** Saves the changes. A call that has run is answered in any case; changes that could not be saved are saved later. */
  async save(): Promise<void> {
    try {
      await this.copy.shared.save()
    } catch (error) {
      if (!this.copy.shared.isGone) this.#report(error)
    }
  }
}

export interface FollowOptions<Session> {
  /** The sessions with activity on this machine. */
  getBusy(): readonly Session[]
  /** Applies the changes of other machines to a session. */
  catchUp(session: Session): Promise<unknown>
  report(error: unknown): void
}

/**
 * Polls the sessions with activity on this machine: a stream that receives news, a call that may be cancelled through
 * another machine, a question whose answer may reach another machine.
 */
export function followSessions<Session extends { readonly kept: KeptSession | undefined }>({
  getBusy,
  catchUp,
  report,
}: FollowOptions<Session>): { stop(): void } {
  const looking = new Set<Session>()
  async function look(session: Session): Promise<void> {
    if (looking.has(session)) return
    looking.add(session)
    try {
      await session.kept?.save()
      await catchUp(session)
    } catch (error) {
      report(error)
    } finally {
      looking.delete(session)
    }
  }
  const timer = setInterval(() => {
    const busy = getBusy()
    const pause = Math.max(FOLLOW_MS, (busy.length / FOLLOWED_PER_SECOND) * 1000)
    const now = performance.now()
    for (const session of busy) {
      if (!session.kept) continue
      const { copy, mailbox, lookedAt } = session.kept
      if (copy.touch() || mailbox.isWaiting || now - lookedAt >= pause) void look(session)
    }
  }, LETTER_MS)
  timer.unref?.()
  return { stop: () => clearInterval(timer) }
}
