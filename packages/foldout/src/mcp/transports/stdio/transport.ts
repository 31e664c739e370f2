import { parseJson } from '../../../core/json/json.ts'
import type { Readable } from 'node:stream'
import { isObject } from 'foldout-shared/values'
import { formatBytes } from '../../../core/json/measure.ts'
import { ignore } from '../../../core/promises.ts'
import { MAX_LINE_BYTES, STDIO_BATCH_CHARACTERS, STDIO_WAITING } from '../../limits.ts'
import { INTERNAL_ERROR, INVALID_REQUEST } from '../../protocol/errors.ts'
import { getParams, isAnswer, isRequestId, type JsonObject, type RequestId } from '../../protocol/messages.ts'
import type { McpReceiver, McpTransport } from '../../protocol/transport.ts'
import { isValidMessage, isValidRequest } from '../../protocol/valid-message.ts'
import { findRequestId, LineReader, type Line } from './lines.ts'
import { Outbox, type Output } from './outbox.ts'
import { RequestQueue } from './request-queue.ts'

export interface StdioTransportOptions {
  readonly stdin: Readable
  readonly output: Output
  /** Requests that run, or whose answers the client has not taken yet. Further ones wait. */
  readonly maxConcurrent: number
  /** A longer message is not sent. */
  readonly maxMessageBytes: number
  onError(error: Error): void
}

/** Requests that do not wait: whether the server is there, and one that is not answered until the connection ends. */
const IMMEDIATE: ReadonlySet<string> = new Set(['ping', 'subscriptions/listen'])

/**
 * A transport over stdio for a client that may read slowly or not at all, and may request more than it reads: requests
 * wait until there is room for their answers, nothing is read while too many wait, and notifications are left out. Messages that are too long in
 * either direction become errors; they do not end the connection.
 */
export class StdioTransport implements McpTransport {
  readonly #options: StdioTransportOptions
  readonly #lines = new LineReader(MAX_LINE_BYTES)
  readonly #queue: RequestQueue
  readonly #outbox: Outbox
  readonly #batches = new Batches(STDIO_BATCH_CHARACTERS)
  #takesBatches = false
  #receiver: McpReceiver | undefined
  #stopListening: (() => void) | undefined

  constructor(options: StdioTransportOptions) {
    this.#options = options
    this.#queue = new RequestQueue(options.maxConcurrent)
    this.#outbox = new Outbox(options.output, (error) => options.onError(error))
  }

  async start(receiver: McpReceiver): Promise<void> {
    const { stdin, output } = this.#options
    this.#receiver = receiver
    const onData = (chunk: Buffer | string): void => this.#read(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    const onError = (error: Error): void => this.#options.onError(error)
    const onEnd = (): void => void this.close()
    const listeners = { data: onData, error: onError, end: onEnd, close: onEnd }
    for (const [event, listener] of Object.entries(listeners)) stdin.on(event, listener)
    const stopOutput = output.onError((error) => {
      onError(error)
      onEnd()
    })
    this.#stopListening = () => {
      for (const [event, listener] of Object.entries(listeners)) stdin.off(event, listener)
      if (stdin.listenerCount('data') === 0) stdin.pause()
      stopOutput()
    }
    if (stdin.readableEnded || stdin.destroyed) setImmediate(onEnd)
  }

  async close(): Promise<void> {
    const receiver = this.#receiver
    if (!receiver) return
    this.#receiver = undefined
    this.#queue.clear()
    this.#stopListening?.()
    receiver.close()
  }

  setProtocolVersion(version: string): void {
    this.#takesBatches = version === BATCH_VERSION
  }

  /** Resolves when the message is on its way, so senders do not get ahead of a slow client. */
  async send(message: JsonObject): Promise<void> {
    if (!this.#receiver) throw new Error('The client has closed the connection.')
    const text = this.#serialize(message)
    const answered = isAnswer(message) && isRequestId(message['id']) ? message['id'] : undefined
    try {
      if (answered === undefined) await this.#outbox.send(message, text)
      else await Promise.all(this.#batches.add(answered, text).map((one) => this.#outbox.write(one)))
    } finally {
      if (answered !== undefined) this.#queue.finish(answered)
      this.#proceed()
    }
  }

  #serialize(message: JsonObject): string {
    const { maxMessageBytes } = this.#options
    const text = toJson(message)
    // Text that is short enough in any encoding is not measured.
    const isShort = text !== undefined && text.length * 3 <= maxMessageBytes
    if (isShort || (text !== undefined && Buffer.byteLength(text) <= maxMessageBytes)) return text
    const why =
      text === undefined
        ? 'This answer cannot be written as JSON.'
        : `This answer is too large to send: ${formatBytes(Buffer.byteLength(text))}, where ${formatBytes(maxMessageBytes)} is the limit.`
    this.#options.onError(new Error(why))
    const instead = isAnswer(message)
      ? { id: message['id'], error: { code: INTERNAL_ERROR, message: why } }
      : { method: 'notifications/message', params: { level: 'error', data: why } }
    return JSON.stringify({ jsonrpc: '2.0', ...instead })
  }

  #read(chunk: Buffer): void {
    for (const line of this.#lines.read(chunk)) {
      if (!this.#receiver) return
      this.#readLine(line)
    }
    this.#proceed()
  }

  #readLine(line: Line): void {
    if (!('text' in line)) return this.#refuseLong(line)
    const text = line.text.trim()
    if (text === '') return
    const parsed = parseJson(text)
    if (parsed === undefined) return this.#options.onError(new Error('The client sent a line that is not JSON.'))
    if (Array.isArray(parsed) && this.#takesBatches) return this.#readBatch(parsed, text.length)
    const message = this.#check(parsed)
    if (message) this.#receive(message, text.length)
  }

  /** Reads a batch, whose requests are answered together. */
  #readBatch(parts: readonly unknown[], bytes: number): void {
    if (parts.length === 0 || parts.length > STDIO_WAITING)
      return this.#refuse(null, `A batch must have 1 to ${STDIO_WAITING} messages.`)
    const messages = parts.map((part) => this.#check(part)).filter((message) => message !== undefined)
    this.#batches.begin(messages.filter(isValidRequest).map(({ id }) => id))
    for (const message of messages) this.#receive(message, bytes / parts.length)
  }

  #receive(message: JsonObject, bytes: number): void {
    // A client must be able to cancel, to answer and to ping the server, however many requests wait.
    if (!isValidRequest(message) || IMMEDIATE.has(message.method)) {
      this.#forgetCancelled(message)
      this.#receiver?.receive(message)
      return
    }
    this.#queue.add(message, bytes)
    this.#proceed()
  }

  #check(parsed: unknown): JsonObject | undefined {
    if (isValidMessage(parsed)) return parsed
    // The client may be waiting for the answer.
    const id = isObject(parsed) && 'method' in parsed ? parsed['id'] : undefined
    this.#refuse(isRequestId(id) ? id : undefined, 'The client sent JSON that is not a message of MCP.')
    return undefined
  }

  #refuseLong(line: Exclude<Line, { readonly text: string }>): void {
    const why = `This message is longer than the ${formatBytes(MAX_LINE_BYTES)} that a message may have.`
    this.#refuse(findRequestId(line), why)
  }

  /** Reports what cannot be read, and answers it if it was a request. */
  #refuse(id: RequestId | null | undefined, why: string): void {
    this.#options.onError(new Error(why))
    if (id === undefined) return
    const refusal = { jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message: why } }
    void ignore(this.send(refusal), 'the output reports its errors')
  }

  /** A request that was cancelled gets no answer. */
  #forgetCancelled(message: JsonObject): void {
    if (message['method'] !== 'notifications/cancelled') return
    const { requestId } = getParams(message)
    if (!isRequestId(requestId)) return
    this.#queue.cancel(requestId)
    this.#outbox.writeAll(this.#batches.drop(requestId))
    this.#proceed()
  }

  /** Runs waiting requests while there is room, and continues reading unless too many wait. */
  #proceed(): void {
    const { stdin } = this.#options
    while (this.#receiver && !this.#outbox.isFull) {
      const next = this.#queue.start()
      if (!next) break
      this.#receiver.receive(next)
    }
    if (!this.#receiver) return
    if (this.#queue.isFull) stdin.pause()
    else if (stdin.isPaused()) stdin.resume()
  }
}

function toJson(message: JsonObject): string | undefined {
  try {
    return JSON.stringify(message)
  } catch {
    return undefined
  }
}

/** The only version of MCP that has batches. */
const BATCH_VERSION = '2025-03-26'

interface Batch {
  readonly missing: Set<RequestId>
  /** The answers so far, as JSON. */
  answers: string[]
  characters: number
}

/** The batches of requests that are being answered. */
class Batches {
  readonly #maxCharacters: number
  readonly #open = new Map<RequestId, Batch>()

  /** @param maxCharacters Answers that are longer together are sent in several parts. */
  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters
  }

  begin(ids: readonly RequestId[]): void {
    const batch: Batch = { missing: new Set(ids), answers: [], characters: 0 }
    for (const id of ids) this.#open.set(id, batch)
  }

  /** Takes an answer. Returns what to send now: the answer itself if its request was not in a batch, or nothing as long as others are missing. */
  add(id: RequestId, answer: string): readonly string[] {
    const batch = this.#open.get(id)
    if (!batch) return [answer]
    const isFull = batch.answers.length > 0 && batch.characters + answer.length > this.#maxCharacters
    const before = isFull ? this.#take(batch) : []
    batch.answers.push(answer)
    batch.characters += answer.length
    return [...before, ...this.drop(id)]
  }

  /** Expects no answer to a request any longer. Returns what to send now. */
  drop(id: RequestId): readonly string[] {
    const batch = this.#open.get(id)
    if (!batch) return []
    this.#open.delete(id)
    batch.missing.delete(id)
    if (batch.missing.size === 0 && batch.answers.length > 0) return this.#take(batch)
    return []
  }

  #take(batch: Batch): readonly string[] {
    const text = `[${batch.answers.join(',')}]`
    batch.answers = []
    batch.characters = 0
    return [text]
  }
}
