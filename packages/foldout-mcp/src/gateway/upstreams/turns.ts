import { UpstreamError } from './failures/failures.ts'
import { BUSY_MS } from './limits.ts'

/** A user with this many times the free turns gets no more of them. */
const SHARE = 3
/** Fewer turns are not divided: a limit of two would be a limit of one for a user who is alone. */
const FEWEST_DIVIDED = 4

/**
 * Lets a limited number of uses run at a time; others wait for their turn. A use that does not wait only costs a count. A user never
 * gets all of many turns, so that calls that hang do not keep others out. Without tokens, there are no users, and nothing is divided.
 */
export class Turns {
  #most: number
  #running = 0
  #waitCount = 0
  readonly #runningEach = new Map<string, number>()
  /** Those that wait, by user. The user who got a turn last comes last. */
  readonly #waiting = new Map<string | undefined, Set<() => void>>()

  constructor(most: number) {
    this.#most = most
  }

  get runCount(): number {
    return this.#running
  }

  get waitCount(): number {
    return this.#waitCount
  }

  /** Whether the next use of a user could begin immediately. */
  isFreeFor(user: string | undefined): boolean {
    const free = this.#most - this.#running
    if (free <= 0 || user === undefined || this.#most < FEWEST_DIVIDED) return free > 0
    const own = this.#runningEach.get(user) ?? 0
    return own === 0 || (free > 1 && own < SHARE * free)
  }

  /**
   * Waits for a turn and begins a use. Call `end` afterwards.
   *
   * @throws UpstreamError if others keep all turns for too long.
   */
  async begin(user: string | undefined): Promise<void> {
    if (this.isFreeFor(user)) return this.beginNow(user)
    await this.#wait(user)
  }

  beginNow(user: string | undefined): void {
    this.#running++
    if (user !== undefined) this.#runningEach.set(user, (this.#runningEach.get(user) ?? 0) + 1)
  }

  end(user: string | undefined): void {
    this.#running--
    const own = user === undefined ? 0 : (this.#runningEach.get(user) ?? 0) - 1
    if (user !== undefined && own > 0) this.#runningEach.set(user, own)
    else if (user !== undefined) this.#runningEach.delete(user)
    this.#proceed()
  }

  /** Changes how many uses may run at a time. */
  addRoom(more: number): void {
    this.#most += more
    this.#proceed()
  }

  #wait(user: string | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(user) ?? new Set()
      this.#waiting.set(user, queue)
      const refuse = (): void => {
        // Those that wait for calls of their own user have not been kept out by others.
        if (this.#runningEach.has(String(user))) return void (timer = setTimeout(refuse, BUSY_MS).unref())
        this.#leave(user, queue, start)
        reject(new UpstreamError(BUSY))
      }
      let timer = user === undefined ? undefined : setTimeout(refuse, BUSY_MS).unref()
      const start = (): void => {
        clearTimeout(timer)
        this.#leave(user, queue, start)
        this.beginNow(user)
        resolve()
      }
      queue.add(start)
      this.#waitCount++
    })
  }

  #leave(user: string | undefined, queue: Set<() => void>, start: () => void): void {
    queue.delete(start)
    this.#waitCount--
    this.#waiting.delete(user)
    if (queue.size > 0) this.#waiting.set(user, queue)
  }

  /** Gives free turns to those that wait, to one user after the other. */
  #proceed(): void {
    while (this.#waitCount > 0 && this.#running < this.#most) {
      const next = [...this.#waiting].find(([user]) => this.isFreeFor(user))
      const [start] = next?.[1] ?? []
      if (!start) return
      start()
    }
  }
}

const BUSY = `The server is busy: calls of other users have taken all its turns for ${BUSY_MS / 1_000} seconds. Try again later, or raise maxConcurrent.`
