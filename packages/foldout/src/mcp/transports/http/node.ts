import type { IncomingMessage, ServerResponse } from 'node:http'
import { MAX_REQUESTS, REQUESTS_PER_PEER } from '../../limits.ts'
import { INVALID_REQUEST } from '../../protocol/errors.ts'
import type { HeaderValues, HttpReply, HttpRequest, HttpStream } from './exchange.ts'
import { PeerCounter, toPeer } from './peer-counter.ts'
import { refuse, refuseForNow } from './refusal.ts'

/** Answers requests over HTTP. */
export interface HttpHandler {
  handle(request: HttpRequest, reply: HttpReply): Promise<void>
}

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** Answers requests of `node:http` within the limit of requests at a time. */
export function createNodeHandler(handler: HttpHandler): NodeHandler {
  const requests = new PeerCounter({ max: MAX_REQUESTS, perPeer: REQUESTS_PER_PEER })
  return async (request, response) => {
    const reply = new NodeReply(response)
    const peer = toPeer(request.socket.remoteAddress)
    const refusal = requests.check(peer)
    if (refusal) {
      const told = 'This server is answering too many requests at once. Try again later.'
      return refuseForNow(refusal, told).send(reply)
    }
    reply.onClose(requests.take(peer))
    await handler.handle(new NodeRequest(request), reply)
  }
}

class NodeRequest implements HttpRequest {
  readonly method: string
  readonly address: string | undefined
  readonly #request: IncomingMessage

  constructor(request: IncomingMessage) {
    this.method = request.method ?? 'GET'
    this.address = request.socket.remoteAddress
    this.#request = request
  }

  getHeader(name: string): string | undefined {
    const value = Object.hasOwn(this.#request.headers, name) ? this.#request.headers[name] : undefined
    if (Array.isArray(value)) return value.join(', ')
    return value
  }

  /** Listeners take a fraction of the time of an async iterator. */
  readBody(maxBytes: number): Promise<string | undefined> {
    const request = this.#request
    if (Number(request.headers['content-length']) > maxBytes) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let bytes = 0
      // One that breaks off has no end, and perhaps no error.
      const onClose = (): void => reject(refuse(400, INVALID_REQUEST, 'Bad Request: the request broke off.'))
      if (request.destroyed && !request.readableEnded) return onClose()
      const onData = (chunk: Buffer): void => {
        bytes += chunk.length
        chunks.push(chunk)
        if (bytes <= maxBytes) return
        request.off('data', onData)
        request.pause()
        resolve(undefined)
      }
      request.on('data', onData)
      request.once('end', () => {
        // An error costs more than the rest of this function, so none is created for a request that has ended.
        request.off('close', onClose)
        const [only] = chunks
        resolve(chunks.length === 1 && only ? only.toString() : Buffer.concat(chunks).toString())
      })
      request.once('error', onClose)
      request.once('close', onClose)
    })
  }

  toRequest(): Request {
    const { url = '/', headers } = this.#request
    try {
      const web = new Headers()
      for (const [name, value] of Object.entries(headers)) {
        if (typeof value === 'string') web.set(name, value)
        else for (const one of value ?? []) web.append(name, one)
      }
      return new Request(`http://${headers.host ?? 'localhost'}${url}`, { method: this.method, headers: web })
    } catch {
      throw refuse(400, INVALID_REQUEST, 'Bad Request: the request could not be read.')
    }
  }
}

class NodeReply implements HttpReply {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  get isClosed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded
  }

  end(status: number, headers: HeaderValues, body = ''): void {
    if (this.isClosed) return
    const length = status === 202 ? {} : { 'content-length': Buffer.byteLength(body) }
    this.#response.writeHead(status, { ...headers, ...length })
    this.#response.end(body)
  }

  stream(headers: HeaderValues): HttpStream {
    const response = this.#response
    if (!this.isClosed) {
      response.writeHead(200, headers)
      response.flushHeaders()
    }
    return {
      get unreadBytes() {
        return response.writableLength
      },
      // A client that does not read keeps an answer that has ended from closing.
      write: (text) => void (response.destroyed || response.writableEnded || response.write(text)),
      end: () => void response.end(),
      destroy: () => void response.destroy(),
    }
  }

  onClose(listener: () => void): void {
    if (this.#response.closed) listener()
    else this.#response.once('close', listener)
  }
}
