import { NO_USAGE, type Message, type ToolMessage, type Usage } from '../../adapters/contract.ts'
import { freezeChanges } from '../../session/freeze.ts'
import { Log } from '../../session/log.ts'
import type { VisibilityOverrides } from '../../session/visibility.ts'
import type { HeldApproval, RunningCall } from './approvals.ts'
import type { ConversationSummary, FoldedResult } from '../refold/projection.ts'

/**
 * An opening that was accepted but not shown to the model yet; the next render shows it.
 *
 * @example
 * ```ts
 * const getPaths = ({ paths }: PendingOpening): readonly string[] => paths
 * const { state } = await runAgent(bound, { adapter })
 * state.pending.flatMap(getPaths) // => []
 * ```
 */
export interface PendingOpening {
  readonly callId: string
  readonly keys: readonly string[]
  readonly reason: string
  /** The sections that become open, ancestors first. */
  readonly paths: readonly string[]
}

/**
 * The start of a conversation. Later requests send the same text and tools, so the provider's cache keeps hitting, and
 * content that a provider binds to the start stays valid.
 *
 * @example
 * ```ts
 * const { state } = await runAgent(bound, { adapter })
 * const start: ConversationStart | null = state.start
 * start?.tools // => [ 'look', 'read_section' ]
 * ```
 */
export interface ConversationStart {
  readonly system: string
  /** The names of the tools offered from the start, in order. */
  readonly tools: readonly string[]
  /** A hash of those tools' definitions. */
  readonly definitions: string
  /** A hash of the prompt's name and values. */
  readonly prompt: string
  /** A hash of the prompt's source, the strategy and the overrides. */
  readonly source: string
  /** The sections that are open in its text. */
  readonly shown: readonly ShownSection[]
}

/**
 * The path of a section that was open for the model, and a hash of its text if that may change with the session.
 *
 * @example
 * ```ts
 * const getPath = ([path]: ShownSection): string => path
 * const { state } = await runAgent(bound, { adapter })
 * state.start?.shown.map(getPath) // => [ 'role', 'tasks' ]
 * ```
 */
export type ShownSection = readonly [path: string, hash: string]

/**
 * A run that answers a question about a section, as part of the run that asks. It has the same journal.
 *
 * @example
 * ```ts
 * const { state } = await runAgent(bound, { adapter })
 * const open: readonly DelegateRun[] = state.delegates
 * open.length // => 0
 * ```
 */
export interface DelegateRun {
  /** The call of `ask_section`. */
  readonly callId: string
  /** The section that answers. */
  readonly path: string
  readonly question: string
  /** What is open in its prompt. */
  readonly opened: VisibilityOverrides
  readonly state: RunState
}

/**
 * Everything that is needed to continue a run besides the prompt and the session. Plain JSON.
 *
 * @example
 * ```ts
 * const { state } = await runAgent(bound, { adapter, input: 'Where is my parcel?' })
 * const kept: RunState = JSON.parse(JSON.stringify(state))
 * await runAgent(bound, { adapter, state: kept, input: 'And when does it arrive?' })
 * ```
 */
export interface RunState {
  readonly version: 1
  /** Identifies the conversation among all others. Empty before it has begun. */
  readonly id: string
  /** `'waiting'`: calls wait for approval. `'cancelled'`: a durable run was ended; new input continues it. */
  readonly status: 'new' | 'running' | 'completed' | 'stopped' | 'waiting' | 'cancelled'
  readonly messages: readonly Message[]
  /** Results of finished calls of the last turn that are not messages yet. */
  readonly finished: readonly ToolMessage[]
  /** Calls that have begun but have no result yet. */
  readonly calling: readonly RunningCall[]
  /** Calls that wait for approval and have no result yet. */
  readonly approvals: readonly HeldApproval[]
  /** Openings that were not shown to the model yet. */
  readonly pending: readonly PendingOpening[]
  /** The cost of the current user input. */
  readonly usage: Usage
  /** The cost of the whole conversation. */
  readonly totalUsage: Usage
  /** How often the run restarted because of an opening, since the last user input. */
  readonly expansions: number
  /** The number of model replies since the last user input. */
  readonly turns: number
  /** How often the model was asked to fix its answer, since the last user input. */
  readonly repairs: number
  /** Every tool offered so far; they all stay callable. */
  readonly disclosed: readonly string[]
  /** The answer of a completed run. */
  readonly answer: string | null
  /** The start of the conversation; null before the first render, and if the next request needs a new render. */
  readonly start: ConversationStart | null
  /** The sections that later messages have shown to the model. */
  readonly read: readonly ShownSection[]
  /** The results that requests no longer send whole. */
  readonly folded: readonly FoldedResult[]
  /** What requests send instead of the older turns, if these were summarized. */
  readonly summary: ConversationSummary | null
  /** When the model last replied, in milliseconds since 1970; null before its first reply. */
  readonly repliedAt: number | null
  /** The runs that answer questions about sections and have not ended. */
  readonly delegates: readonly DelegateRun[]
  /**
   * The part of `usage` that such runs have used, with what it cost as far as the provider or the rates of `delegates`
   * say.
   */
  readonly delegated: Usage
}

export type Fields = Omit<RunState, 'messages'>

export const NEW_FIELDS: Fields = Object.freeze({
  version: 1,
  id: '',
  status: 'new',
  finished: [],
  calling: [],
  approvals: [],
  pending: [],
  usage: NO_USAGE,
  totalUsage: NO_USAGE,
  expansions: 0,
  turns: 0,
  repairs: 0,
  disclosed: [],
  answer: null,
  start: null,
  read: [],
  folded: [],
  summary: null,
  repliedAt: null,
  delegates: [],
  delegated: NO_USAGE,
})

/** A state as a session holds it: its fields, so that a copy made by spreading has them, and its messages. */
export type HeldState = RunState & Holder

const NAMES = Object.keys(NEW_FIELDS) as readonly (keyof Fields)[]

/** The messages are a log, which appends in constant time; the list is built on demand. */
class Holder {
  readonly #fields: Fields
  readonly #log: Log<Message>
  #messages: readonly Message[] | undefined

  constructor(fields: Fields, log: Log<Message>) {
    this.#fields = fields
    this.#log = log
    // Only known names: a foreign state may have a field called `__proto__`.
    const own = this as unknown as Record<keyof Fields, unknown>
    for (const name of NAMES) own[name] = freezeChanges(fields[name])
    Object.freeze(this)
  }

  get fields(): Fields {
    return this.#fields
  }

  get log(): Log<Message> {
    return this.#log
  }

  get messages(): readonly Message[] {
    return (this.#messages ??= Object.freeze([...this.#log]))
  }

  toJSON(): RunState {
    return toRunState(this as unknown as HeldState)
  }
}

export function createState(fields: Fields, log: Log<Message>): HeldState {
  return new Holder(fields, log) as HeldState
}

export function isHeld(state: unknown): state is HeldState {
  return state instanceof Holder
}

export function createInitial(): RunState {
  return createState(NEW_FIELDS, Log.of<Message>([]))
}

export function hold(state: RunState): HeldState {
  if (isHeld(state)) return state
  const { messages, ...fields } = state
  return createState(fields, Log.of(messages))
}

export function update(state: RunState, changes: Partial<Fields>, log?: Log<Message>): HeldState {
  const held = hold(state)
  return createState({ ...held.fields, ...changes }, log ?? held.log)
}

/** Converts a state to plain data for callers. */
export function toRunState(state: RunState): RunState {
  if (!isHeld(state)) return state
  const delegates = state.delegates.map((each) => Object.freeze({ ...each, state: toRunState(each.state) }))
  return Object.freeze({ ...state.fields, delegates, messages: state.messages })
}
