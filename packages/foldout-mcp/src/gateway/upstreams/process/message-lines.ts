import type { JsonObject } from 'foldout-shared/values'
import { GARBAGE_MS, MAX_BATCH, MAX_GARBAGE_BYTES, MAX_GARBAGE_LINES, MAX_MESSAGE_BYTES } from './limits.ts'

export const NEWLINE = 10
const OPENING_BRACE = 123

interface MessageLinesOptions {
  onMessage(message: JsonObject): void
  /** Called with text that is no message. */
  onText(text: Buffer): void
  /** Called when the server writes more than any server does. Nothing is read after that. */
  onFlood(reason: string): void
}

/** The messages in a server's output, read in linear time however large they are, and whatever is between them. */
export class MessageLines {
  readonly #options: MessageLinesOptions
  #chunks: Buffer[] = []
  #bytes = 0
  /** What the server has recently printed besides its messages. */
  #garbage = { since: 0, bytes: 0, lines: 0 }

  constructor(options: MessageLinesOptions) {
    this.#options = options
  }

  /** Whether the server recently wrote non-MCP output. */
  get hasGarbage(): boolean {
    return this.#garbage.lines > 0
  }

  /** Forgets the beginning of a message. */
  clear(): void {
    this.#chunks = []
    this.#bytes = 0
  }

  /** Takes what the server has written. */
  read(chunk: Buffer): void {
    let start = this.#skipGarbage(chunk)
    for (let end = chunk.indexOf(NEWLINE, start); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#chunks.push(chunk.subarray(start, end))
      start = end + 1
      this.#take()
    }
    if (start === chunk.length) return
    this.#chunks.push(chunk.subarray(start))
    this.#bytes += chunk.length - start
    if (this.#bytes > MAX_MESSAGE_BYTES)
      this.#options.onFlood(`The server sent a message of more than ${MAX_MESSAGE_BYTES} bytes.`)
  }

  /** Skips lines without a brace, which are not messages, all at once: there may be millions. Returns where they end. */
  #skipGarbage(chunk: Buffer): number {
    if (this.#chunks.length > 0 || chunk.includes(OPENING_BRACE)) return 0
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end > 0) this.#dropGarbage(chunk.subarray(0, end))
    return end
  }

  #take(): void {
    const [only] = this.#chunks
    const line = this.#chunks.length === 1 && only ? only : Buffer.concat(this.#chunks)
    this.clear()
    const messages = readMessages(line)
    if (messages.length === 0) this.#dropGarbage(line)
    for (const message of messages) this.#options.onMessage(message)
  }

  /** Some servers print notes for people where messages belong. */
  #dropGarbage(line: Buffer): void {
    if (line.length === 0) return
    this.#options.onText(line)
    const now = Date.now()
    if (now - this.#garbage.since > GARBAGE_MS) this.#garbage = { since: now, bytes: 0, lines: 0 }
    this.#garbage.lines++
    this.#garbage.bytes += line.length
    if (this.#garbage.bytes > MAX_GARBAGE_BYTES || this.#garbage.lines > MAX_GARBAGE_LINES)
      this.#options.onFlood('The server floods its standard output with text that is not MCP.')
  }
}

/** The messages in a line: none, one, or several at once, which version 2025-03-26 of the protocol allows. */
function readMessages(line: Buffer): readonly JsonObject[] {
  // Most lines that are not messages do not look like one, and this check is faster than catching an error.
  if (!line.includes(OPENING_BRACE)) return []
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    if (isMessage(value)) return [value]
    if (Array.isArray(value) && value.length <= MAX_BATCH) return value.filter(isMessage)
    return []
  } catch {
    return []
  }
}

function isMessage(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0'
}
