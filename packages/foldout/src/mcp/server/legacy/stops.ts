/** How many are kept for later calls. */
const MAX_KEPT = 64

/**
 * What stops calls. A new signal costs more than the rest of a small call's objects together: Node.js gives each of them a class of
 * its own, so that young ones are not collected with the rest. So a server whose tools allow it uses them again.
 */
export class Stops {
  readonly #isReused: boolean
  readonly #free: AbortController[] = []

  constructor(isReused: boolean) {
    this.#isReused = isReused
  }

  take(): AbortController {
    return this.#free.pop() ?? new AbortController()
  }

  /** Gives one back after its call has ended. One that has stopped its call is not used again. */
  giveBack(stop: AbortController): void {
    if (this.#isReused && !stop.signal.aborted && this.#free.length < MAX_KEPT) this.#free.push(stop)
  }
}
