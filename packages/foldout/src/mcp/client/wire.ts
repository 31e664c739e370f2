import { isPlainObject } from '../../core/json/json.ts'
import { MAX_TIMER_MS } from '../limits.ts'
import type { McpClient } from './client.ts'

/** A request whose result is read unchanged. */
export interface Wanted {
  result?: Readonly<Record<string, unknown>>
  readonly onProgress?: ((progress: Readonly<Record<string, unknown>>) => void) | undefined
}

interface Transport {
  send(message: unknown, ...rest: readonly unknown[]): unknown
  onmessage?: ((message: unknown, ...rest: readonly unknown[]) => void) | undefined
  onclose?: (() => void) | undefined
}

interface Wire {
  readonly pending: Map<unknown, Wanted>
  /** Requests that the client does not know about. */
  readonly direct: Map<unknown, DirectRequest>
  readonly listeners: Set<() => void>
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
  if (!wire) wires.set(client, (wire = { pending: new Map(), direct: new Map(), listeners: new Set() }))
  const transport = client.transport as Transport | undefined
  // The client may have been connected again.
  if (transport && tapped.get(transport) !== client) {
    tap(transport, wire)
    tapped.set(transport, client)
  }
  return wire
}

function tap(transport: Transport, { pending, direct, listeners }: Wire): void {
  const { send, onmessage, onclose } = transport
  const tapping: Transport = {
    send(message, ...rest) {
      const wanted = getWanted(message)
      if (wanted) pending.set((message as { readonly id: unknown }).id, wanted)
      return send.call(transport, message, ...rest)
    },
    onmessage(message, ...rest) {
      if (takeDirect(message, direct)) return
      const forClient = isPlainObject(message) ? read(message, pending, listeners) : message
      onmessage?.call(transport, forClient, ...rest)
    },
    onclose() {
      for (const request of Array.from(direct.values())) request.fail(new WireError('CONNECTION_CLOSED'))
      onclose?.call(transport)
    },
  }
  Object.assign(transport, tapping)
}

function getWanted(message: unknown): Wanted | undefined {
  if (!isPlainObject(message) || !('id' in message) || !isPlainObject(message['params'])) return undefined
  return (message['params'] as { readonly [WANTED]?: Wanted })[WANTED]
}

/** Takes the wanted result out of a message. Returns the message that the client sees instead. */
function read(
  message: Readonly<Record<string, unknown>>,
  pending: Map<unknown, Wanted>,
  listeners: ReadonlySet<() => void>,
): unknown {
  const { method, id, result, params } = message
  if (method === 'notifications/tools/list_changed') for (const listener of listeners) listener()
  if (method === 'notifications/progress' && isPlainObject(params)) {
    const { progressToken, ...progress } = params
    pending.get(progressToken)?.onProgress?.(progress)
  }
  const wanted = method === undefined ? pending.get(id) : undefined
  if (!wanted) return message
  pending.delete(id)
  // Anything but a result, or a task that will have it, is a question to the client.
  if (!isPlainObject(result) || !RESULT_TYPES.has(result['resultType'])) return message
  wanted.result = result
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

interface DirectRequest {
  /** Called with the message that has the id of the request. */
  settle(message: Readonly<Record<string, unknown>>): void
  fail(error: Error): void
  hear(progress: Readonly<Record<string, unknown>>): void
}

/** Far above the ids that a client uses. */
const FIRST_ID = 2 ** 40
let lastId = FIRST_ID

/**
 * Sends a request of the legacy era without the client. The client would check the answer against schemas twice, and
 * create timers and listeners for it, which takes most of the time of a call through a gateway.
 */
export function requestOnWire(
  client: McpClient,
  method: string,
  params: Readonly<Record<string, unknown>>,
  { signal, timeoutMs, maxMs, onProgress }: DirectOptions,
): Promise<unknown> {
  const { direct } = toWire(client)
  const transport = client.transport as Transport
  const id = ++lastId
  const meta = isPlainObject(params['_meta']) ? params['_meta'] : {}
  const start = performance.now()
  let heardAt = start
  let timer: ReturnType<typeof setTimeout> | undefined
  return new Promise((resolve, reject) => {
    const end = (): void => {
      direct.delete(id)
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    const fail = (error: Error): void => {
      end()
      reject(error)
    }
    const cancel = (why: Error): void => {
      fail(why)
      void sendCancellation(transport, id, why)
    }
    const onAbort = (): void => cancel(toError(signal?.reason))
    const watch = (): void => {
      const now = performance.now()
      const left = Math.min(heardAt + timeoutMs, start + maxMs) - now
      if (left > 0) timer = setTimeout(watch, Math.min(Math.ceil(left), MAX_TIMER_MS))
      else cancel(new WireError(now - start >= maxMs ? 'OVERDUE' : 'REQUEST_TIMEOUT'))
    }
    direct.set(id, {
      settle({ result, error }) {
        end()
        if (error === undefined) return resolve(result)
        const { code, message, data } = isPlainObject(error) ? error : {}
        reject(new WireError(typeof code === 'number' ? code : -32_603, String(message), data))
      },
      fail,
      hear(progress) {
        heardAt = performance.now()
        onProgress?.(progress)
      },
    })
    signal?.addEventListener('abort', onAbort, { once: true })
    watch()
    const message = { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...meta, progressToken: id } } }
    send(transport, message).catch(fail)
  })
}

async function send(transport: Transport, message: object): Promise<void> {
  await transport.send(message)
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
function takeDirect(message: unknown, direct: ReadonlyMap<unknown, DirectRequest>): boolean {
  if (!isPlainObject(message)) return false
  const { id, method, params } = message
  if (method === undefined) {
    if (!isDirect(id)) return false
    direct.get(id)?.settle(message)
    return true
  }
  if (method !== 'notifications/progress' || !isPlainObject(params)) return false
  const { progressToken, ...progress } = params
  if (!isDirect(progressToken)) return false
  direct.get(progressToken)?.hear(progress)
  return true
}

function isDirect(id: unknown): boolean {
  return typeof id === 'number' && id > FIRST_ID
}
