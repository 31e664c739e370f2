import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../../../core/json/json.ts'
import { findSizeFault } from '../../../../core/json/measure.ts'
import { MAX_DEPTH, MAX_LETTER_BYTES } from '../../../limits.ts'
import { clientSlice, type Letter } from './slice.ts'
import type { KeptCopy } from './keeper.ts'

/** Addresses every copy of a session. */
const ANY_COPY = '*'
const ADDRESS = /^foldout:([0-9a-f-]{36}):(\d{1,15})$/

type Message = Readonly<Record<string, unknown>>

/** How the messages of a request are handled. */
export interface Sorted {
  /** The messages that this machine handles, with its own ids. */
  readonly own: unknown
  /** Whether nothing is left to handle on this machine. */
  readonly isForwarded: boolean
  /** Whether a message is too long to be kept for another machine. */
  readonly isTooLong: boolean
}

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
  address(message: JSONRPCMessage): JSONRPCMessage {
    if (!('method' in message)) return message
    if ('id' in message) {
      const id = `foldout:${this.#address}:${message.id}`
      this.#open.add(id)
      return { ...message, id }
    }
    const asked = message.params?.['requestId']
    if (message.method !== 'notifications/cancelled' || typeof asked !== 'number') return message
    const requestId = `foldout:${this.#address}:${asked}`
    this.#open.delete(requestId)
    return { ...message, params: { ...message.params, requestId } }
  }

  /** Finds the messages for other machines, and leaves them in the journal. */
  sort(body: unknown): Sorted {
    const messages = Array.isArray(body) ? (body as readonly unknown[]) : [body]
    const own: unknown[] = []
    for (const message of messages) {
      const address = readAnswered(message)
      if (!address) own.push(message)
      else if (address.to === this.#address) own.push(this.#receive(message as Message, address.id))
      else if (!this.#send(address.to, message as Message)) return { own: body, isForwarded: false, isTooLong: true }
    }
    return { own: Array.isArray(body) ? own : own[0], isForwarded: own.length === 0, isTooLong: false }
  }

  /** Leaves a message for whichever copy it concerns. */
  tellAll(message: unknown): void {
    if (isPlainObject(message)) this.#send(ANY_COPY, message)
  }

  /** Returns the messages that other machines have left for this copy. */
  collect(): readonly Message[] {
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

  #receive(message: Message, id: number): Message {
    this.#open.delete(String(message['id']))
    return { ...message, id }
  }

  #send(to: string, message: Message): boolean {
    if (findSizeFault(message, { maxBytes: MAX_LETTER_BYTES, maxDepth: MAX_DEPTH })) return false
    const letter: Letter = { id: crypto.randomUUID(), to, message, bytes: JSON.stringify(message).length }
    this.#seen.add(letter.id)
    this.#copy.shared.session.dispatch(clientSlice.events.sent(letter))
    return true
  }
}

/** Finds the question and the copy that a message answers; undefined if it is not an answer. */
function readAnswered(message: unknown): { readonly to: string; readonly id: number } | undefined {
  if (!isPlainObject(message) || 'method' in message || typeof message['id'] !== 'string') return undefined
  const [, to, id] = ADDRESS.exec(message['id']) ?? []
  return to === undefined ? undefined : { to, id: Number(id) }
}
