import { ignore } from 'foldout/promises'
import type { ToolDefinition } from '../../model/snapshot.ts'
import { hashJson } from '../../../shared/hash.ts'
import { toUserPin, type PinStore } from './pins.ts'

export interface UserPinsOptions {
  readonly store: PinStore
  /** Distinguishes servers by how they are started. */
  readonly id: string
  readonly server: string
  /** Whether the definition is the accepted one of the list that everyone sees. */
  isShared(tool: string, hash: string): boolean
}

export const UNSAVED = 'Changed definitions of tools cannot be saved'

/**
 * Compares the definitions that a server shows to single users with the accepted ones. They are accepted on their own: the definition
 * that everyone sees stays accepted, too.
 */
export class UserPins {
  readonly #options: UserPinsOptions
  readonly #id: string
  #accepted: ReadonlyMap<string, string> = new Map()
  /** The latest definition of each tool that was not accepted. */
  readonly #met = new Map<string, ToolDefinition>()
  #stopWatching: (() => void) | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: UserPinsOptions) {
    this.#options = options
    this.#id = toUserPin(options.id)
  }

  /** Reads what the user has accepted. If it cannot be read, nothing counts as accepted. */
  async load(): Promise<void> {
    const pin = await ignore(this.#options.store.read(this.#id), 'nothing counts as accepted then')
    this.#accepted = new Map(pin?.tools)
  }

  isAccepted(tool: string, hash: string): boolean {
    return this.#accepted.get(tool) === hash || this.#options.isShared(tool, hash)
  }

  /** Compares definitions with the accepted ones. Returns the tools whose definitions differ and were not seen before. */
  meet(tools: readonly ToolDefinition[]): readonly string[] {
    const fresh = tools.filter((tool) => {
      const hash = hashJson(tool)
      const known = this.#met.get(tool.name)
      return !this.isAccepted(tool.name, hash) && (!known || hashJson(known) !== hash)
    })
    if (fresh.length === 0) return []
    for (const tool of fresh) this.#met.set(tool.name, tool)
    this.#writing = this.#writing.then(() => this.#note())
    this.#stopWatching ??= this.#options.store.watch(this.#id, () => void this.load())
    return fresh.map(({ name }) => name)
  }

  async close(): Promise<void> {
    this.#stopWatching?.()
    this.#stopWatching = undefined
    await this.#writing
  }

  async #note(): Promise<void> {
    const { store, server } = this.#options
    await store
      .note(this.#id, server, [...this.#met.values()])
      .catch((error: Error) => store.reportFailure(UNSAVED, error))
  }
}
