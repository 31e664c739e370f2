import { ignore } from '../../../core/promises.ts'
import { STDIO_MOST_UNREAD_BYTES, STDIO_UNREAD_BYTES } from '../../limits.ts'
import type { JsonObject } from '../../protocol/messages.ts'

/** Where a transport writes. */
export interface Output {
  /** Calls back when the text is on its way to the client. */
  write(text: string, done: (error?: Error | null) => void): void
  onError(listener: (error: Error) => void): () => void
}

/** Notifications that a client can do without. */
const DROPPABLE: ReadonlySet<string> = new Set(['notifications/message', 'notifications/progress'])

/**
 * What a client has yet to read. It has to get answers, but servers may send any number of notifications, so those are
 * left out while it does not read.
 */
export class Outbox {
  readonly #output: Output
  readonly #onError: (error: Error) => void
  #unreadBytes = 0
  /** Notifications that the client has not read yet, except for those it can do without. */
  readonly #unreadNotices = new Set<string>()
  #dropped = 0

  constructor(output: Output, onError: (error: Error) => void) {
    this.#output = output
    this.#onError = onError
  }

  /** Whether the client has to read before it gets more answers. */
  get isFull(): boolean {
    return this.#unreadBytes >= STDIO_UNREAD_BYTES
  }

  /** Writes a message, or leaves it out. Resolves when it is on its way. */
  async send(message: JsonObject, text: string): Promise<void> {
    const { method, id } = message
    if (typeof method !== 'string' || id !== undefined) return this.write(text)
    const isDroppable = DROPPABLE.has(method)
    if (this.isFull && (isDroppable || this.#unreadNotices.has(text) || this.#unreadBytes >= STDIO_MOST_UNREAD_BYTES))
      return void this.#dropped++
    if (isDroppable) return this.write(text)
    this.#unreadNotices.add(text)
    try {
      await this.write(text)
    } finally {
      this.#unreadNotices.delete(text)
    }
  }

  /** Writes a line. Resolves when it is on its way. */
  async write(text: string): Promise<void> {
    const line = `${text}\n`
    const bytes = Buffer.byteLength(line)
    this.#unreadBytes += bytes
    try {
      await new Promise<void>((resolve, reject) => {
        this.#output.write(line, (error) => (error ? reject(error) : resolve()))
      })
    } finally {
      this.#unreadBytes -= bytes
      if (this.#dropped > 0 && !this.isFull) this.#reportDropped()
    }
  }

  /** The same, where nobody waits for it. */
  writeAll(texts: readonly string[]): void {
    for (const text of texts) void ignore(this.write(text), 'the output reports its errors')
  }

  #reportDropped(): void {
    const count = this.#dropped
    this.#dropped = 0
    const what = count === 1 ? '1 notification was' : `${count} notifications were`
    this.#onError(new Error(`${what} left out, because the client did not read its messages.`))
  }
}
