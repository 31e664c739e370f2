import { isPlainObject } from '../../core/json/json.ts'
import type { McpClient } from './client.ts'

/** A request whose result is wanted as the server wrote it. */
export interface Wanted {
  result?: Readonly<Record<string, unknown>>
  readonly onProgress?: ((progress: Readonly<Record<string, unknown>>) => void) | undefined
}

interface Transport {
  send(message: unknown, ...rest: readonly unknown[]): unknown
  onmessage?: ((message: unknown, ...rest: readonly unknown[]) => void) | undefined
}

interface Wire {
  readonly pending: Map<unknown, Wanted>
  readonly listeners: Set<() => void>
}

/**
 * Marks the parameters of a request. A key of this kind is copied along by the client, in every round of a request that it
 * sends more than once, and never written.
 */
const WANTED = Symbol('foldout/wanted')

/** Stands in for any result, so that the client has nothing to object to. */
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
 * Clients check results against the protocol's schemas: one wrong tool costs the whole list, and an answer of a kind that they do
 * not know is an error. They also drop the progress that comes together with the answer. So what is asked for here is read
 * where it arrives, beside the client, which is left all the rest: timeouts, cancellation, versions, further rounds.
 * Gives back the parameters to send; afterwards `wanted` has the result, if the client's transport could be read.
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

/** Calls back whenever the server says that its tools changed, beside handlers that the client has of its own. */
export function onToolsChanged(client: McpClient, listener: () => void): () => void {
  const { listeners } = toWire(client)
  // So that one function can listen twice.
  const own = (): void => listener()
  listeners.add(own)
  return () => listeners.delete(own)
}

function toWire(client: McpClient): Wire {
  let wire = wires.get(client)
  if (!wire) wires.set(client, (wire = { pending: new Map(), listeners: new Set() }))
  const transport = client.transport as Transport | undefined
  // A client may have been connected again.
  if (transport && tapped.get(transport) !== client) {
    tap(transport, wire)
    tapped.set(transport, client)
  }
  return wire
}

function tap(transport: Transport, { pending, listeners }: Wire): void {
  const { send, onmessage } = transport
  const tapping: Transport = {
    send(message, ...rest) {
      const wanted = getWanted(message)
      if (wanted) pending.set((message as { readonly id: unknown }).id, wanted)
      return send.call(transport, message, ...rest)
    },
    onmessage(message, ...rest) {
      const forClient = isPlainObject(message) ? read(message, pending, listeners) : message
      onmessage?.call(transport, forClient, ...rest)
    },
  }
  Object.assign(transport, tapping)
}

function getWanted(message: unknown): Wanted | undefined {
  if (!isPlainObject(message) || !('id' in message) || !isPlainObject(message['params'])) return undefined
  return (message['params'] as { readonly [WANTED]?: Wanted })[WANTED]
}

/** Takes what is wanted out of a message. Gives back what the client is to see of it. */
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
  // Anything but a complete result is a question to the client.
  if (!isPlainObject(result) || (result['resultType'] ?? 'complete') !== 'complete') return message
  wanted.result = result
  return { ...message, result: STAND_IN }
}
