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
