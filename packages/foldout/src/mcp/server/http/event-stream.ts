import type { ServerResponse } from 'node:http'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { MAX_UNREAD_EVENT_BYTES } from '../../limits.ts'

export const EVENT_STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

export function formatEvent(message: JSONRPCMessage): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}

/** A comment. With nothing to send yet, Node would keep even the headers back. */
export const OPENED = ': open\n\n'

/** The stream that a legacy client keeps open for messages that belong to none of its requests. */
export class EventStream {
  readonly #response: ServerResponse

  constructor(response: ServerResponse, session: string) {
    this.#response = response
    response.writeHead(200, { ...EVENT_STREAM, 'mcp-session-id': session })
    response.write(OPENED)
  }

  send(message: JSONRPCMessage): void {
    if (this.#response.destroyed) return
    this.#response.write(formatEvent(message))
    // The client can open another one when it reads again.
    if (this.#response.writableLength > MAX_UNREAD_EVENT_BYTES) this.#response.destroy()
  }

  end(): void {
    this.#response.end()
  }
}
