import { getParams, type JsonObject, type Message, type RequestId } from './messages.ts'

/** A request of the other side that is being answered. */
export class IncomingRequest {
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
  /** As it was sent. */
  readonly message: Message
  #controller: AbortController | undefined
  #reason: Error | undefined

  constructor(message: Message & { readonly id: RequestId; readonly method: string }) {
    this.id = message.id
    this.method = message.method
    this.params = getParams(message)
    this.message = message
  }

  /** Aborted when the other side cancels the request or disconnects. Created on first use, because most requests need none. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#reason) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  abort(reason: Error): void {
    this.#reason ??= reason
    this.#controller?.abort(reason)
  }
}
