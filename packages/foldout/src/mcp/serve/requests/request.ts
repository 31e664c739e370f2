import type { CallPeer } from '../../../catalog/tool.ts'
import { isObject } from 'foldout-shared/values'
import { CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION } from '../../keys.ts'
import { LONGEST_ANSWER_MS } from '../../limits.ts'
import type { IncomingRequest } from '../../protocol/incoming.ts'
import type { JsonObject, RequestId } from '../../protocol/messages.ts'
import type { Peer } from '../../protocol/peer.ts'
import type { FeatureNotification } from '../contract/features.ts'

/** Who sends a request. */
export interface Sender {
  readonly era: CallPeer['era']
  readonly peer: Peer
  /** What a legacy client has declared when it connected. */
  readonly capabilities: JsonObject
  /** The headers of a request that came over HTTP. */
  getHeaders(id: RequestId): CallPeer['headers']
  /** Notifies the client of something that belongs to a request, or that it listens for. */
  notify(notification: FeatureNotification, request: RequestId): Promise<void>
}

/** Answers a request with its result, or throws the error to answer it with. */
export type Handler = (request: ServedRequest) => JsonObject | Promise<JsonObject>

/** A request of a client, with what it says about the protocol taken out of its parameters. */
export class ServedRequest {
  readonly id: RequestId
  readonly method: string
  /** Without the fields that only this connection understands. */
  readonly params: JsonObject
  /** The same. */
  readonly meta: JsonObject
  readonly headers: CallPeer['headers']
  readonly #incoming: IncomingRequest
  readonly #sender: Sender

  constructor(incoming: IncomingRequest, sender: Sender) {
    this.id = incoming.id
    this.method = incoming.method
    this.headers = sender.getHeaders(incoming.id)
    this.#incoming = incoming
    this.#sender = sender
    const { params, meta } = takeOwn(incoming.params)
    this.params = params
    this.meta = meta
  }

  get signal(): AbortSignal {
    return this.#incoming.signal
  }

  /** Notifies the client of something that belongs to the request, or that it listens for. */
  notify(notification: FeatureNotification): Promise<void> {
    return this.#sender.notify(notification, this.id)
  }

  /** Sends a notification with the request, whatever the client listens for. */
  send({ method, params }: FeatureNotification): Promise<void> {
    return this.#sender.peer.notify(method, params, { relatedTo: this.id })
  }

  /** Creates the client as tools and features see it. */
  createPeer(logLevel: string | undefined): CallPeer {
    if (this.#sender.era === 'legacy') return this.#createLegacyPeer(logLevel)
    return this.#createModernPeer()
  }

  #createLegacyPeer(logLevel: string | undefined): CallPeer {
    const { peer, capabilities } = this.#sender
    return {
      era: 'legacy',
      capabilities: { ...capabilities },
      notify: (method, params) => this.notify({ method, params }),
      ask: (method, params, signal) =>
        // People answer some of these. The request itself has a deadline, if anything has.
        peer.request(method, params, { signal, timeoutMs: LONGEST_ANSWER_MS, sending: { relatedTo: this.id } }),
      ...this.#getHeaders(),
      ...(logLevel !== undefined && { logLevel }),
    }
  }

  #createModernPeer(): CallPeer {
    const { inputResponses, requestState } = this.#incoming.params
    const { [CLIENT_CAPABILITIES]: capabilities, [LOG_LEVEL]: level } = getMeta(this.#incoming.params)
    const input = {
      responses: isObject(inputResponses) ? inputResponses : {},
      state: typeof requestState === 'string' ? requestState : undefined,
    }
    return {
      era: 'modern',
      capabilities: isObject(capabilities) ? { ...capabilities } : {},
      notify: (method, params) => this.notify({ method, params }),
      ...this.#getHeaders(),
      ...(typeof level === 'string' && { logLevel: level }),
      ...(!(inputResponses === undefined && requestState === undefined) && { input }),
    }
  }

  #getHeaders(): Pick<CallPeer, 'headers'> {
    if (this.headers) return { headers: this.headers }
    return {}
  }
}

const ENVELOPE = [PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL] as const
const NOTHING: JsonObject = Object.freeze({})

/** The `_meta` of parameters. */
export function getMeta({ _meta: meta }: JsonObject): JsonObject {
  if (isObject(meta)) return meta
  return NOTHING
}

/** Takes out what a request says about the protocol. Passed on, it would speak for this server. */
function takeOwn(params: JsonObject): { readonly params: JsonObject; readonly meta: JsonObject } {
  const given = getMeta(params)
  const hasEnvelope = ENVELOPE.some((key) => key in given)
  const isRetry = 'inputResponses' in params || 'requestState' in params
  if (!hasEnvelope && !isRetry) return { params, meta: given }
  const { inputResponses: _, requestState: __, _meta: ___, ...rest } = params
  const meta = { ...given }
  for (const key of ENVELOPE) delete meta[key]
  return { params: Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest, meta }
}
