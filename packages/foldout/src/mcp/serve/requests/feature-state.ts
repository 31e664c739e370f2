import type { JsonObject } from '../../protocol/messages.ts'
import type { FeatureNotification } from '../contract/features.ts'
import type { ClientMemory } from '../views/memory.ts'
import type { ClientView } from '../views/views.ts'

/** The client that settings belong to. */
export interface SettingsOwner {
  readonly view: ClientView
  readonly memory: ClientMemory
  /** What it has declared when it connected. */
  getCapabilities(): JsonObject
  notify(notification: FeatureNotification): Promise<void>
  onError(error: Error): void
}

/**
 * The settings of a legacy client for the features, for the lifetime of its session: the log level, and the resources
 * it watches.
 */
export class FeatureState {
  readonly #owner: SettingsOwner
  /** The resources that the features of this process watch. */
  readonly #watched = new Set<string>()
  #logLevel: string | undefined
  #last: Promise<void> = Promise.resolve()

  constructor(owner: SettingsOwner) {
    this.#owner = owner
  }

  /** Remembers a request that the features have answered. */
  note(method: string, params: JsonObject): void {
    const { memory } = this.#owner
    const uri = String(params['uri'])
    this.#noteHere(method, params)
    if (method === 'logging/setLevel') memory.setLogLevel(String(params['level']))
    if (method === 'resources/subscribe') memory.watch(uri)
    if (method === 'resources/unsubscribe') memory.unwatch(uri)
  }

  #noteHere(method: string, params: JsonObject): void {
    const uri = String(params['uri'])
    if (method === 'logging/setLevel') this.#logLevel = String(params['level'])
    if (method === 'resources/subscribe') this.#watched.add(uri)
    if (method === 'resources/unsubscribe') this.#watched.delete(uri)
  }

  /** Applies the client's settings from another process to the features of this one. */
  apply(): Promise<void> {
    // One at a time, so nothing is requested twice.
    this.#last = this.#last.then(() => this.#applyOnce())
    return this.#last
  }

  async #applyOnce(): Promise<void> {
    const { logLevel, watched } = this.#owner.memory
    const wanted = new Set(watched)
    if (logLevel !== undefined && logLevel !== this.#logLevel) await this.#ask('logging/setLevel', { level: logLevel })
    for (const uri of wanted) if (!this.#watched.has(uri)) await this.#ask('resources/subscribe', { uri })
    for (const uri of Array.from(this.#watched)) if (!wanted.has(uri)) await this.#ask('resources/unsubscribe', { uri })
  }

  async #ask(method: string, params: Readonly<Record<string, string>>): Promise<void> {
    const { client, features } = this.#owner.view
    const notify = (told: string, about: object): Promise<void> =>
      this.#owner.notify({ method: told, params: { ...about } })
    const peer = { era: 'legacy', capabilities: { ...this.#owner.getCapabilities() }, notify } as const
    const signal = new AbortController().signal
    try {
      await features?.request({ method, params }, { client, peer, signal, meta: {} })
    } catch (error) {
      // For example, a server is down. The client is not notified, as on the other machine.
      this.#owner.onError(error as Error)
    }
    // The memory has it already. Written once more, it would undo what another machine writes in the meantime.
    this.#noteHere(method, params)
  }
}
