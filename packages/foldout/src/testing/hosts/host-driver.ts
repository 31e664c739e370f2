import type { HostCall, HostOptions } from '../../agent/hosts/core/contract.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'

/**
 * A host for {@link hostSuite}: how to make an agent in it, with a model that answers from a script.
 *
 * @example
 * ```ts
 * hostSuite('my loop', { create: async (setup) => createMyAgent(setup) } satisfies HostDriver)
 * ```
 */
export interface HostDriver {
  /** Rows that the host does not allow, with the reason. */
  readonly skips?: Partial<Record<HostRow, string>>
  /** The names of the host's own tools. Default: `look_up`, which the agent has beside the prompt's. */
  readonly ownTools?: readonly string[]
  /** Creates an agent with one conversation; with `saved`, as another process would. */
  create(setup: HostSetup): HostAgent | Promise<HostAgent>
}

/**
 * The rows of {@link hostSuite} that a host may be unable to pass.
 *
 * @example
 * ```ts
 * const skips: Partial<Record<HostRow, string>> = { images: 'results are texts there' }
 * ```
 */
export type HostRow =
  | 'approval'
  | 'branch'
  | 'clearing'
  | 'folding'
  | 'hints'
  | 'images'
  | 'order'
  | 'own tools'
  | 'restart'
  | 'scripts'
  | 'streaming'
  | 'summarizing'
  | 'system text'

/**
 * What an agent of {@link hostSuite} is made of.
 *
 * @example
 * ```ts
 * const create = (setup: HostSetup): HostAgent => createMyAgent(setup)
 * ```
 */
export interface HostSetup {
  readonly bound: BoundPrompt
  readonly options: HostOptions
  readonly model: ScriptedModel
  /** What an earlier agent has saved. */
  readonly saved?: unknown
}

/**
 * A model that answers from a script.
 *
 * @example
 * ```ts
 * const model: ScriptedModel = ({ tools }) => (tools.includes('pay') ? { text: 'Done.' } : { calls: [opens('desk')] })
 * ```
 */
export type ScriptedModel = (request: SeenRequest) => ScriptedReply

/**
 * A request as a model receives it.
 *
 * @example
 * ```ts
 * const request: SeenRequest = { system: 'You help.', tools: ['look'], inputs: ['Where is my parcel?'], results: [] }
 * ```
 */
export interface SeenRequest {
  readonly system: string
  /** The names of the tools, in order. */
  readonly tools: readonly string[]
  /** The results of calls in the conversation, in order. */
  readonly results: readonly string[]
  /** The texts of the user's messages, in order. */
  readonly inputs: readonly string[]
  /** Whether an image is in the conversation. */
  readonly hasImage?: boolean
}

/**
 * A reply of a {@link ScriptedModel}: text, or calls.
 *
 * @example
 * ```ts
 * const reply: ScriptedReply = { calls: [{ id: 'call_1', name: 'look', arguments: {} }] }
 * ```
 */
export type ScriptedReply = { readonly text: string } | { readonly calls: readonly HostCall[] }

/**
 * An agent with one conversation.
 *
 * @example
 * ```ts
 * const turn = await agent.send('Where is my parcel?')
 * turn.text // => 'In Oslo.'
 * ```
 */
export interface HostAgent {
  /** Sends a message of the user, and resolves when the model has answered or calls wait for a person. */
  send(input: string, options?: { readonly isStreamed?: boolean }): Promise<HostTurn>
  /** Answers the calls that wait. */
  answer?(isApproved: boolean): Promise<HostTurn>
  /** Returns everything that another process needs to continue. */
  save?(): unknown
  /** Removes the text of all results so far, as the host's own compaction does. */
  clearResults?(): Promise<void> | void
  /** Replaces all messages so far by a summary, as the host's own compaction does. */
  summarize?(summary: string): Promise<void> | void
}

/**
 * How a turn of a {@link HostAgent} ended.
 *
 * @example
 * ```ts
 * const turn: HostTurn = { text: '', isWaiting: true }
 * ```
 */
export interface HostTurn {
  readonly text: string
  /** Whether calls wait for a person. */
  readonly isWaiting: boolean
}
