import { JSON_ANSWER_MS, RETRY_AFTER_SECONDS } from '../../limits.ts'
import { OPENED } from './event-stream.ts'
import type { Refusal } from './peer.ts'

/** An error of JSON-RPC that belongs to no request. */
export function httpError(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers: { ...headers } })
}

export function refuseLongBody(maxBytes: number, headers: Readonly<Record<string, string>> = {}): Response {
  return httpError(413, -32_000, `Payload Too Large: a request must not exceed ${maxBytes} bytes`, headers)
}

/** Asks a client to come back later: 429 if it has used up its share, 503 if the server is full. */
export function refuseForNow(refusal: Refusal, message: string): Response {
  return httpError(refusal === 'peer' ? 429 : 503, -32_000, message, { 'retry-after': String(RETRY_AFTER_SECONDS) })
}

const OPENED_BYTES = new TextEncoder().encode(OPENED)

export interface AnswerEnd {
  /** Called once, when the last of the response was read or the client has gone. */
  readonly done: () => void
  /** Called before that if the client has gone. */
  readonly gone?: () => void
}

/** Returns the same response, and calls back when all of it was read or the client has gone. */
export function watchResponse(response: Response, { method, signal }: Request, end: AnswerEnd): Response {
  if (!response.body) {
    end.done()
    return response
  }
  const reader = response.body.getReader()
  let isDone = false
  let opening: ReturnType<typeof setTimeout> | undefined
  const finish = (isGone: boolean): void => {
    if (isDone) return
    isDone = true
    clearTimeout(opening)
    signal.removeEventListener('abort', onAbort)
    if (isGone) end.gone?.()
    end.done()
  }
  // Otherwise a client that comes back at once would find its old stream still open.
  const onAbort = (): void => {
    finish(true)
    void reader.cancel().catch(() => undefined)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (!response.ok || !response.headers.get('content-type')?.startsWith('text/event-stream')) return
      // An answer that comes soon needs no comment before it.
      if (method === 'GET') controller.enqueue(OPENED_BYTES)
      else opening = setTimeout(() => controller.enqueue(OPENED_BYTES), JSON_ANSWER_MS)
    },
    async pull(controller) {
      try {
        const { done: isLast, value } = await reader.read()
        clearTimeout(opening)
        if (!isLast) return controller.enqueue(value)
        finish(false)
        controller.close()
      } catch (error) {
        finish(false)
        controller.error(error)
      }
    },
    cancel(reason) {
      finish(true)
      return reader.cancel(reason)
    },
  })
  return new Response(body, { status: response.status, headers: response.headers })
}
