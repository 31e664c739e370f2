import { untilAborted } from 'foldout/promises'
import type { ClientChannel, ServedClient } from 'foldout/mcp'
import type { JsonObject } from 'foldout-shared/values'
import type { Callers } from './callers.ts'
import { ANSWER_MS, CLIENT_POLL_MS, CLIENT_WAIT_MS, MAX_OUTSIDE } from './limits.ts'
import { toOwner } from './tasks.ts'
import { findFault } from './ability.ts'
import { sleep } from '../failures/pause.ts'

/** A client that is connected now, whether or not it has calls running. */
export interface ConnectedClient {
  readonly client: ServedClient
  readonly channel: ClientChannel
}

export interface OutsideParts {
  readonly callers: Callers
  /** The connected clients that may use the server. */
  listClients(): readonly ConnectedClient[]
  /** Called after each question. */
  onEnd(): void
}

/** A server's question. */
export interface OutsideQuestion {
  readonly method: string
  readonly params: JsonObject
  /** The owner of the task that it belongs to, if it belongs to one. */
  readonly owner?: string | undefined
}

/**
 * The questions that a legacy server asks while no call is running. They go to the client whose process it is. A process that no
 * client has used yet may ask the only client that is connected.
 */
export class OutsideQuestions {
  readonly #parts: OutsideParts
  #waiting = 0

  constructor(parts: OutsideParts) {
    this.#parts = parts
  }

  /** Whether any of them is not answered yet. */
  get isWaiting(): boolean {
    return this.#waiting > 0
  }

  /** Asks the only client. If none is there, waits a while for one, because a server may be started before its client. */
  ask(question: OutsideQuestion, signal: AbortSignal): Promise<JsonObject> {
    return this.#limit(signal, async (stop) => this.#send(await this.#wait(question, stop), question, stop))
  }

  /** Asks a certain client. */
  askClient(client: ConnectedClient, question: OutsideQuestion, signal: AbortSignal): Promise<JsonObject> {
    return this.#limit(signal, (stop) => this.#send(client, question, stop))
  }

  /**
   * The only client that a question can be for; undefined if none is connected.
   *
   * @throws Error that says why nobody can be asked, and that the server gets.
   */
  find({ method, params, owner }: OutsideQuestion): ConnectedClient | undefined {
    const { audience } = this.#parts.callers
    const present = this.#parts
      .listClients()
      .filter(({ client, channel }) => client.era === 'modern' || channel.isOpen)
      .filter(({ client }) => (owner === undefined ? audience.isFree(client) : toOwner(client) === owner))
    const able = present.filter(({ client }) => !findFault(client.capabilities ?? {}, method, params))
    const [only, second] = able
    if (second) throw new Error(SEVERAL)
    // Clients without a connection are not listed.
    const hasUnlisted = owner === undefined && audience.list().some(({ isShared }) => isShared)
    if (only ? only.client.era === 'modern' : hasUnlisted) throw new Error(MODERN)
    const [unable] = present
    const fault = !only && unable && findFault(unable.client.capabilities ?? {}, method, params)
    if (fault) throw fault
    return only
  }

  async #wait(question: OutsideQuestion, signal: AbortSignal): Promise<ConnectedClient> {
    for (let waited = 0; waited <= CLIENT_WAIT_MS; waited += CLIENT_POLL_MS) {
      const found = this.find(question)
      if (found) return found
      await untilAborted(signal, () => sleep(CLIENT_POLL_MS))
    }
    throw new Error('No connected client can receive requests outside a call.')
  }

  #send(
    { client, channel }: ConnectedClient,
    { method, params }: OutsideQuestion,
    stop: AbortSignal,
  ): Promise<JsonObject> {
    const { callers } = this.#parts
    callers.audience.meet(client)
    // The user may finish with a page long after the question.
    if (typeof params['elicitationId'] === 'string') callers.rememberPage(params['elicitationId'], client.id)
    return channel.ask(method, params, stop)
  }

  async #limit(signal: AbortSignal, run: (stop: AbortSignal) => Promise<JsonObject>): Promise<JsonObject> {
    if (this.#waiting >= MAX_OUTSIDE) throw new Error(`${MAX_OUTSIDE} questions outside of calls wait for an answer.`)
    this.#waiting++
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error(LATE)), ANSWER_MS)
    timer.unref()
    try {
      return await run(AbortSignal.any([signal, late.signal]))
    } catch (error) {
      late.signal.throwIfAborted()
      throw error
    } finally {
      clearTimeout(timer)
      this.#waiting--
      this.#parts.onEnd()
    }
  }
}

const SEVERAL =
  'Several clients are connected and none has used the server yet, so its question can be meant for any of them.'
const MODERN = 'A client of MCP 2026-07-28 or later can be asked only while one of its calls is running.'
const LATE = `The client did not answer within ${ANSWER_MS / 60_000} minutes.`
