import { MAX_ANSWERING, MAX_UNREAD_ANSWERS } from '../../limits.ts'

/** Sends few answers at a time: each is a request, and a server that asks endlessly must not take all sockets and memory. */
export class AnswerQueue {
  readonly #waiting: (() => void)[] = []
  #running = 0

  /** Whether the server leaves too many answers unread. */
  get isFull(): boolean {
    return this.#waiting.length >= MAX_UNREAD_ANSWERS
  }

  async run(send: () => Promise<void>): Promise<void> {
    if (this.#running >= MAX_ANSWERING) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running++
    try {
      await send()
    } finally {
      const next = this.#waiting.shift()
      // Its turn passes on to the next one.
      if (next) next()
      else this.#running--
    }
  }
}
