import type { CallContext } from 'foldout/catalog'
import { Callers, type Ask } from './callers.ts'
import { MAX_HELD } from './limits.ts'
import { Turns } from './turns.ts'

/** Whom something is done for. */
export interface UseContext {
  readonly signal?: AbortSignal | undefined
  readonly client?: CallContext['client'] | undefined
  readonly peer?: CallContext['peer'] | undefined
  /** Asks that client, if it can be asked while this runs. */
  readonly ask?: Ask | undefined
}

/** What is done with one server at the moment, and for whom. */
export class Uses {
  readonly callers = new Callers()
  readonly #turns: Turns
  readonly #onEnd: () => void
  #last = 0
  /** How many questions of the server wait for clients. */
  #asking = 0

  /** `onEnd` is called after each use. */
  constructor(most: number, onEnd: () => void) {
    this.#turns = new Turns(most)
    this.#onEnd = onEnd
  }

  get running(): number {
    return this.#turns.running
  }

  get waiting(): number {
    return this.#turns.waiting
  }

  /** Whether the next use would not have to wait. */
  get isFree(): boolean {
    return this.#turns.isFree
  }

  get isIdle(): boolean {
    return this.running + this.waiting === 0
  }

  /** Does something when it is its turn. */
  async run<Result>(work: () => Promise<Result>, context: UseContext): Promise<Result> {
    await this.#turns.begin()
    return this.#finish(work, context)
  }

  /** Does something at once. */
  runNow<Result>(work: () => Promise<Result>, context: UseContext): Promise<Result> {
    this.#turns.beginNow()
    return this.#finish(work, context)
  }

  async #finish<Result>(work: () => Promise<Result>, { client, peer, ask }: UseContext): Promise<Result> {
    const leave = this.callers.add({
      // Clients without a connection have the same id, and must not be taken for one another.
      client: client?.isShared ? `${client.id} ${++this.#last}` : (client?.id ?? ''),
      ask: ask && ((method, params, asking) => this.#whileAsking(() => ask(method, params, asking))),
      logLevel: peer?.logLevel,
      notify: (method, params) => void peer?.notify(method, params).catch(() => undefined),
    })
    try {
      return await work()
    } finally {
      leave()
      this.#turns.end()
      this.#onEnd()
    }
  }

  /** A call that waits for a client does not keep others from running. */
  async #whileAsking<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#asking >= MAX_HELD) throw new Error('Too many calls wait for answers of clients.')
    this.#asking++
    this.#turns.addRoom(1)
    try {
      return await ask()
    } finally {
      this.#asking--
      this.#turns.addRoom(-1)
    }
  }
}
