/** Tells when nothing was done for a while. It keeps one timer, because making one for each call takes a tenth of its time. */
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

  /** To be called whenever something was done. */
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

  /** What keeps it from being idle now touches it again when it is done. */
  #check(): void {
    this.#timer = undefined
    if (!this.#isIdle()) return
    const left = this.#usedAt + this.#idleMs - performance.now()
    if (left > 0) this.#wait(Math.ceil(left))
    else this.#onIdle()
  }
}
