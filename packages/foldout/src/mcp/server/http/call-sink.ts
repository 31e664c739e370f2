import type { ServerResponse } from 'node:http'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { JSON_ANSWER_MS } from '../../limits.ts'
import { EVENT_STREAM, formatEvent } from './event-stream.ts'

/**
 * Sends the answer to a call. It is plain JSON if the call ends soon and sends nothing before, and an event stream
 * otherwise: plain answers take half the time, but the client receives nothing until the end.
 */
export class CallSink {
  /** Stops the call when its client has gone. */
  readonly stop: AbortController
  readonly #response: ServerResponse
  readonly #session: string
  #timer: ReturnType<typeof setTimeout> | undefined
  #isStream = false

  constructor(response: ServerResponse, session: string, stop: AbortController) {
    this.stop = stop
    this.#response = response
    this.#session = session
    this.#timer = setTimeout(() => this.#open(), JSON_ANSWER_MS)
  }

  /** Sends a message that comes before the answer. */
  send(message: JSONRPCMessage): void {
    this.#open()
    this.#response.write(formatEvent(message))
  }

  /** Sends the answer; nothing if the call was cancelled. */
  end(message: JSONRPCMessage | undefined): void {
    clearTimeout(this.#timer)
    const response = this.#response
    if (response.destroyed) return
    if (message === undefined || this.#isStream) {
      this.#open()
      response.end(message && formatEvent(message))
      return
    }
    const text = JSON.stringify(message)
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'mcp-session-id': this.#session,
    })
    response.end(text)
  }

  /** Sends the answer to a request that is not a call: as an event, which is how the SDK answers it. */
  endWithEvent(message: JSONRPCMessage): void {
    clearTimeout(this.#timer)
    if (this.#response.destroyed) return
    const text = formatEvent(message)
    const length = { 'content-length': Buffer.byteLength(text) }
    this.#response.writeHead(200, { ...EVENT_STREAM, ...length, 'mcp-session-id': this.#session })
    this.#response.end(text)
  }

  #open(): void {
    clearTimeout(this.#timer)
    if (this.#isStream || this.#response.destroyed) return
    this.#isStream = true
    this.#response.writeHead(200, { ...EVENT_STREAM, 'mcp-session-id': this.#session })
    this.#response.flushHeaders()
  }
}
