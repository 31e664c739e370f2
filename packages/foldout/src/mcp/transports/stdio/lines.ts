const NEWLINE = 10
/** How much is kept of the beginning and of the end of a line that is too long. */
const KEPT = 512

/** A line, or what is left of one that was too long. */
export type Line = { readonly text: string } | { readonly head: string; readonly tail: string }

/** Splits chunks into lines, without ever holding more than the longest line that is allowed. */
export class LineReader {
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #bytes = 0
  #head: Buffer | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The lines that end in a chunk. */
  read(chunk: Buffer): readonly Line[] {
    const lines: Line[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end))
      start = end + 1
      lines.push(this.#take())
    }
    if (start < chunk.length) this.#add(chunk.subarray(start))
    return lines
  }

  #add(part: Buffer): void {
    if (part.length === 0) return
    this.#chunks.push(part)
    this.#bytes += part.length
    if (this.#bytes <= this.#maxBytes) return
    const whole = Buffer.concat(this.#chunks)
    this.#head ??= Buffer.from(whole.subarray(0, KEPT))
    const tail = Buffer.from(whole.subarray(-KEPT))
    this.#chunks = [tail]
    this.#bytes = this.#maxBytes
  }

  #take(): Line {
    const [only = Buffer.alloc(0)] = this.#chunks
    const whole = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : only
    const head = this.#head
    this.#chunks = []
    this.#bytes = 0
    this.#head = undefined
    if (head) return { head: head.toString(), tail: whole.subarray(-KEPT).toString() }
    return { text: whole.toString() }
  }
}

/** The id of a request of which only the beginning and the end are known. SDKs write it in one of these places. */
export function findRequestId({
  head,
  tail,
}: {
  readonly head: string
  readonly tail: string
}): string | number | undefined {
  const id = String.raw`"id"\s*:\s*(\d{1,15}|"[^"\\]{1,200}")`
  const found =
    new RegExp(String.raw`${id}\s*\}\s*$`).exec(tail) ??
    new RegExp(String.raw`^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*${id}\s*,`).exec(head)
  if (found?.[1] === undefined) return undefined
  return JSON.parse(found[1]) as string | number
}
