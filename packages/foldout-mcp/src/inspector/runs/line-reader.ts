import { createReadStream, statSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'

const POLL_MS = 300

export interface LineReader {
  /** Reads what was appended since. Says whether there was anything. */
  read(): Promise<boolean>
}

/** Reads whole lines of a file that grows. A last line without an end is read when the rest of it is there. */
export function createLineReader(file: string, onLine: (text: string) => void): LineReader {
  let from = 0
  let rest = ''
  let decoder = new StringDecoder('utf8')
  let reading = Promise.resolve(false)
  const readOn = async (): Promise<boolean> => {
    const { size } = statSync(file, { throwIfNoEntry: false }) ?? { size: 0 }
    if (size < from) {
      // It was written again from the beginning.
      from = 0
      rest = ''
      decoder = new StringDecoder('utf8')
    }
    if (size === from) return false
    for await (const chunk of createReadStream(file, { start: from, end: size - 1 }) as AsyncIterable<Buffer>) {
      from += chunk.length
      const lines = (rest + decoder.write(chunk)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) onLine(line)
    }
    return true
  }
  return {
    read() {
      reading = reading.then(readOn).catch(() => false)
      return reading
    },
  }
}

/** Reads on while a file grows. Returns a function that stops it. */
export function followFile(reader: LineReader, onMore: () => void): () => void {
  const poll = (): void => void reader.read().then((isMore) => isMore && onMore())
  // Asked instead of watched: a change just before a watch begins would be missed.
  const timer = setInterval(poll, POLL_MS)
  timer.unref()
  return () => clearInterval(timer)
}
