import type { ClientLink } from './handlers.ts'
import type { ClientMemory } from './memory.ts'
import type { ClientView } from './views.ts'

/**
 * The settings of a legacy client for the features, for the lifetime of its session: the log level, and the resources
 * it watches.
 */
export class FeatureState {
  readonly #link: ClientLink
  readonly #view: ClientView
  readonly #memory: ClientMemory
  /** The resources that the features of this process watch. */
  readonly #watched = new Set<string>()
  #logLevel: string | undefined
  #last: Promise<void> = Promise.resolve()

  constructor(link: ClientLink, view: ClientView, memory: ClientMemory) {
    this.#link = link
    this.#view = view
    this.#memory = memory
  }

  /** Remembers a request that the features have answered. */
  note(method: string, params: Readonly<Record<string, unknown>>): void {
    const uri = String(params['uri'])
    if (method === 'logging/setLevel') {
      this.#logLevel = String(params['level'])
      this.#memory.setLogLevel(this.#logLevel)
    }
    if (method === 'resources/subscribe') {
      this.#watched.add(uri)
      this.#memory.watch(uri)
    }
    if (method === 'resources/unsubscribe') {
      this.#watched.delete(uri)
      this.#memory.unwatch(uri)
    }
  }

  /** Applies the client's settings from another process to the features of this one. */
  apply(): Promise<void> {
    // One at a time, so nothing is requested twice.
    this.#last = this.#last.then(() => this.#applyOnce())
    return this.#last
  }

  async #applyOnce(): Promise<void> {
    const { logLevel, watched } = this.#memory
    const wanted = new Set(watched)
    if (logLevel !== undefined && logLevel !== this.#logLevel) await this.#ask('logging/setLevel', { level: logLevel })
    for (const uri of wanted) if (!this.#watched.has(uri)) await this.#ask('resources/subscribe', { uri })
    for (const uri of Array.from(this.#watched)) if (!wanted.has(uri)) await this.#ask('resources/unsubscribe', { uri })
  }

  async #ask(method: string, params: Readonly<Record<string, string>>): Promise<void> {
    const { client, features } = this.#view
    const notify = (told: string, about: object): Promise<void> =>
      this.#link.notify({ method: told, params: { ...about } })
    const peer = { era: 'legacy', capabilities: { ...this.#link.getCapabilities() }, notify } as const
    const signal = new AbortController().signal
    try {
      await features?.request({ method, params }, { client, peer, signal, meta: {} })
    } catch (error) {
      // For example, a server is down. The client is not notified, as on the other machine.
      this.#link.onError(error as Error)
    }
    this.note(method, params)
  }
}
