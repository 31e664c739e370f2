import type { CallClient, CallPeer, ToolProgress } from '../../../catalog/tool.ts'

/**
 * Everything that a server has besides tools: resources, prompts, completions, logs and the rest of the protocol.
 *
 * @example
 * ```ts
 * const features: McpFeatures = {
 *   capabilities: { prompts: {} },
 *   async request({ method }) {
 *     return method === 'prompts/list' ? { prompts: [{ name: 'greet' }] } : undefined
 *   },
 * }
 * const served = serveMcp(catalog, { name: 'home', version: '1.0.0', features: () => features })
 * ```
 */
export interface McpFeatures {
  /** The server's capabilities, except those for tools. */
  readonly capabilities: Readonly<Record<string, object>>
  /**
   * Answers a request, except those for tools. The answer is sent unchanged. `undefined` means that the method is
   * unknown; an error with a numeric `code` is sent with that code.
   */
  request(request: FeatureRequest, context: FeatureContext): Promise<Readonly<Record<string, unknown>> | undefined>
  /**
   * Called when a modern client listens for changes of resources. Returns a function that is called when it has stopped. Legacy
   * clients send `resources/subscribe` instead.
   */
  listen?(uris: readonly string[], context: Pick<FeatureContext, 'client'>): () => void
  /** Called with the client's notifications that are not about its requests, such as changed roots. */
  hear?(notification: FeatureNotification): void
  /**
   * Calls a listener with every notification for the client, and may ask the client over its channel. Returns a
   * function that stops it, which is called when the client has disconnected.
   */
  subscribe?(listener: (notification: FeatureNotification) => void, channel: ClientChannel): () => void
}

/**
 * Asks a connected client something that belongs to none of its requests. Within a request, use the `ask` of its peer.
 *
 * @example
 * ```ts
 * const features: McpFeatures = {
 *   capabilities: {},
 *   request: async () => undefined,
 *   subscribe(_listener, channel) {
 *     const greet = async (): Promise<void> => {
 *       if (channel.isOpen) console.log(await channel.ask('roots/list', {}))
 *     }
 *     const timer = setInterval(() => void greet().catch(console.error), 60_000)
 *     return () => clearInterval(timer)
 *   },
 * }
 * ```
 */
export interface ClientChannel {
  /**
   * Whether the client can be asked now. Legacy clients can be asked after the handshake, and over HTTP only while they
   * have an event stream open. Modern clients cannot be asked outside of their requests.
   */
  readonly isOpen: boolean
  /**
   * Sends a request to the client: `sampling/createMessage`, `elicitation/create` or `roots/list`, if the client has
   * declared the capability. Rejects if the channel is not open, if 64 questions wait for an answer already, if the
   * client answers with an error or disconnects, or if the signal is aborted.
   */
  ask(
    method: string,
    params: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>>>
}

/**
 * A request for something other than a tool.
 *
 * @example
 * ```ts
 * const request: FeatureRequest = { method: 'resources/read', params: { uri: 'file:///notes.md' } }
 * ```
 */
export interface FeatureRequest {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

/**
 * A notification for clients, or of a client.
 *
 * @example
 * ```ts
 * const notification: FeatureNotification = { method: 'notifications/prompts/list_changed' }
 * ```
 */
export interface FeatureNotification {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

/**
 * The context of a request for something other than a tool.
 *
 * @example
 * ```ts
 * const whoAsks = ({ client }: FeatureContext): string => client.principal ?? client.id
 * ```
 */
export interface FeatureContext {
  readonly client: CallClient
  readonly peer: CallPeer
  readonly signal: AbortSignal
  /** The `_meta` of the request. */
  readonly meta: Readonly<Record<string, unknown>>
  /** Present only if the client requested progress. */
  readonly onProgress?: (progress: ToolProgress) => void
}
