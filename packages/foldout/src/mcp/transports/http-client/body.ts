import { ignore } from '../../../core/promises.ts'

/** Reads a whole body as text, unless it is longer than a number of bytes after decompression. */
export async function readBody(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of readChunks(response)) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new Error(`The server sent an answer of more than ${maxBytes} bytes.`)
    // Kept as bytes until the end, a large body would be in memory three times.
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Reads the beginning of a body as text. */
export async function readStart(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let left = maxBytes
  for await (const chunk of readChunks(response)) {
    text += decoder.decode(chunk.subarray(0, left), { stream: true })
    left -= Math.min(left, chunk.byteLength)
    if (left === 0) break
  }
  return text + decoder.decode()
}

/** Lets go of a body that is of no interest, so that its connection can be used again. */
export async function dropBody(response: Response): Promise<void> {
  await ignore(readStart(response, DROPPED_BYTES), 'nobody reads it')
}

/** A longer body costs more than a new connection. */
const DROPPED_BYTES = 65_536

export async function* readChunks({ body }: Response): AsyncGenerator<Uint8Array, void, undefined> {
  if (!body) return
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>
  let isDone = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      isDone = done
      if (done) return
      yield value
    }
  } finally {
    // A reader that stops early does not want the rest.
    if (!isDone) void ignore(reader.cancel(), 'the connection is lost already')
  }
}
