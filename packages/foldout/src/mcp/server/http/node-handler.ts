import type { IncomingMessage, ServerResponse } from 'node:http'
import { MAX_BODY_BYTES, MAX_REQUESTS, REQUESTS_PER_PEER } from '../../limits.ts'
import type { ServeMcpOptions } from '../options.ts'
import { Stops } from '../legacy/stops.ts'
import { CallSink } from './call-sink.ts'
import type { Endpoint } from './endpoint.ts'
import { EventStream } from './event-stream.ts'
import { PeerCounter, toPeer } from './peer.ts'
import { httpError, refuseForNow, refuseLongBody } from './response.ts'

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Answers requests of `node:http` within the limit of requests at a time. */
export function createNodeHandler(endpoint: Endpoint, options: ServeMcpOptions): NodeHandler {
  const requests = new PeerCounter({ max: MAX_REQUESTS, perPeer: REQUESTS_PER_PEER })
  const maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES
  const stops = new Stops(options.reuseSignals === true)

  /** Returns the response; undefined if the request was already answered. */
  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    asked: Asked,
  ): Promise<Response | undefined> {
    const address = request.socket.remoteAddress
    const { gone } = asked
    const toRequest = (): Request => {
      asked.isShown = true
      asked.isInvalid = true
      const web = toWebRequest(request, gone.signal)
      asked.isInvalid = false
      return web
    }
    try {
      const text = await readBody(request, maxBodyBytes)
      if (text === undefined) return refuseLongBody(maxBodyBytes, { connection: 'close' })
      const { method, headers } = request
      const isAnswered = await endpoint.call({
        method,
        headers,
        address,
        text,
        toRequest,
        createSink: (session) => new CallSink(response, session, gone),
        createStream(session, onClose) {
          response.once('close', onClose)
          return new EventStream(response, session)
        },
        accept: () => void response.writeHead(202).end(),
      })
      if (isAnswered) return undefined
      return await endpoint.fetch(toRequest(), { address, text })
    } catch (error) {
      // A client that breaks off, or sends an invalid method or URL, must not be able to flood a log.
      if (request.complete && !asked.isInvalid) options.onError?.(error as Error)
      return httpError(400, -32_600, 'Bad Request: the request could not be read.')
    }
  }
  return async (request, response) => {
    const peer = toPeer(request.socket.remoteAddress)
    const refusal = requests.check(peer)
    if (refusal) {
      const told = 'This server is answering too many requests at once. Try again later.'
      return send(refuseForNow(refusal, told), response)
    }
    const asked: Asked = { gone: stops.take(), isShown: false, isInvalid: false }
    const release = requests.take(peer)
    response.once('close', () => {
      release()
      if (!response.writableFinished) asked.gone.abort()
      else if (!asked.isShown) stops.giveBack(asked.gone)
    })
    const answered = await answer(request, response, asked)
    if (answered) await send(answered, response)
  }
}

interface Asked {
  /** Aborts when the client has gone. */
  readonly gone: AbortController
  /** Whether others than the tool have seen the signal, and may keep it. */
  isShown: boolean
  /** Whether the request has an invalid method or URL. */
  isInvalid: boolean
}

/** What a request holds; nothing if that is more than it may. Listeners take a fraction of the time of an async iterator. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  if (Number(request.headers['content-length']) > maxBytes) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes <= maxBytes) return
      request.off('data', onData)
      request.pause()
      resolve(undefined)
    }
    // One that breaks off has no end, and perhaps no error.
    const onClose = (): void => reject(new Error('The request broke off.'))
    request.on('data', onData)
    request.once('end', () => {
      // An error costs more than the rest of this function, so none is created for a request that has ended.
      request.off('close', onClose)
      const [only] = chunks
      resolve(chunks.length === 1 && only ? only.toString() : Buffer.concat(chunks).toString())
    })
    request.once('error', reject)
    request.once('close', onClose)
  })
}

/** Creates a Fetch request without a body, which was already read. */
function toWebRequest({ method = 'GET', url = '/', headers }: IncomingMessage, signal: AbortSignal): Request {
  const web = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') web.set(name, value)
    else for (const one of value ?? []) web.append(name, one)
  }
  const made = new Request(`http://${headers.host ?? 'localhost'}${url}`, { method, headers: web })
  // Not through the constructor: Node would follow the signal with weak references, whose targets stay in memory until
  // a full garbage collection, a hundred megabytes later.
  return Object.defineProperty(made, 'signal', { value: signal })
}

/** Writes a response no faster than the client reads it. */
async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (!answer.body) {
    response.end()
    return
  }
  const reader = answer.body.getReader()
  const stop = (): void => void reader.cancel().catch(() => undefined)
  response.once('close', stop)
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (response.destroyed) return
      if (!response.write(read.value)) await waitForDrain(response)
    }
    response.off('close', stop)
  } catch {
    // The stream failed in the middle of an answer: the client sees it end.
  }
  response.end()
}

function waitForDrain(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go)
      response.off('close', go)
      resolve()
    }
    response.on('drain', go)
    response.on('close', go)
  })
}
