import { sleep } from '../failures/pause.ts'
import { ignore } from 'foldout/promises'
import type { CallClient, CallContext, CallPeer } from 'foldout/catalog'
import type { McpSession } from 'foldout/mcp'
import type { JsonObject } from 'foldout-shared/values'
import type { Ask, Caller, Callers } from './callers.ts'
import { ROOTS_ANSWERED_MS, ROOTS_ASKED_MS, ROOTS_TAKEN_MS } from './limits.ts'
import type { ConnectedClient, OutsideQuestions } from './outside.ts'

/** The part of a connection that tells the server about folders. */
interface Notified {
  readonly session: Pick<McpSession, 'notify' | 'request'>
}

/** A client whose folders the server is told about. */
interface Offer {
  /** Changes with the client, and with the client's folders. */
  readonly key: string
  readonly ask: Ask
}

const NONE: JsonObject = { roots: [] }
const QUESTION = { method: 'roots/list', params: {} } as const

/** Asks a client that has no call running. */
export function askOutside(outside: OutsideQuestions, client: ConnectedClient): Ask {
  return (method, params, signal = new AbortController().signal) =>
    outside.askClient(client, { method, params }, signal)
}

/**
 * The folders that a server may use: those of the client that called it last. A server asks for them when it starts, which may be
 * before any client has called, and again after it was told that they have changed.
 */
export class Roots {
  /** The offer that the server knows. */
  #known: string | undefined
  /** How often the folders of each client have changed. */
  readonly #changes = new Map<string, number>()
  #current: Offer | undefined
  #last: Promise<void> = Promise.resolve()
  /** Whether the server has ever asked, and whether it asks when it is told of a change. */
  #hasAsked = false
  #isDeaf = false
  /** The answers that the server may not have applied yet, including those that the client has yet to give. */
  readonly #unapplied = new Set<Promise<JsonObject>>()
  #onAsked: (() => void) | undefined

  /** Forgets what a server knew that has ended. */
  reset(): void {
    this.#known = undefined
    this.#hasAsked = false
    this.#isDeaf = false
    this.#unapplied.clear()
  }

  /** Offers a client's folders again at its next call, because they have changed. Returns whether the server uses them now. */
  change(client: string): boolean {
    const isUsed = this.#known === this.#toKey({ client })
    this.#changes.set(client, (this.#changes.get(client) ?? 0) + 1)
    return isUsed
  }

  /** Forgets a client that has gone. */
  forget(client: string): void {
    this.#changes.delete(client)
  }

  /** Answers the server's question. */
  answer(
    { callers, outside }: { readonly callers: Callers; readonly outside: OutsideQuestions },
    signal: AbortSignal,
  ): Promise<JsonObject> {
    this.#hasAsked = true
    this.#isDeaf = false
    const offer = this.#current ?? (callers.isEmpty ? this.#findOutside(outside) : this.#findOffer(callers))
    const answer = offer ? this.#ask(offer, signal) : Promise.resolve(NONE)
    this.#unapplied.add(answer)
    // If no call comes until then, none has to wait.
    const forget = (): void => void setTimeout(() => this.#unapplied.delete(answer), ROOTS_ASKED_MS).unref()
    answer.then(forget, forget)
    this.#onAsked?.()
    return answer
  }

  async #ask({ key, ask }: Offer, signal: AbortSignal): Promise<JsonObject> {
    this.#known = key
    try {
      return await ask('roots/list', {}, signal)
    } catch (error) {
      // It is offered again.
      if (this.#known === key) this.#known = undefined
      throw error
    }
  }

  /** The client that called last, among those that have folders. */
  #findOffer(callers: Callers): Offer | undefined {
    const caller = callers.list().findLast(({ ask, capabilities }) => ask && 'roots' in capabilities)
    return caller?.ask && { key: this.#toKey(caller), ask: caller.ask }
  }

  /** The only client that is connected. */
  #findOutside(outside: OutsideQuestions): Offer | undefined {
    try {
      const found = outside.find(QUESTION)
      return found && { key: this.#toKey({ client: found.client.id }), ask: askOutside(outside, found) }
    } catch {
      // There is none, or there are several. The next client that calls offers its folders.
      return undefined
    }
  }

  #toKey({ client }: Pick<Caller, 'client'>): string {
    return `${this.#changes.get(client) ?? 0} ${client}`
  }

  /** Whether a call has to wait until the server knows the folders of its client. */
  isNews({ client, peer }: CallContext): boolean {
    if (!client || !peer?.ask || !('roots' in peer.capabilities)) return false
    return this.#current !== undefined || this.#unapplied.size > 0 || this.#known !== this.#toKey({ client: client.id })
  }

  /** Tells the server about the folders of a client, and waits until it has asked for them. Never rejects. */
  offer(
    connection: Notified,
    {
      client,
      peer,
    }: { readonly client?: Pick<CallClient, 'id'> | undefined; readonly peer?: Pick<CallPeer, 'ask'> | undefined },
  ): Promise<void> {
    if (!client || !peer?.ask) return Promise.resolve()
    const offer = { key: this.#toKey({ client: client.id }), ask: peer.ask }
    this.#last = this.#last.then(() =>
      ignore(this.#offerNow(connection, offer), 'the server is lost, or uses no folders'),
    )
    return this.#last
  }

  async #offerNow({ session }: Notified, offer: Offer): Promise<void> {
    if (this.#known === offer.key) return this.#settle(session)
    const wasDeaf = this.#isDeaf
    // Unless it asks.
    this.#isDeaf = true
    this.#current = offer
    try {
      const asked = new Promise<void>((resolve) => (this.#onAsked = resolve))
      await session.notify('notifications/roots/list_changed')
      this.#known = offer.key
      // A server that has just started may be about to ask for the first time. It does so before it answers.
      if (!this.#hasAsked && !wasDeaf) await ping(session)
      // A server that does not ask has no use for folders, or asks whenever it needs them.
      if (!this.#hasAsked || wasDeaf) return
      await Promise.race([asked, sleep(ROOTS_ASKED_MS)])
      await this.#settle(session)
    } finally {
      this.#current = undefined
      this.#onAsked = undefined
    }
  }

  /** Waits until the server has its answers. Then it needs a moment to apply the folders, and does not say when it has. */
  async #settle(session: Notified['session']): Promise<void> {
    const answers = [...this.#unapplied]
    if (answers.length === 0) return
    await Promise.race([Promise.allSettled(answers), sleep(ROOTS_ANSWERED_MS)])
    // The answer is sent after this turn.
    await new Promise((resolve) => setImmediate(resolve))
    await ping(session)
    await sleep(ROOTS_TAKEN_MS)
    for (const answer of answers) this.#unapplied.delete(answer)
  }
}

/** Waits until the server has handled what was sent before. A server that does not answer is not waited for long. */
async function ping(session: Notified['session']): Promise<void> {
  await ignore(session.request('ping', {}, { timeoutMs: ROOTS_ASKED_MS }), 'a server without pings is only waited for')
}
