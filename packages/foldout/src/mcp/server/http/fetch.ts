import { isPlainObject } from '../../../core/json/json.ts'
import { identityIn, NOBODY } from '../client.ts'
import { DEFAULT_MAX_BODY_BYTES, type ServeMcpOptions } from '../options.ts'
import type { ServerSdk } from '../sdk.ts'
import { createMcpServer } from '../requests.ts'
import { httpError } from './response.ts'
import { createHttpSessions } from './sessions.ts'
import { watchList, type ClientViews } from '../views.ts'

/** What answers HTTP requests of both eras. */
export interface Endpoint {
  fetch(request: Request): Promise<Response>
  close(): Promise<void>
}

export function createEndpoint(sdk: ServerSdk, views: ClientViews, options: ServeMcpOptions): Endpoint {
  const maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES
  const bodies = new WeakMap<Request, unknown>()
  const modern = sdk.createMcpHandler(
    ({ requestInfo }) => {
      const body = requestInfo && bodies.get(requestInfo)
      const method = isPlainObject(body) ? String(body['method']) : undefined
      const view = views.modern(identityIn(body) ?? NOBODY)
      return createMcpServer({ sdk, options, view }, { isLasting: false, ...(method === undefined ? {} : { method }) })
    },
    {
      legacy: 'reject',
      maxRequestBodySize: maxBodyBytes,
      ...(options.onError ? { onerror: options.onError } : {}),
    },
  )
  const sessions = createHttpSessions(sdk, options, (identity) =>
    createMcpServer({ sdk, options, view: views.legacy(identity) }, { isLasting: true }),
  )
  const watches = views.everyModern.map(({ exposed }) => watchList(exposed, () => modern.notify.toolsChanged()))

  async function answer(request: Request): Promise<Response> {
    if (request.method !== 'POST')
      return (await sdk.isLegacyRequest(request)) ? sessions.handle(request, undefined) : modern.fetch(request)
    if (!sdk.isJsonContentType(request.headers.get('content-type')))
      return httpError(415, -32000, 'Unsupported Media Type: Content-Type must be application/json')
    const read = await sdk.readRequestBody(request, maxBodyBytes)
    if (read.tooLarge)
      return httpError(413, -32000, `Payload Too Large: a request must not exceed ${maxBodyBytes} bytes`)
    let body: unknown
    try {
      body = JSON.parse(read.text)
    } catch {
      return httpError(400, -32700, 'Parse error: the body is not valid JSON')
    }
    if (await sdk.isLegacyRequest(request, body)) return sessions.handle(request, body)
    bodies.set(request, body)
    return modern.fetch(request, { parsedBody: body })
  }

  return {
    async fetch(request) {
      try {
        return await answer(request)
      } catch (error) {
        options.onError?.(error as Error)
        return httpError(500, -32603, 'Internal server error')
      }
    },
    async close() {
      for (const watch of watches) watch.stop()
      await Promise.all([modern.close(), sessions.close()])
    },
  }
}
