import { findSizeFault } from '../../../../core/json/measure.ts'
import { MAX_DEPTH, MAX_LETTER_BYTES } from '../../../limits.ts'
import { getParams, isAnswer, type JsonObject } from '../../../protocol/messages.ts'
import { clientSlice, type Letter } from './slice.ts'
import type { KeptCopy } from './keeper.ts'

/** Addresses every copy of a session. */
const ANY_COPY = '*'
const ADDRESS = /^foldout:([0-9a-f-]{36}):(\d{1,15})$/

/**
 * The mailbox of a session that has copies on several machines. Questions to a client carry the address of the copy
 * that asks, so the answer is recognized wherever it arrives, and waits in the session's journal for that copy. Notices
 * that a request is cancelled wait there for whichever copy runs the request.
 */
export class Mailbox {
  readonly #copy: KeptCopy
  readonly #address = crypto.randomUUID()
  /** Questions that the client has not answered. */
  readonly #open = new Set<string>()
  #seen = new Set<string>()

  constructor(copy: KeptCopy) {
    this.#copy = copy
    // Letters from before this copy are not addressed to it.
    for (const { id } of copy.getState().letters) this.#seen.add(id)
  }

  /** Whether an answer is expected that may arrive elsewhere. */
  get isWaiting(): boolean {
    return this.#open.size > 0
  }

  /** Adds the address of this copy to a message, if the client will refer to the message. */
  address(message: JsonObject): JsonObject {
    if (isAnswer(message)) return message
    if (message['id'] !== undefined) {
      const id = this.#toAddress(message['id'])
      this.#open.add(id)
      return { ...message, id }
    }
    const params = getParams(message)
    if (message['method'] !== 'notifications/cancelled' || typeof params['requestId'] !== 'number') return message
    const requestId = this.#toAddress(params['requestId'])
    this.#open.delete(requestId)
    return { ...message, params: { ...params, requestId } }
  }

  #toAddress(id: unknown): string {
    return `foldout:${this.#address}:${String(id)}`
  }

  /**
   * Leaves answers for other machines in the journal. Returns the messages for this machine, with its own ids; undefined
   * if an answer is too long to be kept for another machine.
   */
  sort(messages: readonly JsonObject[]): readonly JsonObject[] | undefined {
    const own: JsonObject[] = []
    for (const message of messages) {
      const address = readAnswered(message)
      if (!address) own.push(message)
      else if (address.to === this.#address) own.push(this.#receive(message, address.id))
      else if (!this.#send(address.to, message)) return undefined
    }
    return own
  }

  /** Leaves a message for whichever copy it concerns. */
  tellAll(message: JsonObject): void {
    this.#send(ANY_COPY, message)
  }

  /** Returns the messages that other machines have left for this copy. */
  collect(): readonly JsonObject[] {
    const { session } = this.#copy.shared
    const { letters } = this.#copy.getState()
    const seen = this.#seen
    this.#seen = new Set(letters.map(({ id }) => id))
    return letters.flatMap(({ id, to, message }) => {
      if (seen.has(id)) return []
      if (to === ANY_COPY) return [message]
      const address = to === this.#address ? readAnswered(message) : undefined
      if (!address) return []
      session.dispatch(clientSlice.events.received(id))
      return [this.#receive(message, address.id)]
    })
  }

  #receive(message: JsonObject, id: number): JsonObject {
    this.#open.delete(String(message['id']))
    return { ...message, id }
  }

  #send(to: string, message: JsonObject): boolean {
    if (findSizeFault(message, { maxBytes: MAX_LETTER_BYTES, maxDepth: MAX_DEPTH })) return false
    const letter: Letter = { id: crypto.randomUUID(), to, message, bytes: JSON.stringify(message).length }
    this.#seen.add(letter.id)
    this.#copy.shared.session.dispatch(clientSlice.events.sent(letter))
    return true
  }
}

/** Finds the question and the copy that a message answers; undefined if it is not an answer. */
function readAnswered(message: JsonObject): { readonly to: string; readonly id: number } | undefined {
  if (!isAnswer(message) || typeof message['id'] !== 'string') return undefined
  const [, to, id] = ADDRESS.exec(message['id']) ?? []
  if (to === undefined) return undefined
  return { to, id: Number(id) }
}
