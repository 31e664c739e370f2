import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server'
import type { Readable } from 'node:stream'
import { isPlainObject } from '../../../core/json/json.ts'
import {
  MAX_LINE_BYTES,
  STDIO_BATCH_CHARACTERS,
  STDIO_MOST_UNREAD_BYTES,
  STDIO_UNREAD_BYTES,
  STDIO_WAITING,
} from '../../limits.ts'
import { formatBytes } from '../../../core/json/measure.ts'
import { isMessage } from '../legacy/messages.ts'
import { BATCH_VERSION, Batches } from './batches.ts'
import { findRequestId, LineReader, type Line } from './lines.ts'

/** Where a transport writes. */
export interface Output {
  /** Calls back when the text is on its way to the client. */
  write(text: string, done: (error?: Error | null) => void): void
  onError(listener: (error: Error) => void): () => void
}

export interface StdioTransportOptions {
  readonly stdin: Readable
  readonly output: Output
  /** Requests that run, or whose answers the client has not taken yet. Further ones wait. */
  readonly maxConcurrent: number
  /** A longer message is not sent. */
  readonly maxMessageBytes: number
}

type Request = Extract<JSONRPCMessage, { readonly method: string; readonly id: RequestId }>

interface WaitingRequest {
  readonly request: Request
  readonly bytes: number
}

/** Requests that do not wait: whether the server is there, and one that is not answered until the connection ends. */
const AT_ONCE: ReadonlySet<string> = new Set(['ping', 'subscriptions/listen'])

/** Notifications that a client can do without. */
const DROPPABLE: ReadonlySet<string> = new Set(['notifications/message', 'notifications/progress'])

/**
 * A transport over stdio for a client that may read slowly or not at all, and may request more than it reads: requests
 * wait until there is room for their answers, nothing is read while too many wait, and notifications are left out. Messages that are too long in
 * either direction become errors; they do not end the connection.
 */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #options: StdioTransportOptions
  readonly #lines = new LineReader(MAX_LINE_BYTES)
  /** Requests that run or are being answered. */
  readonly #running = new Set<RequestId>()
  #waiting: WaitingRequest[] = []
  #waitingBytes = 0
  #unreadBytes = 0
  /** Notifications that the client has not read yet, except for those it can do without. */
  readonly #unreadNotices = new Set<string>()
  #dropped = 0
  readonly #batches = new Batches(STDIO_BATCH_CHARACTERS)
  /** The id of `initialize`, until it is answered. */
  #initialize: RequestId | undefined
  #takesBatches = false
  #isClosed = false
  #stopListening: (() => void) | undefined

  constructor(options: StdioTransportOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    const { stdin, output } = this.#options
    const onData = (chunk: Buffer | string): void => this.#read(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    const onError = (error: Error): void => this.onerror?.(error)
    const onEnd = (): void => void this.close()
    stdin.on('data', onData)
    stdin.on('error', onError)
    stdin.on('end', onEnd)
    stdin.on('close', onEnd)
    const stopOutput = output.onError((error) => {
      this.onerror?.(error)
      void this.close()
    })
    this.#stopListening = () => {
      stdin.off('data', onData)
      stdin.off('error', onError)
      stdin.off('end', onEnd)
      stdin.off('close', onEnd)
      if (stdin.listenerCount('data') === 0) stdin.pause()
      stopOutput()
    }
    if (stdin.readableEnded || stdin.destroyed) setImmediate(onEnd)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#waiting = []
    this.#stopListening?.()
    this.onclose?.()
  }

  /** Resolves when the message is on its way, so senders do not get ahead of a slow client. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error('The client has closed the connection.')
    const text = this.#serialize(message)
    if (this.#isDropped(message, text)) return void this.#dropped++
    const answered = 'id' in message && !('method' in message) ? message.id : undefined
    if (answered !== undefined && answered === this.#initialize) this.#begin(message)
    const isNotice = isNotification(message) && !DROPPABLE.has(message.method)
    if (isNotice) this.#unreadNotices.add(text)
    try {
      const texts = answered === undefined ? [text] : this.#batches.add(answered, text)
      const [only = ''] = texts
      // Most messages are not in a batch.
      await (texts.length === 1 ? this.#write(only) : Promise.all(texts.map((one) => this.#write(one))))
    } finally {
      if (isNotice) this.#unreadNotices.delete(text)
      if (this.#dropped > 0 && this.#unreadBytes < STDIO_UNREAD_BYTES) this.#reportDropped()
      if (answered !== undefined) this.#running.delete(answered)
      this.#proceed()
    }
  }

  #write(text: string): Promise<void> {
    const line = `${text}\n`
    const bytes = Buffer.byteLength(line)
    this.#unreadBytes += bytes
    return new Promise((resolve, reject) => {
      const finish = (error?: unknown): void => {
        this.#unreadBytes -= bytes
        if (error) reject(error)
        else resolve()
      }
      try {
        this.#options.output.write(line, finish)
      } catch (error) {
        finish(error)
      }
    })
  }

  #begin(answer: JSONRPCMessage): void {
    this.#initialize = undefined
    this.#takesBatches = 'result' in answer && answer.result['protocolVersion'] === BATCH_VERSION
  }

  /**
   * Whether a notification is left out, because the client does not read. It has to get answers, but servers may send
   * any number of notifications. One that it has yet to read need not be repeated.
   */
  #isDropped(message: JSONRPCMessage, text: string): boolean {
    if (this.#unreadBytes < STDIO_UNREAD_BYTES || !isNotification(message)) return false
    if (DROPPABLE.has(message.method) || this.#unreadNotices.has(text)) return true
    return this.#unreadBytes >= STDIO_MOST_UNREAD_BYTES
  }

  #reportDropped(): void {
    const count = this.#dropped
    this.#dropped = 0
    const what = count === 1 ? '1 notification was' : `${count} notifications were`
    this.onerror?.(new Error(`${what} left out, because the client did not read its messages.`))
  }

  #serialize(message: JSONRPCMessage): string {
    const { maxMessageBytes } = this.#options
    const text = toJson(message)
    // Text that is short enough in any encoding is not measured.
    const isShort = text !== undefined && text.length * 3 <= maxMessageBytes
    if (isShort || (text !== undefined && Buffer.byteLength(text) <= maxMessageBytes)) return text
    const why =
      text === undefined
        ? 'This answer cannot be written as JSON.'
        : `This answer is too large to send: ${formatBytes(Buffer.byteLength(text))}, where ${formatBytes(maxMessageBytes)} is the limit.`
    this.onerror?.(new Error(why))
    const id = 'id' in message && !('method' in message) ? message.id : undefined
    const instead =
      id === undefined
        ? { method: 'notifications/message', params: { level: 'error', data: why } }
        : { id, error: { code: -32_603, message: why } }
    return JSON.stringify({ jsonrpc: '2.0', ...instead })
  }

  #read(chunk: Buffer): void {
    for (const line of this.#lines.read(chunk)) {
      if (this.#isClosed) return
      this.#readLine(line)
    }
    this.#proceed()
  }

  #readLine(line: Line): void {
    if (!('text' in line)) return this.#refuse(line)
    const text = line.text.trim()
    if (text === '') return
    const parsed = parseJson(text)
    if (parsed === undefined) {
      this.onerror?.(new Error('The client sent a line that is not JSON.'))
      return
    }
    if (Array.isArray(parsed) && this.#takesBatches) return this.#readBatch(parsed, text.length)
    const message = this.#check(parsed)
    if (message) this.#receive(message, text.length)
  }

  /** Reads a batch, whose requests are answered together. */
  #readBatch(parts: readonly unknown[], bytes: number): void {
    if (parts.length === 0 || parts.length > STDIO_WAITING) {
      const why = `A batch must have 1 to ${STDIO_WAITING} messages.`
      this.onerror?.(new Error(why))
      const refusal = { jsonrpc: '2.0', id: null, error: { code: -32_600, message: why } }
      return void this.#write(JSON.stringify(refusal)).catch(() => undefined)
    }
    const messages = parts.flatMap((part) => this.#check(part) ?? [])
    this.#batches.begin(messages.filter(isRequest).map(({ id }) => id))
    for (const message of messages) this.#receive(message, bytes / parts.length)
  }

  #receive(message: JSONRPCMessage, bytes: number): void {
    // A client must be able to cancel, to answer and to ping the server, however many requests wait.
    if (!isRequest(message) || AT_ONCE.has(message.method)) {
      this.#forgetCancelled(message)
      this.onmessage?.(message)
      return
    }
    if (message.method === 'initialize') this.#initialize = message.id
    this.#waiting.push({ request: message, bytes })
    this.#waitingBytes += bytes
    this.#proceed()
  }

  #check(parsed: unknown): JSONRPCMessage | undefined {
    if (isMessage(parsed)) return parsed
    const why = 'The client sent JSON that is not a message of MCP.'
    this.onerror?.(new Error(why))
    const id = isPlainObject(parsed) && 'method' in parsed ? parsed['id'] : undefined
    // The client may be waiting for the answer.
    if (typeof id === 'string' || typeof id === 'number')
      this.send({ jsonrpc: '2.0', id, error: { code: -32_600, message: why } }).catch(() => undefined)
    return undefined
  }

  /** Answers a request that is too long to be read. */
  #refuse(line: Exclude<Line, { readonly text: string }>): void {
    const why = `This message is longer than the ${formatBytes(MAX_LINE_BYTES)} that a message may have.`
    this.onerror?.(new Error(why))
    const id = findRequestId(line)
    if (id === undefined) return
    this.send({ jsonrpc: '2.0', id, error: { code: -32_600, message: why } }).catch(() => undefined)
  }

  /** A request that was cancelled gets no answer. */
  #forgetCancelled(message: JSONRPCMessage): void {
    if (!('method' in message) || message.method !== 'notifications/cancelled') return
    const requestId: unknown = isPlainObject(message.params) ? message.params['requestId'] : undefined
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return
    this.#waiting = this.#waiting.filter(({ request, bytes }) => {
      if (request.id !== requestId) return true
      this.#waitingBytes -= bytes
      return false
    })
    for (const text of this.#batches.drop(requestId)) void this.#write(text).catch(() => undefined)
    if (this.#running.delete(requestId)) this.#proceed()
  }

  /** Runs waiting requests while there is room, and continues reading unless too many wait. */
  #proceed(): void {
    const { stdin, maxConcurrent } = this.#options
    while (!this.#isClosed && this.#running.size < maxConcurrent && this.#unreadBytes < STDIO_UNREAD_BYTES) {
      const next = this.#waiting.shift()
      if (!next) break
      this.#waitingBytes -= next.bytes
      this.#running.add(next.request.id)
      this.onmessage?.(next.request)
    }
    if (this.#isClosed) return
    if (this.#waiting.length >= STDIO_WAITING || this.#waitingBytes >= MAX_LINE_BYTES) stdin.pause()
    else if (stdin.isPaused()) stdin.resume()
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function toJson(message: JSONRPCMessage): string | undefined {
  try {
    return JSON.stringify(message)
  } catch {
    return undefined
  }
}

function isNotification(message: JSONRPCMessage): message is Extract<JSONRPCMessage, { readonly method: string }> {
  return 'method' in message && !('id' in message)
}

function isRequest(message: JSONRPCMessage): message is Request {
  return 'method' in message && 'id' in message
}
