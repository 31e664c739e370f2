import type { CallClient } from 'foldout/catalog'
import { isObject, type JsonObject } from 'foldout-shared/values'
import type { Abandoned } from './watch-transport.ts'
import { MAX_HELD } from './limits.ts'

/** Sends a question to the client behind a call. */
export type Ask = (method: string, params: JsonObject, signal?: AbortSignal) => Promise<JsonObject>

/** From least to most severe. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** Whether a log message is at least as severe as a client wants. */
export function isSevere(level: unknown, wanted: string): boolean {
  return LOG_LEVELS.indexOf(String(level)) >= LOG_LEVELS.indexOf(wanted)
}

/** What a legacy client gets that has set no level, once the server was told the level of another client. */
export const DEFAULT_LEVEL = 'info'

/** What decides which log messages a client gets. */
export interface LogWish {
  readonly era: 'legacy' | 'modern' | undefined
  /** The least severe log level that the client wants. */
  readonly logLevel: string | undefined
}

/**
 * Whether a client gets a log message of a server. A modern client gets logs only if it asks for them. Before, servers
 * logged by default.
 *
 * @param told The level that the server was told, if it was.
 */
export function wantsLog({ era, logLevel }: LogWish, level: unknown, told: string | undefined): boolean {
  if (logLevel !== undefined) return isSevere(level, logLevel)
  return era === 'legacy' && (told === undefined || isSevere(level, DEFAULT_LEVEL))
}

/** The protocol's number for a request that needs the user to visit pages before. */
const PAGES_REQUIRED = -32_042

/** A client that has calls running on a connection. */
export interface Caller extends LogWish {
  /** The same for all calls of one client. */
  readonly client: string
  /** The principal of the client. Without tokens, all clients are of one user. */
  readonly user: string | undefined
  /** Defined if the client can be asked. */
  readonly ask: Ask | undefined
  /** What the client has declared. */
  readonly capabilities: JsonObject
  /** How many of its questions the client has not answered yet. */
  waiting: number
  /** Sends the client a notification about its call. */
  notify(method: string, params: JsonObject): void
}

/**
 * The callers of one connection. A legacy server's question does not name its call, so it goes to the one client that
 * has calls running. If there are several, nobody is asked, because the wrong client must not be. Between users, calls count
 * that wait for an answer, and those that were cancelled: a server may ask twice during a call, and go on with a cancelled one.
 */
export class Callers {
  readonly #running = new Set<Caller>()
  readonly #pages = new Map<string, string>()
  /** The users whose clients have called. Two are enough to know that there are several. */
  readonly #users = new Set<string | undefined>()
  #hasUnseen = false
  /** The cancelled calls of each open connection. */
  readonly #abandoned = new Set<Abandoned>()

  /** Remembers whose clients call. */
  meet({ principal, isShared }: CallClient): void {
    if (this.#users.size < 2) this.#users.add(principal)
    if (isShared) this.#hasUnseen = true
  }

  /** Whether clients have called that have no connection, so that nobody knows whether they are still there. */
  get hasUnseen(): boolean {
    return this.#hasUnseen
  }

  /** Whether no clients of other users have called. */
  isOnlyUser(principal: string | undefined): boolean {
    return this.#users.size === 0 || (this.#users.size === 1 && this.#users.has(principal))
  }

  /** Takes the cancelled calls of a connection into account. Call the returned function when the connection has ended. */
  watch(abandoned: Abandoned): () => void {
    this.#abandoned.add(abandoned)
    return () => this.#abandoned.delete(abandoned)
  }

  add(caller: Caller): () => void {
    this.#running.add(caller)
    return () => this.#running.delete(caller)
  }

  /** The running calls, in the order in which they began. */
  list(): readonly Caller[] {
    return [...this.#running]
  }

  /**
   * The client that a question is for. Among the calls of one user, one that waits for its client has asked its question, so
   * another question comes from another call, unless all of them wait.
   *
   * @param owner The owner of the task that the question belongs to, if it belongs to one.
   * @throws Error that says why nobody can be asked.
   */
  getOnly(owner?: string): Caller {
    // The owner of a task is known.
    if (owner === undefined && this.#findUsers().size > 1) throw new Error(SEVERAL_USERS)
    const running = this.#listOf(owner)
    const active = running.filter(({ waiting }) => waiting === 0)
    const clients = new Map((active.length > 0 ? active : running).map((caller) => [caller.client, caller]))
    const [only, second] = clients.values()
    if (!only) throw new Error('No client with a running call can be asked.')
    if (second) throw new Error('Several clients have running calls. Set isolate to true to give each its own process.')
    return only
  }

  /** Whether no call is running that a question can belong to. */
  isWithout(owner: string | undefined): boolean {
    return this.#listOf(owner).length === 0
  }

  #listOf(owner: string | undefined): readonly Caller[] {
    const running = this.list()
    if (owner === undefined) return running
    return running.filter(({ user }) => user === undefined || owner === `principal ${user}`)
  }

  /** The users whose calls the server may be working on. */
  #findUsers(): ReadonlySet<string | undefined> {
    const users = new Set<string | undefined>()
    for (const { user } of this.#running) users.add(user)
    for (const abandoned of this.#abandoned) for (const user of abandoned.listUsers()) users.add(user)
    return users
  }

  /**
   * Passes a log message on to the clients that have calls running and want it. See {@link wantsLog}. If it may be about calls of
   * several users, nobody gets it.
   *
   * @returns Whether it may be about a call.
   */
  log(params: JsonObject, told: string | undefined): boolean {
    const users = this.#findUsers()
    if (users.size > 1) return true
    // It may be about a cancelled call of a user, and is not for the others.
    if (this.isEmpty) return users.size > 0 && !users.has(undefined)
    const clients = new Map([...this.#running].map((caller) => [caller.client, caller]))
    for (const caller of clients.values())
      if (wantsLog(caller, params['level'], told)) caller.notify('notifications/message', params)
    return true
  }

  /** Remembers which client was sent to a page. */
  rememberPage(id: string, client: string): void {
    const [oldest] = this.#pages.keys()
    if (this.#pages.size >= MAX_HELD && oldest !== undefined) this.#pages.delete(oldest)
    this.#pages.set(id, client)
  }

  /** Remembers the pages that a client's user has to visit before a request can succeed, if an error says so. */
  rememberPages(error: unknown, client: CallClient | undefined): void {
    if (!isObject(error) || error['code'] !== PAGES_REQUIRED || !isObject(error['data'])) return
    const { elicitations } = error['data']
    if (!client || client.isShared || !Array.isArray(elicitations)) return
    for (const page of elicitations as readonly unknown[])
      if (isObject(page) && typeof page['elicitationId'] === 'string')
        this.rememberPage(page['elicitationId'], client.id)
  }

  /** The client that was sent to a page. */
  findPage(id: unknown): string | undefined {
    return this.#pages.get(String(id))
  }

  get isEmpty(): boolean {
    return this.#running.size === 0
  }
}

const SEVERAL_USERS =
  'Calls of several users are running, or were cancelled and may still run. Set isolate to true to give each client its own process.'
