/** Lets a number of uses run at a time; others wait for their turn. One that need not wait costs nothing but a count. */
export class Turns {
  #most: number
  #running = 0
  readonly #waiting = new Set<() => void>()

  constructor(most: number) {
    this.#most = most
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Whether the next one would not have to wait. */
  get isFree(): boolean {
    return this.#running < this.#most
  }

  /** Begins a use, when it is its turn. `end` has to be called afterwards. */
  async begin(): Promise<void> {
    if (this.isFree) return this.beginNow()
    await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }

  beginNow(): void {
    this.#running++
  }

  end(): void {
    this.#running--
    this.#proceed()
  }

  /** Changes how many may run at a time. */
  addRoom(more: number): void {
    this.#most += more
    this.#proceed()
  }

  #proceed(): void {
    for (const start of this.#waiting) {
      if (!this.isFree) return
      this.#waiting.delete(start)
      this.#running++
      start()
    }
  }
}
