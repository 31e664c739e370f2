import { ANSWER_MS, MAX_ABANDONED } from '../limits.ts'

/**
 * The calls of one connection that were cancelled and that the server has not answered. A server may go on with such a call, and ask
 * or log something for it. Nothing but a late answer says that it has stopped, so a call counts until then, or for a limited time.
 */
export class Abandoned {
  /** The ids of the cancelled requests, the oldest first, with the time until which they count. */
  readonly #requests = new Map<string, number>()
  /** The users whose calls were cancelled, with the time until which they count. */
  readonly #users = new Map<string | undefined, number>()
  /** Until when there may be more cancelled requests than are remembered. */
  #uncountedUntil = 0

  /** Remembers a request that the server was told to cancel. */
  cancel(id: unknown): void {
    const now = performance.now()
    for (const [other, until] of this.#requests) {
      if (until > now) break
      this.#requests.delete(other)
    }
    if (this.#requests.size < MAX_ABANDONED) this.#requests.set(String(id), now + ANSWER_MS)
    else this.#uncountedUntil = now + ANSWER_MS
  }

  /** Whether any request was cancelled and not answered. */
  get isEmpty(): boolean {
    return this.#requests.size === 0
  }

  /** Forgets a request that the server has answered. */
  settle(id: unknown): void {
    this.#requests.delete(String(id))
    if (this.isEmpty && this.#uncountedUntil <= performance.now()) this.#users.clear()
  }

  /** Remembers whose call was cancelled. */
  add(user: string | undefined): void {
    // The call may have been cancelled before the server got it.
    if (!this.isEmpty) this.#users.set(user, performance.now() + ANSWER_MS)
  }

  /** The users whose calls the server may still be working on. */
  listUsers(): readonly (string | undefined)[] {
    const now = performance.now()
    return [...this.#users].filter(([, until]) => until > now).map(([user]) => user)
  }
}
