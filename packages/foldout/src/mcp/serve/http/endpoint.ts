import { MAX_BODY_BYTES, MAX_STREAMS, STREAMS_PER_PEER } from '../../limits.ts'
import { isModernVersion } from '../../protocol/eras.ts'
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR } from '../../protocol/errors.ts'
import { getParams, isAnswer, type JsonObject } from '../../protocol/messages.ts'
import { isValidMessage } from '../../protocol/valid-message.ts'
import type { HttpReply, HttpRequest } from '../../transports/http/exchange.ts'
import type { HttpHandler } from '../../transports/http/node.ts'
import { HTTP_ERROR, HttpRefusal, refuse } from '../../transports/http/refusal.ts'
import type { ServeMcpOptions } from '../contract/options.ts'
import { hasEnvelope } from '../conversation/eras.ts'
import { getMeta } from '../requests/request.ts'
import type { ClientViews } from '../views/views.ts'
import { identify } from './caller.ts'
import { answerLegacy } from './legacy.ts'
import { ModernRequests } from './modern.ts'
import { HttpSessions } from './sessions.ts'
import { LimitedStreams } from './streams.ts'

/** Answers HTTP requests of both eras. */
export interface Endpoint extends HttpHandler {
  close(): void
}

export function createEndpoint(views: ClientViews, options: ServeMcpOptions): Endpoint {
  const maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES
  const streams = new LimitedStreams({ max: MAX_STREAMS, perPeer: STREAMS_PER_PEER, ...options.streams })
  const sessions = new HttpSessions(options, views)
  // What fails for every client is reported at once.
  views.watchModern(() => undefined)()
  let modern: ModernRequests | undefined
  let isClosed = false

  /** Not before there is a modern client: it listens to the features. */
  function getModern(): ModernRequests {
    return (modern ??= new ModernRequests(options, views, streams))
  }

  async function answer(request: HttpRequest, reply: HttpReply): Promise<void> {
    // Not read in advance: a server may begin to require it while it runs.
    const caller = await identify(request, options.authorize)
    const call = { request, reply, caller }
    const legacy = { options, sessions, streams }
    const { messages, isBatch } = request.method === 'POST' ? await readMessages(request, maxBodyBytes) : NOTHING
    if (isClosed) throw refuse(503, HTTP_ERROR, 'This server is closing.')
    const [only] = messages
    if (only && !isBatch && isModern(only, request)) getModern().answer(call, only)
    else await answerLegacy(legacy, call, messages)
  }

  return {
    async handle(request, reply) {
      try {
        await answer(request, reply)
      } catch (error) {
        toRefusal(error, options).send(reply)
      }
    },
    close() {
      isClosed = true
      modern?.close()
      sessions.close()
    },
  }
}

interface Body {
  readonly messages: readonly JsonObject[]
  /** Whether it is a list. */
  readonly isBatch: boolean
}

const NOTHING: Body = { messages: [], isBatch: false }

async function readMessages(request: HttpRequest, maxBytes: number): Promise<Body> {
  if (!JSON_TYPE.test(request.getHeader('content-type') ?? ''))
    throw refuse(415, HTTP_ERROR, 'Unsupported Media Type: Content-Type must be application/json')
  const text = await request.readBody(maxBytes)
  if (text === undefined) {
    const why = `Payload Too Large: a request must not exceed ${maxBytes} bytes`
    throw refuse(413, HTTP_ERROR, why, { connection: 'close' })
  }
  const body = parse(text)
  const isBatch = Array.isArray(body)
  const messages = isBatch ? (body as readonly unknown[]) : [body]
  if (messages.length === 0 || !messages.every(isValidMessage))
    throw refuse(400, INVALID_REQUEST, 'Bad Request: the body is not a message of MCP.')
  if (isBatch && messages.some((message) => hasEnvelope(getMeta(getParams(message)))))
    throw refuse(400, INVALID_REQUEST, 'Bad Request: since MCP 2026-07-28, there are no batches.')
  return { messages, isBatch }
}

const JSON_TYPE = /^application\/json\s*(?:;|$)/i

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refuse(400, PARSE_ERROR, 'Parse error: the body is not valid JSON')
  }
}

/** Modern requests say so in their body, and notifications at least in a header. */
function isModern(message: JsonObject, request: HttpRequest): boolean {
  if (isAnswer(message)) return false
  return hasEnvelope(getMeta(getParams(message))) || isModernVersion(request.getHeader('mcp-protocol-version'))
}

function toRefusal(error: unknown, { onError }: ServeMcpOptions): HttpRefusal {
  if (error instanceof HttpRefusal) return error
  onError?.(error as Error)
  return refuse(500, INTERNAL_ERROR, 'Internal server error')
}
