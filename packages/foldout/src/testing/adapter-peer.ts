import type { ProviderAdapter, Usage } from '../adapters/contract.ts'

/** What a reply costs. */
export type StepUsage = Pick<Usage, 'inputTokens' | 'outputTokens'>

/** A call as a scripted model writes it; `malformed` is sent in place of the arguments, as it is. */
export interface ScriptedCall {
  readonly name: string
  readonly arguments?: unknown
  readonly malformed?: string
}

/** How and where a reply ends before it is whole. */
export interface EarlyEnd {
  /**
   * `cut`: the connection is lost; `closed`: the connection is closed in good order, as some proxies do; `stalled`: nothing
   * more comes, until the request is given up.
   */
  readonly how: 'cut' | 'closed' | 'stalled'
  /** Before any of the text was sent, or after the first part of it. */
  readonly where: 'before text' | 'in text'
}

/** What a provider does with one request. */
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

/** An adapter and the provider it speaks to. `Request` is a request as the provider got it. */
export interface ModelPeer<Request> {
  readonly adapter: ProviderAdapter
  /** What the provider was asked, in order. */
  requests(): readonly Request[]
  /** Whether the client gave a request up before it was answered. */
  isGivenUp(request: Request): boolean
  stop(): Promise<void>
}

/** The cases of the suite by name, for {@link AdapterSuiteOptions.skips}. */
export type AdapterCase =
  | 'text'
  | 'streaming'
  | 'tool call'
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

/** What {@link adapterSuite} must know of an adapter. */
export interface AdapterSuiteOptions<Request> {
  /** Makes an adapter with a provider that answers request `n` with step `n` of the script. */
  create(options: { readonly script: readonly ModelStep[] }): Promise<ModelPeer<Request>>
  /** What the adapter must say of itself. */
  readonly supportsDynamicTools: boolean
  /**
   * Whether what the adapter drives sends failed requests again by itself: then the waiting times, unless they are given in
   * whole seconds, and the reasons are its own. Default false.
   */
  readonly hasForeignRetries?: boolean
  /** Names of the tools that a request offers, wherever in it they are. */
  getTools(request: Request): readonly string[]
  /** Texts of the tool results in a request, in order. */
  getResults(request: Request): readonly string[]
  /**
   * What the provider caches of a request, in the order in which it does. Each part must begin with the same part of the
   * request before: one part where tools can be added without a change to what comes before them; where they cannot, the
   * tool list for itself, and all the rest.
   */
  getPrefixes(request: Request): readonly string[]
  /** The output schema that a request tells the provider. Left out where the provider cannot be told. */
  getOutputSchema?(request: Request): unknown
  /** Asked for every request of every case; throws if the provider would not take it. */
  check?(request: Request): void
  /** Cases that the adapter cannot pass, and why. They are shown as skipped, with the reason. */
  readonly skips?: { readonly [Case in AdapterCase]?: string }
}
