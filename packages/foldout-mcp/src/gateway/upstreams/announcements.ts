import { ANNOUNCE_MS } from './limits.ts'

/**
 * Passes announcements of a server on: the first at once, and then one of each kind per period at most, because a server may send
 * thousands. The last one is never lost.
 */
export class Announcements {
  readonly #pass: (method: string) => void
  readonly #waiting = new Set<string>()
  readonly #isOver: () => boolean
  #timer: NodeJS.Timeout | undefined

  constructor(pass: (method: string) => void, isOver: () => boolean) {
    this.#pass = pass
    this.#isOver = isOver
  }

  add(method: string): void {
    this.#waiting.add(method)
    if (!this.#timer) this.#flush()
  }

  #flush(): void {
    this.#timer = undefined
    if (this.#waiting.size === 0 || this.#isOver()) return
    const methods = [...this.#waiting]
    this.#waiting.clear()
    this.#timer = setTimeout(() => this.#flush(), ANNOUNCE_MS)
    this.#timer.unref()
    for (const method of methods) this.#pass(method)
  }
}
