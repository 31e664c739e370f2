import type { CallClient } from 'foldout/catalog'

/** What tells clients apart: a connection, or the user of clients without one. Those without either cannot be told apart. */
export function toScope(client: CallClient | undefined): string {
  if (client?.isShared && client.principal !== undefined) return `principal ${client.principal}`
  return client?.id ?? ''
}

/**
 * The clients that have used a process. What a legacy server asks or logs does not name a client, so it is passed on only if it can
 * be meant for one alone.
 */
export class Audience {
  /** By scope. */
  readonly #clients = new Map<string, CallClient>()
  /** The users of clients that have left. The server may still be working for them. */
  readonly #gone = new Set<string>()

  meet(client: CallClient): void {
    this.#clients.set(toScope(client), client)
  }

  leave(client: CallClient): void {
    if (!this.#clients.delete(toScope(client))) return
    if (client.principal !== undefined) this.#gone.add(client.principal)
  }

  get isEmpty(): boolean {
    return this.#clients.size + this.#gone.size === 0
  }

  /** Whether the process has been used for several clients. */
  get isShared(): boolean {
    const [first, second] = this.#clients.values()
    return second !== undefined || (first !== undefined && !this.isFree(first))
  }

  /** Whether the process has been used for no other client. */
  isFree(client: CallClient): boolean {
    const scope = toScope(client)
    for (const other of this.#clients.keys()) if (other !== scope) return false
    for (const user of this.#gone) if (user !== client.principal) return false
    return true
  }

  /** The users for whom the process has been used. */
  get users(): ReadonlySet<string> {
    const users = new Set(this.#gone)
    for (const { principal } of this.#clients.values()) if (principal !== undefined) users.add(principal)
    return users
  }

  list(): readonly CallClient[] {
    return [...this.#clients.values()]
  }
}
