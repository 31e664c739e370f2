import type { FetchLike } from '@modelcontextprotocol/client'
import { MAX_ERROR_BODY_BYTES, MAX_MESSAGE_BYTES } from '../limits.ts'

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/** The most bytes that are read of what a server sends, after decompression. */
export interface ResponseLimits {
  readonly messageBytes: number
  readonly errorBytes: number
}

const LIMITS: ResponseLimits = { messageBytes: MAX_MESSAGE_BYTES, errorBytes: MAX_ERROR_BODY_BYTES }

/**
 * Limits what is read of each response: an answer and each event of a stream by size, and the body of an error by its
 * beginning, which is all that anybody is shown. Bytes are counted as they are after decompression.
 */
export function limitResponses(send: FetchLike, limits = LIMITS): FetchLike {
  return async (url, init) => {
    const response = await send(url, init)
    return response.body ? replaceBody(response, response.body.pipeThrough(createLimit(response, limits))) : response
  }
}

function createLimit({ ok, headers }: Response, limits: ResponseLimits): TransformStream<Uint8Array, Uint8Array> {
  if (!ok) return cutAt(limits.errorBytes)
  const isStream = headers.get('content-type')?.toLowerCase().includes('text/event-stream') === true
  return isStream ? collectEvents(limits.messageBytes) : refuseAbove(limits.messageBytes)
}

/** The same response with another body. */
function replaceBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers, url, redirected } = response
  const limited = new Response(body, { status, statusText, headers })
  // Those who follow redirects read where the response came from.
  return Object.defineProperties(limited, { url: { value: url }, redirected: { value: redirected } })
}

function createTooLongError(what: string, maxBytes: number): Error {
  return new Error(`The server sent ${what} of more than ${maxBytes} bytes.`)
}

function refuseAbove(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) controller.error(createTooLongError('an answer', maxBytes))
      else controller.enqueue(chunk)
    },
  })
}

function cutAt(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = maxBytes
  return new TransformStream({
    transform(chunk, controller) {
      if (chunk.byteLength <= left) {
        left -= chunk.byteLength
        return controller.enqueue(chunk)
      }
      controller.enqueue(chunk.subarray(0, left))
      controller.terminate()
    },
  })
}

/**
 * Passes on whole events only, because parsers of events scan an unfinished line again with each chunk, and keep all of
 * it.
 */
function collectEvents(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  const findEnd = createEndFinder()
  let chunks: Uint8Array[] = []
  let bytes = 0
  return new TransformStream({
    transform(chunk, controller) {
      const end = findEnd(chunk)
      if (end > 0) {
        controller.enqueue(
          chunks.length > 0 ? Buffer.concat([...chunks, chunk.subarray(0, end)]) : chunk.subarray(0, end),
        )
        chunks = []
        bytes = 0
      }
      if (end < chunk.byteLength) chunks.push(chunk.subarray(end))
      bytes += chunk.byteLength - end
      if (bytes > maxBytes) controller.error(createTooLongError('an event', maxBytes))
    },
    flush(controller) {
      if (chunks.length > 0) controller.enqueue(Buffer.concat(chunks))
    },
  })
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
