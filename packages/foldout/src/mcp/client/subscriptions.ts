import { isObject } from 'foldout-shared/values'
import { SUBSCRIPTION_ID } from '../keys.ts'
import { LIST_TIMEOUT_MS } from '../limits.ts'
import { ProtocolError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/messages.ts'
import type { RequestOptions } from '../protocol/pending.ts'
import type { McpSubscription } from './session.ts'

export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

type Listen = (params: JsonObject, options: RequestOptions) => Promise<JsonObject>

/**
 * The subscriptions of a session. Each is one request, which the server acknowledges with a notification, and answers only
 * when the subscription ends.
 */
export class Subscriptions {
  readonly #listen: Listen
  readonly #open = new Map<number, Subscription>()

  constructor(listen: Listen) {
    this.#listen = listen
  }

  /** @throws Error if the server refuses, or does not acknowledge it in time. */
  async open(filter: JsonObject, signal: AbortSignal | undefined): Promise<McpSubscription> {
    const subscription = new Subscription(signal)
    let id: number | undefined
    const request = this.#listen(
      { notifications: filter },
      {
        signal: subscription.signal,
        onStart: (started) => {
          id = started
          this.#open.set(started, subscription)
        },
      },
    )
    void request
      .then(
        () => subscription.end(new Error('The server ended the subscription.')),
        (error: Error) => subscription.end(error),
      )
      .finally(() => id !== undefined && this.#open.delete(id))
    await subscription.acknowledged
    return subscription
  }

  acknowledge({ _meta: meta, notifications }: JsonObject): void {
    const id = isObject(meta) ? Number(meta[SUBSCRIPTION_ID]) : Number.NaN
    this.#open.get(id)?.acknowledge(isObject(notifications) ? notifications : {})
  }

  /** The server has ended a subscription with a notification. */
  end(id: unknown): void {
    this.#open.get(Number(id))?.end(new Error('The server ended the subscription.'))
  }
}

class Subscription implements McpSubscription {
  honored: JsonObject = {}
  readonly closed: Promise<'local' | 'remote'>
  readonly acknowledged: Promise<void>
  readonly #stop = new AbortController()
  readonly #given: AbortSignal | undefined
  readonly #late: ReturnType<typeof setTimeout>
  #isLocal = false
  #resolveClosed: (how: 'local' | 'remote') => void = () => undefined
  #settle: { resolve(): void; reject(error: Error): void } | undefined

  constructor(signal: AbortSignal | undefined) {
    this.#given = signal
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve))
    this.acknowledged = new Promise((resolve, reject) => (this.#settle = { resolve, reject }))
    const why = new ProtocolError('REQUEST_TIMEOUT', 'The server did not acknowledge the subscription in time.')
    this.#late = setTimeout(() => this.end(why), LIST_TIMEOUT_MS)
    this.#late.unref?.()
    if (signal?.aborted) this.#stop.abort(signal.reason)
    signal?.addEventListener('abort', this, { once: true })
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  acknowledge(honored: JsonObject): void {
    this.honored = honored
    clearTimeout(this.#late)
    this.#settle?.resolve()
  }

  async close(): Promise<void> {
    this.#isLocal = true
    this.end(new Error('The subscription was closed.'))
  }

  /** Listens to the signal. */
  handleEvent(): void {
    this.#isLocal = true
    this.end(this.#given?.reason instanceof Error ? this.#given.reason : new Error(String(this.#given?.reason)))
  }

  /** Ends it, unless it has ended before. */
  end(why: Error): void {
    clearTimeout(this.#late)
    this.#given?.removeEventListener('abort', this)
    this.#settle?.reject(why)
    this.#resolveClosed(this.#isLocal ? 'local' : 'remote')
    // Ends the request, if the server has not.
    this.#stop.abort(why)
  }
}
