import { readChunks } from './body.ts'

/** An event of a stream, as servers send them in HTML's format. */
export interface StreamEvent {
  readonly type: string
  readonly data: string
  readonly id: string | undefined
  /** How long to wait before the stream is requested again, in milliseconds. */
  readonly retryMs: number | undefined
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/** Thrown for an event that is longer than it may be. */
export class LongEventError extends Error {
  override readonly name = 'LongEventError'
}

/**
 * Reads the events of a response, each of at most a number of bytes after decompression. The time is linear in the size,
 * however small the chunks are.
 */
export async function* readEvents(response: Response, maxBytes: number): AsyncGenerator<StreamEvent, void, undefined> {
  const findEnd = createEndFinder()
  let waiting: Uint8Array[] = []
  let bytes = 0
  let isFirst = true
  for await (const chunk of readChunks(response)) {
    const end = findEnd(chunk)
    if (end > 0) {
      const text = decode([...waiting, chunk.subarray(0, end)])
      waiting = []
      bytes = 0
      yield* parseEvents(isFirst ? text.replace(/^\uFEFF/, '') : text)
      isFirst = false
    }
    if (end === chunk.byteLength) continue
    waiting.push(chunk.subarray(end))
    bytes += chunk.byteLength - end
    if (bytes > maxBytes) throw new LongEventError(`The server sent an event of more than ${maxBytes} bytes.`)
  }
  // Some servers leave out the empty line after the last event.
  if (waiting.length > 0) yield* parseEvents(decode(waiting))
}

function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode()
}

/** Creates a function that returns where the last whole event of a chunk ends: after an empty line. */
function createEndFinder(): (chunk: Uint8Array) => number {
  let isLineStart = true
  let isAfterReturn = false
  let isAfterEvent = false
  return (chunk) => {
    let end = 0
    for (let index = 0; index < chunk.byteLength; index++) {
      const byte = chunk[index]
      // The second half of a line break changes nothing.
      const isSecondHalf = byte === LINE_FEED && isAfterReturn
      const isBreak = byte === LINE_FEED || byte === CARRIAGE_RETURN
      if (!isSecondHalf) isAfterEvent = isBreak && isLineStart
      if (isAfterEvent) end = index + 1
      isLineStart = isBreak
      isAfterReturn = byte === CARRIAGE_RETURN
    }
    return end
  }
}

/** Parses a text of whole events. */
function* parseEvents(text: string): Generator<StreamEvent> {
  let event = new EventBuilder()
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line !== '') {
      event.add(line)
      continue
    }
    if (!event.isEmpty) yield event.build()
    event = new EventBuilder()
  }
  if (!event.isEmpty) yield event.build()
}

class EventBuilder {
  #type = 'message'
  #data: string[] = []
  #id: string | undefined
  #retryMs: number | undefined

  get isEmpty(): boolean {
    return this.#data.length === 0 && this.#id === undefined && this.#retryMs === undefined
  }

  add(line: string): void {
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1))
    if (field === 'data') this.#data.push(value)
    if (field === 'event') this.#type = value === '' ? 'message' : value
    if (field === 'id' && !value.includes('\0')) this.#id = value
    if (field === 'retry' && /^\d{1,9}$/.test(value)) this.#retryMs = Number(value)
  }

  build(): StreamEvent {
    return { type: this.#type, data: this.#data.join('\n'), id: this.#id, retryMs: this.#retryMs }
  }
}
