export interface ProgramClockOptions {
  readonly timeMs: number
  /** Called when the time is over. */
  onEnd(): void
  /** Lets another program run meanwhile. Returns a function that ends this; undefined if too many are waiting already. */
  makeRoom(): (() => void) | undefined
}

/** Measures the time of a program, without the time in which a person is asked. */
export class ProgramClock {
  readonly #options: ProgramClockOptions
  #timer: NodeJS.Timeout | undefined
  #leftMs: number
  #since = 0
  /** How many calls wait for a person. */
  #pauses = 0
  /** Set while it is stopped. */
  #giveBack: (() => void) | undefined

  constructor(options: ProgramClockOptions) {
    this.#options = options
    this.#leftMs = options.timeMs
    this.#start()
  }

  /** Stops it until the returned function is called. It goes on if too many programs wait for people. */
  pause(): () => void {
    if (this.#pauses++ === 0) this.#stop()
    let isPaused = true
    return () => {
      if (!isPaused) return
      isPaused = false
      if (--this.#pauses === 0 && this.#giveBack) this.#resume()
    }
  }

  /** Ends it for good. */
  clear(): void {
    clearTimeout(this.#timer)
    this.#giveBack?.()
    this.#giveBack = undefined
  }

  #start(): void {
    this.#since = performance.now()
    this.#timer = setTimeout(() => this.#options.onEnd(), this.#leftMs)
  }

  #stop(): void {
    this.#giveBack = this.#options.makeRoom()
    if (!this.#giveBack) return
    clearTimeout(this.#timer)
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#since))
  }

  #resume(): void {
    this.#giveBack?.()
    this.#giveBack = undefined
    this.#start()
  }
}
