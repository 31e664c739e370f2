/** An error of JSON-RPC that belongs to no request. */
export function httpError(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers: { ...headers } })
}

/** A comment of an event stream. With nothing to send yet, Node would keep even the headers back. */
const OPENED = new TextEncoder().encode(': open\n\n')

/** The same response, and a word when the last of it was read or whoever asked has gone. */
export function whenAnswered(response: Response, { method, signal }: Request, done: () => void): Response {
  if (!response.body) {
    done()
    return response
  }
  const reader = response.body.getReader()
  let isDone = false
  const finish = (): void => {
    if (isDone) return
    isDone = true
    signal.removeEventListener('abort', onAbort)
    done()
  }
  // Otherwise a client that comes back at once would find its old stream still open.
  const onAbort = (): void => {
    finish()
    void reader.cancel().catch(() => undefined)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (method === 'GET' && response.ok) controller.enqueue(OPENED)
    },
    async pull(controller) {
      try {
        const { done: isLast, value } = await reader.read()
        if (!isLast) return controller.enqueue(value)
        finish()
        controller.close()
      } catch (error) {
        finish()
        controller.error(error)
      }
    },
    cancel(reason) {
      finish()
      return reader.cancel(reason)
    },
  })
  return new Response(body, { status: response.status, headers: response.headers })
}
