import { ignore } from 'foldout/promises'
import type { McpSession, McpSubscription } from 'foldout/mcp'
import { isObject } from 'foldout-shared/values'
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS } from './failures/limits.ts'
import { pause } from './failures/pause.ts'

/** A connection's subscriptions at its server. */
export interface Subscriptions {
  /** Subscribes to changes of a resource. */
  watch(uri: string): Promise<void>
  unwatch(uri: string): Promise<void>
}

export interface SubscriptionOptions {
  /** Ends all of them. */
  readonly signal: AbortSignal
  readonly onError: (error: unknown) => void
  /** Called after a gap in which changes may have been missed. */
  readonly onGap: () => void
}

/** Subscribes to changes of a server's lists, and of resources on request. */
export async function openSubscriptions(session: McpSession, options: SubscriptionOptions): Promise<Subscriptions> {
  if (session.era === 'legacy') return new LegacySubscriptions(session)
  const subscriptions = new ModernSubscriptions(session, options)
  await subscriptions.open()
  return subscriptions
}

/** Legacy servers announce list changes without a subscription. */
class LegacySubscriptions implements Subscriptions {
  readonly #session: McpSession
  readonly #uris = new Set<string>()

  constructor(session: McpSession) {
    this.#session = session
  }

  async watch(uri: string): Promise<void> {
    if (this.#uris.has(uri)) return
    await this.#session.request('resources/subscribe', { uri })
    this.#uris.add(uri)
  }

  async unwatch(uri: string): Promise<void> {
    if (this.#uris.delete(uri)) await this.#session.request('resources/unsubscribe', { uri })
  }
}

/** Modern servers get one request with all subscriptions, and a new one whenever they change. */
class ModernSubscriptions implements Subscriptions {
  readonly #session: McpSession
  readonly #options: SubscriptionOptions
  readonly #uris = new Set<string>()
  #current: McpSubscription | undefined
  #last: Promise<void> = Promise.resolve()

  constructor(session: McpSession, options: SubscriptionOptions) {
    this.#session = session
    this.#options = options
  }

  /** Never rejects: a server without notifications can still be used. */
  async open(): Promise<void> {
    await this.#listen().catch(this.#options.onError)
  }

  watch(uri: string): Promise<void> {
    if (this.#uris.has(uri)) return this.#last
    this.#uris.add(uri)
    return this.#listen()
  }

  unwatch(uri: string): Promise<void> {
    if (this.#uris.delete(uri)) return this.#listen()
    return this.#last
  }

  /** Runs one after the other, so that the last request has the latest subscriptions. */
  #listen(): Promise<void> {
    const next = this.#last.then(() => this.#replace())
    this.#last = ignore(next, 'the caller is told')
    return next
  }

  async #replace(): Promise<void> {
    const { signal } = this.#options
    const { resources, prompts } = this.#session.server.capabilities
    const filter = {
      ...(hasChanges(resources) && { resourcesListChanged: true }),
      ...(hasChanges(prompts) && { promptsListChanged: true }),
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }),
    }
    const before = this.#current
    this.#current = undefined
    // Open the new one first, so that nothing is missed in between.
    if (Object.keys(filter).length > 0 && !signal.aborted) {
      const opened = await this.#session.listen(filter, { signal })
      this.#current = opened
      void opened.closed.then(() => this.#recover(opened))
    }
    await before?.close()
  }

  /** Asks again after the server, or the network, has ended a subscription. */
  async #recover(ended: McpSubscription): Promise<void> {
    const { signal, onGap } = this.#options
    for (let pauseMs = FIRST_PAUSE_MS; this.#current === ended && !signal.aborted; pauseMs *= 2) {
      await pause(Math.min(pauseMs, LONGEST_PAUSE_MS), signal)
      if (this.#current !== ended || signal.aborted) return
      try {
        await this.#listen()
        return onGap()
      } catch {
        // It is tried again.
      }
    }
  }
}

/** Whether a server announces changes of a list. */
function hasChanges(capability: unknown): boolean {
  return isObject(capability) && Boolean(capability['listChanged'])
}
