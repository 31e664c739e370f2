import { isPlainObject } from '../../core/json/json.ts'
import { MAX_TIMER_MS } from '../limits.ts'
import type { McpClient } from './client.ts'
import { toErrorObject } from './failure.ts'
import { TaskProgress } from './task-progress.ts'

/** A request whose result is read unchanged. */
export interface Wanted {
  result?: Readonly<Record<string, unknown>>
  /** The error that the server answered with instead. */
  error?: Readonly<Record<string, unknown>>
  /** Whether the stream for the answer ended without it. */
  isCutOff?: boolean
  readonly onProgress?: ((progress: Readonly<Record<string, unknown>>) => void) | undefined
}

interface Transport {
  send(message: unknown, ...rest: readonly unknown[]): unknown
  onmessage?: ((message: unknown, ...rest: readonly unknown[]) => void) | undefined
  onclose?: (() => void) | undefined
  /** Whether each request has a stream of its own, and `onRequestStreamEnd` is called when it ends. */
  readonly hasPerRequestStream?: boolean
}

interface Wire {
  readonly pending: Map<unknown, Wanted>
  /** Requests that the client does not know about. */
  readonly direct: Map<unknown, DirectRequest>
  readonly deadlines: Deadlines
  readonly listeners: Set<() => void>
  readonly tasks: TaskProgress
}

/**
 * Marks the parameters of a request. The client copies a symbol key to every round of a request that it sends more than
 * once, and never serializes it.
 */
const WANTED = Symbol('foldout/wanted')

/** Replaces any result, so the client has nothing to reject. */
const STAND_IN = Object.freeze({
  resultType: 'complete',
  ttlMs: 0,
  cacheScope: 'private',
  tools: [],
  content: [],
  resources: [],
  resourceTemplates: [],
  contents: [],
  prompts: [],
  messages: [],
  completion: { values: [] },
})

const wires = new WeakMap<McpClient, Wire>()
const tapped = new WeakMap<object, McpClient>()

/**
 * Clients check results against the protocol's schemas: one invalid tool makes them reject the whole list, and an
 * unknown kind of answer is an error. They also drop progress that arrives together with the answer. Wanted results are
 * therefore read where they arrive, alongside the client, which still handles everything else: timeouts, cancellation,
 * versions, further rounds. Returns the parameters to send; afterwards, `wanted` has the result, if the client's
 * transport could be read.
 */
export function markWanted(
  client: McpClient,
  params: Readonly<Record<string, unknown>>,
  wanted: Wanted,
): { readonly params: Readonly<Record<string, unknown>>; release(): void } {
  const wire = toWire(client)
  return {
    params: { ...params, [WANTED]: wanted },
    release() {
      for (const [id, other] of wire.pending) if (other === wanted) wire.pending.delete(id)
    },
  }
}

/**
 * Calls a listener whenever the server announces that its tools have changed, in addition to the client's own handlers.
 */
export function onToolsChanged(client: McpClient, listener: () => void): () => void {
  const { listeners } = toWire(client)
  // A new function, so the same listener can be added twice.
  const own = (): void => listener()
  listeners.add(own)
  return () => listeners.delete(own)
}

function toWire(client: McpClient): Wire {
  let wire = wires.get(client)
  if (!wire) wires.set(client, (wire = createWire()))
  const transport = client.transport as Transport | undefined
  // The client may have been connected again.
  if (transport && tapped.get(transport) !== client) {
    tap(transport, wire)
    tapped.set(transport, client)
  }
  return wire
}

function createWire(): Wire {
  const direct = new Map<unknown, DirectRequest>()
  const deadlines = new Deadlines(direct)
  return { pending: new Map(), direct, deadlines, listeners: new Set(), tasks: new TaskProgress() }
}

function tap(transport: Transport, wire: Wire): void {
  const { pending, direct } = wire
  const { send, onmessage, onclose } = transport
  const tapping: Transport = {
    send(message, ...rest) {
      const wanted = getWanted(message)
      if (!wanted) return send.call(transport, message, ...rest)
      const { id } = message as { readonly id: unknown }
      pending.set(id, wanted)
      const onRequestStreamEnd = (): void => {
        if (pending.get(id) !== wanted) return
        pending.delete(id)
        wanted.isCutOff = true
        // The client itself would wait until the request times out.
        onmessage?.call(transport, { jsonrpc: '2.0', id, error: CUT_OFF })
      }
      const [options, ...others] = rest
      return send.call(transport, message, { ...(options as object | undefined), onRequestStreamEnd }, ...others)
    },
    onmessage(message, ...rest) {
      if (!isPlainObject(message)) return onmessage?.call(transport, message, ...rest)
      const answer = typeof message['id'] === 'string' ? withNumber(message, message['id']) : message
      if (takeDirect(answer, direct)) return
      onmessage?.call(transport, read(answer, wire), ...rest)
    },
    onclose() {
      for (const request of Array.from(direct.values())) request.fail(new WireError('CONNECTION_CLOSED'))
      onclose?.call(transport)
    },
  }
  Object.assign(transport, tapping)
}

/** The error that clients use for a closed connection. */
const CUT_OFF = Object.freeze({ code: -32_000, message: 'Connection closed' })

function getWanted(message: unknown): Wanted | undefined {
  if (!isPlainObject(message) || !('id' in message) || !isPlainObject(message['params'])) return undefined
  return (message['params'] as { readonly [WANTED]?: Wanted })[WANTED]
}

/** Takes the wanted result out of a message. Returns the message that the client sees instead. */
function read(message: Readonly<Record<string, unknown>>, { pending, listeners, tasks }: Wire): unknown {
  const { method, id, result, error, params } = message
  if (method === 'notifications/tools/list_changed') for (const listener of listeners) listener()
  if (method === 'notifications/progress' && isPlainObject(params)) {
    const { progressToken, ...progress } = params
    const token = Number(progressToken)
    pending.get(token)?.onProgress?.(progress)
    tasks.hear(token, progress)
  }
  tasks.read(message)
  const wanted = method === undefined ? pending.get(id) : undefined
  if (!wanted) return message
  pending.delete(id)
  if (isPlainObject(error)) wanted.error = error
  // Clients ignore such an answer, and wait until the request times out.
  if (!isPlainObject(result) && !isPlainObject(error)) return { jsonrpc: '2.0', id, error: toErrorObject(error) }
  // Anything but a result, or a task that will have it, is a question to the client.
  if (!isPlainObject(result) || !RESULT_TYPES.has(result['resultType'])) return message
  wanted.result = result
  tasks.follow(id, result, wanted.onProgress)
  return { ...message, result: STAND_IN }
}

/** Servers of the older protocol do not name the type. */
const RESULT_TYPES: ReadonlySet<unknown> = new Set([undefined, 'complete', 'task'])

/** The error of a request that bypassed the client, with the codes that clients use. */
export class WireError extends Error {
  override readonly name = 'WireError'
  readonly code: 'CONNECTION_CLOSED' | 'REQUEST_TIMEOUT' | 'OVERDUE' | number
  readonly data: unknown

  constructor(code: WireError['code'], message: string = String(code), data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export interface DirectOptions {
  readonly signal: AbortSignal | undefined
  /** How long the server may go without an answer or progress. */
  readonly timeoutMs: number
  /** How long it may take, whatever progress it reports. */
  readonly maxMs: number
  readonly onProgress: ((progress: Readonly<Record<string, unknown>>) => void) | undefined
}

/** Far above the ids that a client uses. Many servers store ids in 32 bits, and answer larger ones with another id. */
const FIRST_ID = 2 ** 30
const LAST_ID = 2 ** 31 - 1
let lastId = FIRST_ID

/** A call of a tool. */
export interface WireCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly meta: Readonly<Record<string, unknown>>
}

/**
 * Sends a call of the legacy era without the client. The client would check the answer against schemas twice, and
 * create timers and listeners for it, which takes most of the time of a call through a gateway.
 */
export function callOnWire(
  client: McpClient,
  { name, arguments: args, meta }: WireCall,
  options: DirectOptions,
): Promise<unknown> {
  const wire = toWire(client)
  const id = (lastId = lastId < LAST_ID ? lastId + 1 : FIRST_ID + 1)
  const params = { name, arguments: args, _meta: { ...meta, progressToken: id } }
  const message = { jsonrpc: '2.0', id, method: 'tools/call', params }
  return new Promise((resolve, reject) => {
    const request = new DirectRequest(id, wire, client.transport as Transport, options, { resolve, reject })
    request.send(message)
  })
}

interface Settle {
  resolve(result: unknown): void
  reject(error: Error): void
}

/** A class, because closures for each request would take longer than the rest. */
class DirectRequest {
  readonly #id: number
  readonly #wire: Wire
  readonly #transport: Transport
  readonly #options: DirectOptions
  readonly #settle: Settle
  readonly #start = performance.now()
  #heardAt = this.#start

  constructor(id: number, wire: Wire, transport: Transport, options: DirectOptions, settle: Settle) {
    this.#id = id
    this.#wire = wire
    this.#transport = transport
    this.#options = options
    this.#settle = settle
  }

  /** When it has taken too long, unless the server is heard before. */
  get dueAt(): number {
    const { timeoutMs, maxMs } = this.#options
    return Math.min(this.#heardAt + timeoutMs, this.#start + maxMs)
  }

  send(message: object): void {
    const { direct, deadlines } = this.#wire
    direct.set(this.#id, this)
    this.#options.signal?.addEventListener('abort', this, { once: true })
    deadlines.watch(this.dueAt)
    const options = this.#transport.hasPerRequestStream ? { onRequestStreamEnd: () => this.#cutOff() } : undefined
    send(this.#transport, message, options).catch((error: unknown) => this.fail(error as Error))
  }

  /** The stream for the answer has ended, and cannot be resumed. */
  #cutOff(): void {
    if (this.#wire.direct.has(this.#id)) this.fail(new WireError('CONNECTION_CLOSED'))
  }

  /** Called with the message that has the id of the request. */
  settle({ result, error }: Readonly<Record<string, unknown>>): void {
    this.#end()
    if (error === undefined) return this.#settle.resolve(result)
    const { code, message, data } = toErrorObject(error)
    this.#settle.reject(new WireError(code, message, data))
  }

  fail(error: Error): void {
    this.#end()
    this.#settle.reject(error)
  }

  hear(progress: Readonly<Record<string, unknown>>): void {
    this.#heardAt = performance.now()
    this.#options.onProgress?.(progress)
  }

  expire(now: number): void {
    this.#cancel(new WireError(now - this.#start >= this.#options.maxMs ? 'OVERDUE' : 'REQUEST_TIMEOUT'))
  }

  /** Listens to the signal. */
  handleEvent(): void {
    this.#cancel(toError(this.#options.signal?.reason))
  }

  #cancel(why: Error): void {
    this.fail(why)
    void sendCancellation(this.#transport, this.#id, why)
  }

  #end(): void {
    const { direct, deadlines } = this.#wire
    direct.delete(this.#id)
    if (direct.size === 0) deadlines.rest()
    this.#options.signal?.removeEventListener('abort', this)
  }
}

/** Ends requests that take too long, with one timer for all: creating and clearing a timer takes a tenth of a small call. */
class Deadlines {
  readonly #requests: ReadonlyMap<unknown, DirectRequest>
  #timer: ReturnType<typeof setTimeout> | undefined
  #at = Infinity

  constructor(requests: ReadonlyMap<unknown, DirectRequest>) {
    this.#requests = requests
  }

  /** Looks at the requests at a time, or before. */
  watch(dueAt: number): void {
    if (dueAt < this.#at) this.#wait(dueAt)
    // A process waits for its requests.
    else this.#timer?.ref?.()
  }

  /** Nothing is left to wait for. The timer stays, for the next request. */
  rest(): void {
    this.#timer?.unref?.()
  }

  #wait(at: number): void {
    clearTimeout(this.#timer)
    this.#at = at
    const left = Math.max(0, Math.ceil(at - performance.now()))
    this.#timer = setTimeout(() => this.#look(), Math.min(left, MAX_TIMER_MS))
  }

  #look(): void {
    this.#at = Infinity
    this.#timer = undefined
    const now = performance.now()
    let next = Infinity
    for (const request of Array.from(this.#requests.values())) {
      if (request.dueAt <= now) request.expire(now)
      else next = Math.min(next, request.dueAt)
    }
    if (next < Infinity) this.#wait(next)
  }
}

async function send(transport: Transport, message: object, options?: object): Promise<void> {
  await (options ? transport.send(message, options) : transport.send(message))
}

/** A server that cannot be reached will notice on its own. */
async function sendCancellation(transport: Transport, requestId: number, { message: reason }: Error): Promise<void> {
  const params = { requestId, reason }
  await send(transport, { jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => undefined)
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}

/**
 * Handles a message about a request that the client does not know about. The request may have ended, because some
 * answers arrive too late.
 */
function takeDirect(message: Readonly<Record<string, unknown>>, direct: ReadonlyMap<unknown, DirectRequest>): boolean {
  const { id, method, params } = message
  if (method === undefined) {
    if (!isDirect(id)) return false
    direct.get(id)?.settle(message)
    return true
  }
  if (method !== 'notifications/progress' || !isPlainObject(params)) return false
  const { progressToken, ...progress } = params
  const token = Number(progressToken)
  if (!isDirect(token)) return false
  direct.get(token)?.hear(progress)
  return true
}

function isDirect(id: unknown): boolean {
  return typeof id === 'number' && id > FIRST_ID
}

/** Some servers answer with the number of a request as a string, and clients accept that. */
function withNumber(message: Readonly<Record<string, unknown>>, id: string): Readonly<Record<string, unknown>> {
  return message['method'] === undefined && /^\d+$/.test(id) ? { ...message, id: Number(id) } : message
}
