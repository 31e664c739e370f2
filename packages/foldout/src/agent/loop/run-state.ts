import { NO_USAGE, addUsage, type Message, type ToolMessage, type Usage } from '../../adapters/contract.ts'
import { FoldoutError } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { shorten } from '../../core/text.ts'
import type { Event } from '../../session/event.ts'
import { freezeChanges } from '../../session/freeze.ts'
import { Log } from '../../session/log.ts'
import { includeInSessions } from '../../session/session.ts'
import { defineSlice, makeSlice } from '../../session/slice.ts'
import type { ApprovalAnswer, ApprovalRequest, HeldApproval, RunningCall } from '../approvals.ts'
import { NOT_AN_OBJECT, findStateFault, runEventChecks } from './state-faults.ts'

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
}

type Fields = Omit<RunState, 'messages'>

const NEW_FIELDS: Fields = Object.freeze({
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
})

/**
 * A state as a session holds it. Its messages are a log, which appends in constant time; the list is built on demand.
 * It is a class because a state is created for each event of a run, and engines create class instances fastest.
 */
class HeldState implements RunState {
  readonly version = 1
  readonly id: string
  readonly status: RunState['status']
  readonly finished: readonly ToolMessage[]
  readonly calling: readonly RunningCall[]
  readonly approvals: readonly HeldApproval[]
  readonly pending: readonly PendingOpening[]
  readonly usage: Usage
  readonly totalUsage: Usage
  readonly expansions: number
  readonly turns: number
  readonly repairs: number
  readonly disclosed: readonly string[]
  readonly answer: string | null
  readonly start: ConversationStart | null
  readonly read: readonly ShownSection[]
  readonly #fields: Fields
  readonly #log: Log<Message>
  #messages: readonly Message[] | undefined

  constructor(fields: Fields, log: Log<Message>) {
    this.id = fields.id
    this.status = fields.status
    this.finished = freezeChanges(fields.finished)
    this.calling = freezeChanges(fields.calling)
    this.approvals = freezeChanges(fields.approvals)
    this.pending = freezeChanges(fields.pending)
    this.usage = freezeChanges(fields.usage)
    this.totalUsage = freezeChanges(fields.totalUsage)
    this.expansions = fields.expansions
    this.turns = fields.turns
    this.repairs = fields.repairs
    this.disclosed = freezeChanges(fields.disclosed)
    this.answer = fields.answer
    this.start = freezeChanges(fields.start)
    this.read = freezeChanges(fields.read)
    this.#fields = fields
    this.#log = log
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
    return toRunState(this)
  }
}

function createState(fields: Fields, log: Log<Message>): HeldState {
  return new HeldState(fields, log)
}

function createInitial(): RunState {
  return createState(NEW_FIELDS, Log.of<Message>([]))
}

function hold(state: RunState): HeldState {
  return state instanceof HeldState ? state : createState(state, Log.of(state.messages))
}

function update(state: RunState, changes: Partial<Fields>, log?: Log<Message>): HeldState {
  const held = hold(state)
  return createState({ ...held.fields, ...changes }, log ?? held.log)
}

/** Converts a state to plain data for callers. */
export function toRunState(state: RunState): RunState {
  return state instanceof HeldState ? Object.freeze({ ...state.fields, messages: state.messages }) : state
}

/** Returns a run's last message. */
export function getLastMessage(state: RunState): Message | undefined {
  return hold(state).log.at(-1)
}

const runSlice = defineSlice({
  name: 'run',
  initial: createInitial(),
  reducers: {
    started: (_state, payload: { readonly messages: readonly Message[]; readonly id?: string }): RunState =>
      createState(
        { ...NEW_FIELDS, id: payload.id ?? '', status: 'running' },
        Log.of(payload.messages.map((message) => freezeChanges(message))),
      ),
    said: (state, payload: { readonly message: Message }): RunState => addMessage(state, payload.message),
    /** A call begins. */
    calling: (state, payload: RunningCall): RunState =>
      update(state, { calling: [...withoutCall(state.calling, payload.callId), payload] }),
    /** A person is asked about a call, for the first time or again. */
    asked: (state, payload: { readonly request: ApprovalRequest }): RunState =>
      update(state, {
        approvals: [...withoutCall(state.approvals, payload.request.callId), payload.request],
        calling: withoutCall(state.calling, payload.request.callId),
      }),
    answered: (state, payload: Omit<ApprovalAnswer, 'digest'>): RunState => {
      const { callId, ...answer } = payload
      return update(state, {
        approvals: state.approvals.map((held) => (held.callId === callId ? { ...held, answer } : held)),
      })
    },
    /** A call has ended; its opening, if any, waits for the next render. */
    called: (state, payload: { readonly result: ToolMessage; readonly opening?: PendingOpening }): RunState =>
      update(state, {
        finished: [...state.finished, payload.result],
        calling: withoutCall(state.calling, payload.result.callId),
        approvals: withoutCall(state.approvals, payload.result.callId),
        ...(payload.opening ? { pending: [...state.pending, payload.opening] } : {}),
      }),
    used: (state, payload: { readonly usage: Usage }): RunState =>
      update(state, {
        usage: addUsage(state.usage, payload.usage),
        totalUsage: addUsage(state.totalUsage, payload.usage),
      }),
    disclosed: (state, payload: { readonly names: readonly string[] }): RunState => {
      const disclosed = new Set([...state.disclosed, ...payload.names])
      return disclosed.size === state.disclosed.length ? state : update(state, { disclosed: [...disclosed] })
    },
    /** The conversation begins or continues with this text and these tools. */
    rendered: (state, { start }: { readonly start: ConversationStart }): RunState =>
      update(state, { start, read: [] }, dropAdditions(hold(state).log, new Set(start.tools))),
    /** A message shows open sections; if it is the result of a call, this is its new text. */
    shown: (
      state,
      { sections, result }: { readonly sections: readonly ShownSection[]; readonly result?: ToolMessage },
    ): RunState =>
      update(state, {
        read: [...new Map([...state.read, ...sections])],
        ...(result && {
          finished: state.finished.map((known) => (known.callId === result.callId ? result : known)),
        }),
      }),
    /** The prompt will be rendered again; it will include pending openings and added tools. */
    restarted: (state, payload: { readonly isOpening: boolean }): RunState =>
      update(
        state,
        { expansions: state.expansions + (payload.isOpening ? 1 : 0), pending: [], start: null, read: [] },
        Log.of(state.messages.filter(({ role }) => role !== 'tools')),
      ),
    /** The pending openings are open by other means. */
    settled: (state): RunState => update(state, { pending: [] }),
    repaired: (state, payload: { readonly message: Message }): RunState =>
      update(addMessage(state, payload.message), { repairs: state.repairs + 1 }),
    /** A run continues. With new user input, the counts start over, but not the totals. */
    resumed: (state, payload: { readonly state?: RunState; readonly isNewInput?: boolean }): RunState => {
      const known = payload.state === undefined ? state : readRunState(payload.state)
      const counts = payload.isNewInput ? { usage: NO_USAGE, turns: 0, expansions: 0, repairs: 0 } : {}
      return update(known, { ...counts, status: 'running', answer: null })
    },
    completed: (state, payload: { readonly answer: string }): RunState =>
      update(state, { status: 'completed', answer: payload.answer }),
    stopped: (state): RunState => update(state, { status: 'stopped' }),
    paused: (state): RunState => update(state, { status: 'waiting' }),
    /** A machine continues the run. Nothing changes, but no other machine can write anymore. */
    claimed: (state, _payload: { readonly by: string }): RunState => state,
    cancelled: (state): RunState => update(state, { status: 'cancelled' }),
  },
  checks: {
    ...runEventChecks,
    resumed: (payload) => {
      if (!isPlainObject(payload)) return NOT_AN_OBJECT
      const { state } = payload
      return state === undefined || state instanceof HeldState ? undefined : findStateFault(state)
    },
  },
  fromJson: readRunState,
})

/**
 * The slice of a session's conversation. Every session has it, so a second input continues the conversation, and another
 * process that opens the session from a store or a snapshot continues where this one stopped.
 *
 * @example
 * ```ts
 * const session = await openSession({ store, id: 'run-17' })
 * console.log(session.get(agentRun).status)
 * ```
 */
export const agentRun = includeInSessions(makeSlice({ ...runSlice, toJson: toRunState }))

/** Removes messages about added tools that are now offered from the start. */
function dropAdditions(log: Log<Message>, offered: ReadonlySet<string>): Log<Message> {
  const messages = [...log]
  if (!messages.some(({ role }) => role === 'tools')) return log
  return Log.of(
    messages.flatMap((message): readonly Message[] => {
      if (message.role !== 'tools') return [message]
      const names = message.names.filter((name) => !offered.has(name))
      return names.length > 0 ? [freezeChanges({ ...message, names })] : []
    }),
  )
}

function addMessage(state: RunState, message: Message): RunState {
  const held = hold(state)
  const turns = message.role === 'assistant' ? held.turns + 1 : held.turns
  const answered = message.role === 'tool' && {
    finished: withoutCall(held.finished, message.callId),
    calling: withoutCall(held.calling, message.callId),
    approvals: withoutCall(held.approvals, message.callId),
  }
  return createState({ ...held.fields, turns, ...answered }, held.log.append(freezeChanges(message)))
}

/** Removes the entry of a call from a list. */
function withoutCall<Item extends { readonly callId: string }>(list: readonly Item[], id: string): readonly Item[] {
  // Usually there is no entry, and a state is created for each event of a run.
  if (!list.some(({ callId }) => callId === id)) return list
  return list.filter(({ callId }) => callId !== id)
}

/** Computes the state after an event, for runs whose session does not have the slice. */
export function reduceRun(state: RunState, event: Event): RunState {
  return agentRun.reducers.get(event.type)?.(state, event.payload as never) ?? state
}

/** Creates the state of a run that has not begun. */
export function createRunState(): RunState {
  return agentRun.initial
}

/** Reads a run's state from JSON. */
export function readRunState(json: unknown): RunState {
  if (json instanceof HeldState) return json
  const fault = findStateFault(json)
  if (fault !== undefined) {
    throw new FoldoutError(
      'run-state-invalid',
      `This is not the state of a run: ${shorten(fault, MAX_FAULT)}. Pass the state of a result or an error, directly or after a round trip through JSON.`,
    )
  }
  const { messages, ...fields } = { ...NEW_FIELDS, ...(json as RunState) }
  return createState(
    { ...fields, finished: Object.values(fields.finished ?? []) },
    Log.of(messages.map((message) => freezeChanges(message))),
  )
}

/** The maximum length of a fault's description, which may quote parts of the state. */
const MAX_FAULT = 300
