import type { CallContext } from 'foldout/catalog'
import { ignore } from 'foldout/promises'
import { Callers, type Ask, type Caller } from './asking/callers.ts'
import { MAX_HELD, MAX_HELD_EACH } from './asking/limits.ts'
import { toOwner } from './asking/tasks.ts'
import { Turns } from './turns.ts'

/** The client that a use is for. */
export interface UseContext {
  readonly signal?: AbortSignal | undefined
  readonly client?: CallContext['client'] | undefined
  readonly peer?: CallContext['peer'] | undefined
  /** Asks that client, if it can be asked while this runs. */
  readonly ask?: Ask | undefined
  /** Whether it is for no client, but for the gateway itself. */
  readonly isOwn?: boolean
}

/** The running and waiting uses of one server, and their clients. */
export class Uses {
  readonly callers = new Callers()
  readonly #turns: Turns
  readonly #onEnd: () => void
  #last = 0
  /** How many questions of the server wait for clients, and for those of each user. */
  #asking = 0
  readonly #askingEach = new Map<string | undefined, number>()

  /** `onEnd` is called after each use. */
  constructor(most: number, onEnd: () => void) {
    this.#turns = new Turns(most)
    this.#onEnd = onEnd
  }

  get runCount(): number {
    return this.#turns.runCount
  }

  get waitCount(): number {
    return this.#turns.waitCount
  }

  /** Whether the next use could begin immediately. */
  isFreeFor(client: UseContext['client']): boolean {
    return this.#turns.isFreeFor(client?.principal)
  }

  get isIdle(): boolean {
    return this.runCount + this.waitCount === 0
  }

  /** Runs work when it is its turn. */
  async run<Result>(work: () => Promise<Result>, context: UseContext): Promise<Result> {
    await this.#turns.begin(context.client?.principal)
    const end = this.#enter(context)
    try {
      return await work()
    } finally {
      end()
    }
  }

  /** Begins a use immediately. Call the returned function when it has ended. */
  beginNow(context: UseContext): () => void {
    this.#turns.beginNow(context.client?.principal)
    return this.#enter(context)
  }

  #enter({ client, peer, ask, isOwn }: UseContext): () => void {
    if (client) this.callers.audience.meet(client)
    const caller: Caller = {
      // Clients without a connection have the same id, and must not be taken for one another.
      client: client?.isShared ? `${client.id} ${++this.#last}` : (client?.id ?? ''),
      user: client?.principal,
      get owner() {
        return toOwner(client)
      },
      ask: ask && ((method, params, asking) => this.#whileAsking(caller, () => ask(method, params, asking))),
      capabilities: peer?.capabilities ?? {},
      waiting: 0,
      era: peer?.era,
      logLevel: peer?.logLevel,
      notify: (method, params) => {
        if (peer) void ignore(peer.notify(method, params), 'the client has gone')
      },
    }
    const leave = isOwn ? undefined : this.callers.add(caller)
    return () => {
      leave?.()
      this.#turns.end(client?.principal)
      this.#onEnd()
    }
  }

  /** A call that waits for a client does not keep others from running. */
  async #whileAsking<Answer>(caller: Caller, ask: () => Promise<Answer>): Promise<Answer> {
    const { user } = caller
    if (this.#asking >= MAX_HELD) throw new Error('Too many calls are waiting for client input.')
    // Without tokens, all clients are of one user.
    if (user !== undefined && (this.#askingEach.get(user) ?? 0) >= MAX_HELD_EACH)
      throw new Error(`${MAX_HELD_EACH} calls of this user wait for answers. Answer or cancel some of them first.`)
    this.#countAsking(user, 1)
    caller.waiting++
    this.#turns.addRoom(1)
    try {
      return await ask()
    } finally {
      this.#countAsking(user, -1)
      caller.waiting--
      this.#turns.addRoom(-1)
    }
  }

  #countAsking(user: string | undefined, more: 1 | -1): void {
    this.#asking += more
    const own = (this.#askingEach.get(user) ?? 0) + more
    if (own > 0) this.#askingEach.set(user, own)
    else this.#askingEach.delete(user)
  }
}

/** Calls back after a time without use. It keeps one timer, because creating one for each call takes a tenth of the call's time. */
export class IdleTimer {
  readonly #idleMs: number
  readonly #isIdle: () => boolean
  readonly #onIdle: () => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #usedAt = 0

  constructor(idleMs: number, { isIdle, onIdle }: { readonly isIdle: () => boolean; readonly onIdle: () => void }) {
    this.#idleMs = idleMs
    this.#isIdle = isIdle
    this.#onIdle = onIdle
  }

  /** Call this after every use. */
  touch(): void {
    if (this.#idleMs === Infinity) return
    this.#usedAt = performance.now()
    if (!this.#timer) this.#wait(this.#idleMs)
  }

  clear(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #wait(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#check(), milliseconds)
    this.#timer.unref()
  }

  /** A use that is still running calls `touch` again when it ends. */
  #check(): void {
    this.#timer = undefined
    if (!this.#isIdle()) return
    const left = this.#usedAt + this.#idleMs - performance.now()
    if (left > 0) this.#wait(Math.ceil(left))
    else this.#onIdle()
  }
}

/** Counts the work that is done with a connection. One that is replaced is closed when the last work has ended. */
export class Load {
  #count = 0
  #onUnused: (() => void) | undefined

  begin(): void {
    this.#count++
  }

  end(): void {
    this.#count--
    if (this.#count === 0) this.#onUnused?.()
  }

  /** Calls back as soon as nothing uses the connection. Nothing may begin afterwards. */
  whenUnused(callback: () => void): void {
    if (this.#count === 0) callback()
    else this.#onUnused = callback
  }
}
