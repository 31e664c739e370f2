import { FoldoutError } from '../../../core/errors.ts'
import { findSizeFault } from '../../../core/json/measure.ts'
import { MAX_CLIENT_BYTES, MAX_DEPTH } from '../../limits.ts'
import { INVALID_REQUEST } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/messages.ts'
import type { PeerLimits, Refusal } from '../../transports/http/peer-counter.ts'
import { refuse, refuseForNow } from '../../transports/http/refusal.ts'
import type { ServeMcpOptions } from '../contract/options.ts'
import type { ClientViews } from '../views/views.ts'
import type { Caller } from './caller.ts'
import { createSessionKeeper, type KeptCopy, type SessionKeeper } from './kept/keeper.ts'
import { followSessions } from './kept/kept-session.ts'
import { HttpSession } from './session.ts'
import { SessionTable } from './session-table.ts'

const CLIENT_LIMITS = { maxBytes: MAX_CLIENT_BYTES, maxDepth: MAX_DEPTH }

/** The sessions of clients before MCP 2026-07-28, over HTTP. */
export class HttpSessions {
  readonly table: SessionTable<HttpSession>
  readonly #options: ServeMcpOptions
  readonly #views: ClientViews
  readonly #keeper: SessionKeeper | undefined
  readonly #follower: { stop(): void } | undefined
  readonly #rebuilding = new Map<string, Promise<HttpSession | undefined>>()

  constructor(options: ServeMcpOptions, views: ClientViews) {
    this.#options = options
    this.#views = views
    this.table = new SessionTable(options.sessions ?? {}, (session) => this.#leave(session))
    this.#keeper = createSessionKeeper(options)
    this.#follower =
      this.#keeper &&
      followSessions<HttpSession>({
        getBusy: () => this.table.busy,
        catchUp: (session) => this.#catchUp(session),
        report: (error) => this.#report(error),
      })
  }

  /**
   * Begins a session.
   *
   * @throws HttpRefusal if there is no room, or the client says too much about itself.
   */
  async begin(initialize: JsonObject, caller: Caller): Promise<HttpSession> {
    if (findSizeFault(initialize, CLIENT_LIMITS))
      throw refuse(413, INVALID_REQUEST, `The params of initialize may have at most ${MAX_CLIENT_BYTES} bytes.`)
    this.#makeRoom(caller, (session) => this.#giveUp(session))
    const id = crypto.randomUUID()
    const copy = this.#keeper?.begin(id, { principal: caller.principal ?? null, initialize })
    const session = this.#add(id, caller, initialize, copy)
    try {
      await copy?.shared.save()
      return session
    } catch (error) {
      await this.end(session)
      throw error
    }
  }

  /** Finds the session of a caller. For other callers, it does not exist. */
  async find(id: string, caller: Caller): Promise<HttpSession | undefined> {
    const session = this.#keeper ? await this.#findKept(id, caller) : this.table.get(id)
    if (session?.principal === caller.principal) return session
    return undefined
  }

  /** Ends a session everywhere. */
  async end(session: HttpSession): Promise<void> {
    this.#leave(session)
    await this.#keeper?.end(session.id).catch((error: unknown) => this.#report(error))
  }

  close(): void {
    this.#follower?.stop()
    this.#keeper?.close()
    for (const session of this.table.all) this.#leave(session)
  }

  #report(error: unknown): void {
    this.#options.onError?.(error as Error)
  }

  /**
   * Ends a session in this process. If it is kept in a store, it continues on another machine, or here when it is
   * needed again.
   */
  #leave(session: HttpSession): void {
    this.table.remove(session.id)
    session.close()
  }

  /** Ends a session for another one. */
  #giveUp(session: HttpSession): void {
    this.#leave(session)
    if (session.kept)
      this.#keeper?.endIfUnused(session.id, session.kept.copy).catch((error: unknown) => this.#report(error))
  }

  #add(id: string, caller: Caller, initialize: JsonObject, copy: KeptCopy | undefined): HttpSession {
    const session = new HttpSession(this.#options, this.#views, { id, caller, initialize, copy })
    this.table.add(session)
    return session
  }

  #makeRoom({ peer }: Caller, end?: (session: HttpSession) => void): void {
    const refusal = this.table.makeRoom(peer, end)
    if (refusal) throw refuseForNow(refusal, describeRefusal(refusal, this.table.limits))
  }

  async #findKept(id: string, caller: Caller): Promise<HttpSession | undefined> {
    const known = this.#rebuilding.has(id) ? undefined : this.table.get(id)
    if (known) {
      if (known.principal === caller.principal && (await this.#catchUp(known))) return known
      return undefined
    }
    const job = this.#rebuilding.get(id) ?? this.#rebuild(id, caller).finally(() => this.#rebuilding.delete(id))
    this.#rebuilding.set(id, job)
    return job
  }

  /** Creates a local copy of another machine's session. */
  async #rebuild(id: string, caller: Caller): Promise<HttpSession | undefined> {
    const copy = await this.#keeper?.load(id)
    if (!copy || copy.getState().principal !== (caller.principal ?? null)) return undefined
    this.#makeRoom(caller)
    const session = this.#add(id, caller, copy.getState().initialize, copy)
    this.table.ready(session)
    session.refresh()
    return session
  }

  /** Applies the changes of other machines. Returns false if one of them has ended the session. */
  async #catchUp(session: HttpSession): Promise<boolean> {
    const { kept } = session
    if (!kept) return true
    kept.lookedAt = performance.now()
    const isChanged = await kept.copy.shared.sync()
    if (kept.copy.shared.isGone) {
      this.#leave(session)
      return false
    }
    if (!isChanged) return true
    session.refresh()
    for (const message of kept.mailbox.collect()) session.receive(message)
    return true
  }
}

/** Whether the store of the sessions could not be reached. */
export function isStoreError(error: unknown): boolean {
  return error instanceof FoldoutError && error.code.startsWith('store-')
}

function describeRefusal(refusal: Refusal, { max, perPeer }: PeerLimits): string {
  if (refusal === 'total') return `This server has ${max} open sessions, which is the maximum. Try again later.`
  return `You have ${perPeer} open sessions, which is the maximum for one client. End one, or try again later.`
}
