import type { PinMode } from '../../config/definition.ts'
import type { GatewayEvent } from '../../model/events.ts'
import type { ToolDefinition } from '../../model/snapshot.ts'
import { hashText } from '../../../shared/hash.ts'
import { createPin, hashTools, type Pin, type PinStore } from './pins.ts'
import { UNSAVED, UserPins } from './user-pins.ts'

/** Tools of a server that the user has not accepted. */
export interface PinReport {
  readonly added: readonly string[]
  readonly changed: readonly string[]
}

export interface ServerPinsOptions {
  readonly store: PinStore
  /** Distinguishes servers by how they are started. */
  readonly id: string
  readonly server: string
  readonly mode: PinMode
  /** Called when the user has accepted something. */
  readonly onApproved: () => void
  readonly onProblem: (message: string) => void
}

const RETRY_MS = 10_000
const UNREADABLE = 'The pinned definitions cannot be read, so none counts as accepted'

/** Compares a server's definitions with the accepted ones. */
export class ServerPins {
  readonly #options: ServerPinsOptions
  #pin: Pin | 'none' | 'damaged' = 'none'
  #report: PinReport = { added: [], changed: [] }
  #held: ReadonlySet<string> = new Set()
  #stopWatching: (() => void) | undefined
  /** Whether changed definitions may be on disk, from this process or from an earlier one. */
  #hasNoted = false
  #writing: Promise<void> = Promise.resolve()
  /** A write that failed and is retried. */
  readonly #retries = new Map<'create' | 'note', ReturnType<typeof setTimeout>>()
  #isClosed = false
  readonly #users: UserPins

  constructor(options: ServerPinsOptions) {
    this.#options = options
    this.#users = new UserPins({ ...options, isShared: (tool, hash) => this.#isAccepted(tool, hash) })
  }

  get isHolding(): boolean {
    return this.#options.mode === 'hold'
  }

  /** Whether a tool must not be shown or called. */
  isHeld(tool: string): boolean {
    return this.#held.has(tool)
  }

  /** Whether a definition that a server shows to a single user must not be called. */
  holdsForUser(tool: string, hash: string): boolean {
    return this.isHolding && !this.#users.isAccepted(tool, hash)
  }

  /** Compares the definitions that a server shows to a single user with the accepted ones, and reports what is new. */
  meetForUser(tools: readonly ToolDefinition[], onEvent: (event: GatewayEvent) => void): void {
    if (this.#options.mode === 'off') return
    // Nobody can call a tool that is not in the list that everyone sees.
    const pin = typeof this.#pin === 'object' ? this.#pin.tools : []
    const listed = new Set([...pin.map(([name]) => name), ...this.#report.added])
    const changed = this.#users.meet(tools.filter(({ name }) => listed.has(name)))
    if (changed.length > 0) onEvent(this.toEvent({ added: [], changed }))
  }

  toEvent(report: PinReport = this.#report): GatewayEvent {
    return { type: 'server/unapproved', server: this.#options.server, ...report, isHeld: this.isHolding }
  }

  #isAccepted(tool: string, hash: string): boolean {
    if (typeof this.#pin !== 'object') return this.#pin === 'none'
    return this.#pin.tools.some(([name, accepted]) => name === tool && accepted === hash)
  }

  /** Reads what the user has accepted, which must be known before tools are compared. */
  async load(): Promise<void> {
    const { store, id, mode, server, onProblem } = this.#options
    if (mode === 'off') return
    await this.#users.load()
    try {
      this.#pin = (await store.read(id)) ?? 'none'
    } catch (error) {
      // Then nothing counts as accepted: damaging the file must not be a way to add tools.
      this.#pin = 'damaged'
      // An unreachable store comes back.
      this.#watch()
      if ((error as NodeJS.ErrnoException).code !== undefined) store.reportFailure(UNREADABLE, error)
      else
        onProblem(
          `The pinned definitions of '${server}' cannot be read. To accept its current definitions, run foldout approve ${server}.`,
        )
    }
  }

  /** Compares the server's definitions with the accepted ones. Returns whether anything new was found. */
  check(given: readonly ToolDefinition[]): boolean {
    const { mode } = this.#options
    // Servers send anything. A tool without a name is never listed.
    const tools = given.filter(({ name }: { readonly name: unknown }) => typeof name === 'string')
    if (mode === 'off') return false
    if (this.#pin === 'none') {
      this.#pin = createPin(this.#options.server, hashTools(tools), tools)
      this.#write(() => this.#create(tools))
      return false
    }
    const before = this.#report
    const pin = this.#pin === 'damaged' ? undefined : this.#pin
    const isUnchanged = pin?.quick !== undefined && pin.quick === hashText(JSON.stringify(tools))
    const hashes = isUnchanged ? new Map<string, string>() : hashTools(tools)
    const accepted = new Map(pin?.tools)
    const differing = [...hashes].filter(([name, hash]) => accepted.get(name) !== hash).map(([name]) => name)
    this.#report = {
      added: differing.filter((name) => !accepted.has(name)),
      changed: differing.filter((name) => accepted.has(name)),
    }
    this.#held = new Set(mode === 'hold' ? differing : [])
    const names = new Set(differing)
    if (this.#hasNoted || names.size > 0) this.#noteLater(tools.filter(({ name }) => names.has(name)))
    if (differing.length > 0) this.#watch()
    return differing.length > 0 && JSON.stringify(before) !== JSON.stringify(this.#report)
  }

  /** Resolves when all writes have finished or failed. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopWatching?.()
    this.#stopWatching = undefined
    for (const retry of this.#retries.values()) clearTimeout(retry)
    await Promise.all([this.#writing, this.#users.close()])
  }

  /** Runs writes one after the other, so that the last one seen is kept. */
  #write(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work)
  }

  #writeLater(what: 'create' | 'note', work: () => Promise<void>): void {
    clearTimeout(this.#retries.get(what))
    if (this.#isClosed) return
    const retry = setTimeout(() => this.#write(work), RETRY_MS)
    retry.unref()
    this.#retries.set(what, retry)
  }

  #noteLater(differing: readonly ToolDefinition[]): void {
    this.#hasNoted = true
    // Only the last one seen is kept.
    clearTimeout(this.#retries.get('note'))
    this.#write(() => this.#note(differing))
  }

  async #create(tools: readonly ToolDefinition[]): Promise<void> {
    const { store, id, server } = this.#options
    try {
      const mine = this.#pin
      this.#pin = await store.create(id, server, tools)
      const isSame = typeof mine === 'object' && this.#pin.set === mine.set
      if (!isSame) this.#options.onApproved()
    } catch (error) {
      store.reportFailure('Definitions of tools cannot be pinned', error)
      // What was seen first still counts.
      this.#writeLater('create', () => this.#create(tools))
    }
  }

  async #note(differing: readonly ToolDefinition[]): Promise<void> {
    const { store, id, server } = this.#options
    try {
      await store.note(id, server, differing)
    } catch (error) {
      store.reportFailure(UNSAVED, error)
      this.#writeLater('note', () => this.#note(differing))
    }
  }

  /** Picks up definitions that the user accepts in another process. */
  #watch(): void {
    this.#stopWatching ??= this.#options.store.watch(this.#options.id, this.#reload)
  }

  readonly #reload = (): void => {
    void this.load().then(() => this.#options.onApproved())
  }
}
