import type { CallClient } from 'foldout/catalog'
import { isObject, type JsonObject } from 'foldout-shared/values'
import { Audience } from './audience.ts'
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
  /** The owner of the tasks that the client begins. */
  readonly owner: string
  /** Defined if the client can be asked. */
  readonly ask: Ask | undefined
  /** What the client has declared. */
  readonly capabilities: JsonObject
  /** How many of its questions the client has not answered yet. */
  waiting: number
  /** Sends the client a notification about its call. */
  notify(method: string, params: JsonObject): void
}

/** The running calls of one process or connection, and the clients that it has been used for. */
export class Callers {
  readonly audience = new Audience()
  readonly #running = new Set<Caller>()
  readonly #pages = new Map<string, string>()

  add(caller: Caller): () => void {
    this.#running.add(caller)
    return () => this.#running.delete(caller)
  }

  /** The running calls, or those of the owner of a task, in the order in which they began. */
  list(owner?: string): readonly Caller[] {
    const running = [...this.#running]
    if (owner === undefined) return running
    return running.filter((caller) => caller.owner === owner)
  }

  /**
   * The call that a question belongs to. One that waits for its client has asked its question, so another question comes from
   * another call, unless all of them wait.
   *
   * @param owner The owner of the task that it belongs to, if it belongs to one.
   * @throws Error that says why nobody can be asked.
   */
  getOnly(owner?: string): Caller {
    const running = this.list(owner)
    const active = running.filter(({ waiting }) => waiting === 0)
    const clients = new Map((active.length > 0 ? active : running).map((caller) => [caller.client, caller]))
    const [only, second] = clients.values()
    if (!only) throw new Error('No client with a running call can be asked.')
    if (second) throw new Error(SEVERAL_CALLS)
    return only
  }

  /** Passes a log message on to the clients that have calls running and want it. See {@link wantsLog}. */
  log(params: JsonObject, told: string | undefined): void {
    const clients = new Map([...this.#running].map((caller) => [caller.client, caller]))
    for (const caller of clients.values())
      if (wantsLog(caller, params['level'], told)) caller.notify('notifications/message', params)
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

const SEVERAL_CALLS =
  'Several calls of clients without a connection are running, and a question does not say which of them it belongs to.'
