import type { ProviderAdapter, Usage } from '../adapters/contract.ts'

/**
 * The tokens that a scripted reply reports as its usage.
 *
 * @example
 * ```ts
 * const usage: StepUsage = { inputTokens: 120, outputTokens: 8 }
 * const step: ModelStep = { says: 'Done.', usage }
 * ```
 */
export type StepUsage = Pick<Usage, 'inputTokens' | 'outputTokens'>

/**
 * A call that a scripted model makes; `malformed` is sent verbatim instead of the arguments.
 *
 * @example
 * ```ts
 * const call: ScriptedCall = { name: 'look', arguments: { room: 'hall' } }
 * const broken: ScriptedCall = { name: 'look', malformed: '{"room":' }
 * ```
 */
export interface ScriptedCall {
  readonly name: string
  readonly arguments?: unknown
  readonly malformed?: string
}

/**
 * How and where a reply ends before it is complete.
 *
 * @example
 * ```ts
 * const ends: EarlyEnd = { how: 'stalled', where: 'in text' }
 * const step: ModelStep = { says: 'It is on its', ends }
 * ```
 */
export interface EarlyEnd {
  /**
   * `cut`: the connection is lost; `closed`: the connection is closed cleanly, as some proxies do; `stalled`: nothing more
   * is sent until the client aborts the request.
   */
  readonly how: 'cut' | 'closed' | 'stalled'
  /** Before any text was sent, or after the first part of it. */
  readonly where: 'before text' | 'in text'
}

/**
 * A provider's response to one request.
 *
 * @example
 * ```ts
 * const script: ModelStep[] = [
 *   { refuses: 429, headers: { 'retry-after': '1' } },
 *   { calls: [{ name: 'look', arguments: {} }] },
 *   { says: 'There is a lamp.', usage: { inputTokens: 120, outputTokens: 8 } },
 * ]
 * ```
 */
export type ModelStep =
  /** The model answers, in several parts. */
  | {
      readonly says: string
      readonly usage?: StepUsage
      readonly ends?: EarlyEnd
    }
  /** The model calls tools, all in one reply. */
  | { readonly calls: readonly ScriptedCall[]; readonly usage?: StepUsage }
  /** The provider answers with an error of this status. */
  | { readonly refuses: number; readonly message?: string; readonly headers?: Readonly<Record<string, string>> }

/**
 * An adapter and its provider. `Request` is a request as the provider received it.
 *
 * @example
 * ```ts
 * const peer: ModelPeer<AcmeRequest> = await startAcme([{ says: 'Done.' }])
 * await runAgent(bound, { adapter: peer.adapter })
 * peer.requests().length // => 1
 * await peer.stop()
 * ```
 */
export interface ModelPeer<Request> {
  readonly adapter: ProviderAdapter
  /** The requests that the provider received, in order. */
  requests(): readonly Request[]
  /** Whether the client aborted a request before it was answered. */
  isGivenUp(request: Request): boolean
  stop(): Promise<void>
}

/**
 * The names of the suite's cases, for {@link AdapterSuiteOptions.skips}.
 *
 * @example
 * ```ts
 * const skips: { [Case in AdapterCase]?: string } = { 'structured output': 'The interface has no schemas for answers.' }
 * ```
 */
export type AdapterCase =
  | 'text'
  | 'streaming'
  | 'tool call'
  | 'call deltas'
  | 'parallel calls'
  | 'failing tool'
  | 'bad arguments'
  | 'malformed call'
  | 'hidden tool'
  | 'opening'
  | 'halting opening'
  | 'prefix'
  | 'structured output'
  | 'usage'
  | 'returned usage'
  | 'token limit'
  | 'cancellation'
  | 'deadline'
  | 'rate limit'
  | 'overload'
  | 'no capacity'
  | 'refusal'
  | 'cut before text'
  | 'cut in text'
  | 'resume'

/**
 * Options of {@link adapterSuite}: what it needs to know about an adapter.
 *
 * @example
 * ```ts
 * const options: AdapterSuiteOptions<AcmeRequest> = {
 *   supportsDynamicTools: true,
 *   create: ({ script }) => startAcme(script),
 *   getTools: ({ body }) => body.tools.map(({ name }) => name),
 *   getResults: ({ body }) => body.results.map(({ text }) => text),
 *   getPrefixes: ({ body }) => [JSON.stringify(body)],
 * }
 * ```
 */
export interface AdapterSuiteOptions<Request> {
  /** Creates an adapter with a provider that answers request `n` with step `n` of the script. */
  create(options: { readonly script: readonly ModelStep[] }): Promise<ModelPeer<Request>>
  /** The value that the adapter must have. */
  readonly supportsDynamicTools: boolean
  /**
   * Whether the SDK or program behind the adapter retries failed requests itself. If so, its reasons are not checked,
   * and its delays only if the provider asks for whole seconds. Default false.
   */
  readonly hasForeignRetries?: boolean
  /** How long the first text of a reply may take, in milliseconds. An adapter that starts a program needs more. Default 2,000. */
  readonly firstTextMs?: number
  /**
   * Whether the program behind the adapter lets the model fix an answer itself, so a run sees only the fixed one.
   * Default false.
   */
  readonly hasForeignRepairs?: boolean
  /** Returns the names of the tools that a request offers, wherever they are in the request. */
  getTools(request: Request): readonly string[]
  /** Returns the texts of the tool results in a request, in order. */
  getResults(request: Request): readonly string[]
  /**
   * Returns the parts of a request that the provider caches, in order. Each part must begin with the same part of the
   * previous request. Return one part if tools can be added without changing the text before them; otherwise return the
   * tool list and the rest as two parts.
   */
  getPrefixes(request: Request): readonly string[]
  /** Returns the output schema that a request contains. Leave this out if the provider does not accept one. */
  getOutputSchema?(request: Request): unknown
  /**
   * Which requests must contain the output schema. `always`: every one. `without tools`: those that offer no tools and those
   * that ask the model to fix its answer, and no others, for endpoints that do not call tools while they enforce a schema.
   * Default `always`.
   */
  readonly sendsOutputSchema?: 'always' | 'without tools'
  /** Called for every request of every case; throws if the provider would not accept the request. */
  check?(request: Request): void
  /** Cases that the adapter cannot pass, and why. They are shown as skipped, with the reason. */
  readonly skips?: { readonly [Case in AdapterCase]?: string }
}
