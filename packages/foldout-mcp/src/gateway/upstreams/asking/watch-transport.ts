import type { McpTransport } from 'foldout/mcp'
import { isObject, type JsonObject } from 'foldout-shared/values'
import type { Secrets } from '../../policy/secrets/secrets.ts'
import { ANSWER_MS, MAX_ABANDONED } from './limits.ts'

/** The notifications whose texts reach clients and logs. */
const TOLD: ReadonlySet<unknown> = new Set([
  'notifications/message',
  'notifications/progress',
  'notifications/tasks/status',
])

interface Watching {
  readonly secrets: Pick<Secrets, 'hideIn'>
  /** Told which requests are cancelled, and which are answered. */
  readonly abandoned: Abandoned
}

/**
 * Removes secrets from errors, failed results, logs and progress as they arrive. Later, long texts are cut, and half a secret would
 * not be recognized. Also notices answers to cancelled requests, which are not waited for any more.
 */
export function watchTransport(transport: McpTransport, { secrets, abandoned }: Watching): McpTransport {
  return {
    get hasRequestStreams() {
      return transport.hasRequestStreams === true
    },
    start: (receiver) =>
      transport.start({
        receive(message) {
          if (!isObject(message)) return receiver.receive(message)
          if (!abandoned.isEmpty && !('method' in message)) abandoned.settle(message['id'])
          receiver.receive(hideInMessage(message, secrets))
        },
        close: () => receiver.close(),
      }),
    send(message, options) {
      if (message['method'] === 'notifications/cancelled' && isObject(message['params']))
        abandoned.cancel(message['params']['requestId'])
      return transport.send(message, options)
    },
    close: () => transport.close(),
    listen: (headers) => transport.listen?.(headers),
  }
}

/** Results of calls that succeeded are passed on unchanged. */
function hideInMessage(message: JsonObject, { hideIn }: Pick<Secrets, 'hideIn'>): JsonObject {
  const { error, result, method, params } = message
  if (error !== undefined) return { ...message, error: hideIn(error) }
  if (isObject(result)) {
    if (result['isError'] === true) return { ...message, result: hideIn(result) }
    return message
  }
  if (params !== undefined && TOLD.has(method)) return { ...message, params: hideIn(params) }
  return message
}

/**
 * The calls of one connection that were cancelled and that the server has not answered. A server may go on with such a call, and ask
 * or log something for it. Nothing but a late answer says that it has stopped, so a call counts until then, or for a limited time.
 */
export class Abandoned {
  /** The ids of the cancelled requests, the oldest first, with the time until which they count. */
  readonly #requests = new Map<string, number>()
  /** The users whose calls were cancelled, with the time until which they count. */
  readonly #users = new Map<string | undefined, number>()
  /** Until when there may be more cancelled requests than are remembered. */
  #uncountedUntil = 0

  /** Remembers a request that the server was told to cancel. */
  cancel(id: unknown): void {
    const now = performance.now()
    for (const [other, until] of this.#requests) {
      if (until > now) break
      this.#requests.delete(other)
    }
    if (this.#requests.size < MAX_ABANDONED) this.#requests.set(String(id), now + ANSWER_MS)
    else this.#uncountedUntil = now + ANSWER_MS
  }

  /** Whether any request was cancelled and not answered. */
  get isEmpty(): boolean {
    return this.#requests.size === 0
  }

  /** Forgets a request that the server has answered. */
  settle(id: unknown): void {
    this.#requests.delete(String(id))
    if (this.isEmpty && this.#uncountedUntil <= performance.now()) this.#users.clear()
  }

  /** Remembers whose call was cancelled. */
  add(user: string | undefined): void {
    // The call may have been cancelled before the server got it.
    if (!this.isEmpty) this.#users.set(user, performance.now() + ANSWER_MS)
  }

  /** The users whose calls the server may still be working on. */
  listUsers(): readonly (string | undefined)[] {
    const now = performance.now()
    return [...this.#users].filter(([, until]) => until > now).map(([user]) => user)
  }
}
