import { RETRY_AFTER_SECONDS } from '../../limits.ts'
import type { ErrorObject } from '../../protocol/errors.ts'
import type { RequestId } from '../../protocol/messages.ts'
import type { HeaderValues, HttpReply } from './exchange.ts'
import type { Refusal } from './peer-counter.ts'

/** The code of errors that only HTTP has. */
export const HTTP_ERROR = -32_000

/** Answers a request over HTTP with an error, instead of the answer to a message. */
export class HttpRefusal extends Error {
  readonly status: number
  readonly #error: ErrorObject
  readonly #headers: HeaderValues
  readonly #id: RequestId | null

  constructor(status: number, error: ErrorObject, headers: HeaderValues = {}, id: RequestId | null = null) {
    super(error.message)
    this.name = 'HttpRefusal'
    this.status = status
    this.#error = error
    this.#headers = headers
    this.#id = id
  }

  send(reply: HttpReply): void {
    const body = JSON.stringify({ jsonrpc: '2.0', error: this.#error, id: this.#id })
    reply.end(this.status, { 'content-type': 'application/json', ...this.#headers }, body)
  }
}

export function refuse(status: number, code: number, message: string, headers?: HeaderValues): HttpRefusal {
  return new HttpRefusal(status, { code, message }, headers)
}

/** Asks a client to come back later: 429 if it has used up its share, 503 if the server is full. */
export function refuseForNow(refusal: Refusal, message: string): HttpRefusal {
  return refuse(refusal === 'peer' ? 429 : 503, HTTP_ERROR, message, { 'retry-after': String(RETRY_AFTER_SECONDS) })
}
