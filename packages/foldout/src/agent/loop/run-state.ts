import { NO_USAGE, addUsage, type Message, type ToolMessage, type Usage } from '../../adapters/contract.ts'
import { FoldoutError } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import type { Event } from '../../session/event.ts'
import { freezeChanges } from '../../session/freeze.ts'
import { Log } from '../../session/log.ts'
import { defineSlice } from '../../session/slice.ts'

/** An opening that was accepted and that the model has not been shown yet: the next render shows it. */
export interface PendingOpening {
  readonly callId: string
  readonly keys: readonly string[]
  readonly reason: string
  /** Every section that becomes full, ancestors before what lies in them. */
  readonly paths: readonly string[]
}

/** All that is needed to go on with a run besides the prompt and the session. Plain JSON. */
export interface RunState {
  readonly version: 1
  readonly status: 'new' | 'running' | 'completed' | 'stopped'
  readonly messages: readonly Message[]
  /** Results of the last turn's calls that have finished and are not messages yet. */
  readonly finished: readonly ToolMessage[]
  /** Openings that the model has not been shown yet. */
  readonly pending: readonly PendingOpening[]
  /** What the current input of the user has cost. */
  readonly usage: Usage
  /** What the whole conversation has cost. */
  readonly totalUsage: Usage
  /** How often the run restarted because of an opening, since the last input of the user. */
  readonly expansions: number
  /** Replies of the model since the last input of the user. */
  readonly turns: number
  /** How often the model was asked to fix its answer, since the last input of the user. */
  readonly repairs: number
  /** Every tool that has been offered so far: these stay callable. */
  readonly disclosed: readonly string[]
  /** What a completed run answered. */
  readonly answer: string | null
}

type Fields = Omit<RunState, 'messages'>

const NEW_FIELDS: Fields = Object.freeze({
  version: 1,
  status: 'new',
  finished: [],
  pending: [],
  usage: NO_USAGE,
  totalUsage: NO_USAGE,
  expansions: 0,
  turns: 0,
  repairs: 0,
  disclosed: [],
  answer: null,
})

interface Parts {
  readonly fields: Fields
  readonly log: Log<Message>
}

// A state's messages are a log, to which one is appended in constant time; the list is made when somebody asks for it.
const partsByState = new WeakMap<RunState, Parts>()

function createState(fields: Fields, log: Log<Message>): RunState {
  let messages: readonly Message[] | undefined
  const state: RunState = Object.freeze({
    ...freezeChanges(fields),
    get messages() {
      return (messages ??= Object.freeze([...log]))
    },
  })
  partsByState.set(state, { fields, log })
  return state
}

function getParts(state: RunState): Parts {
  const known = partsByState.get(state)
  if (known) return known
  const { messages, ...fields } = state
  return { fields, log: Log.of(messages) }
}

function update(state: RunState, changes: Partial<Fields>, log?: Log<Message>): RunState {
  const parts = getParts(state)
  return createState({ ...parts.fields, ...changes }, log ?? parts.log)
}

/** A run's last message. */
export function getLastMessage(state: RunState): Message | undefined {
  return getParts(state).log.at(-1)
}

/**
 * Where a run is. Give it to a session, `createSession({ slices: [agentRun] })`, and the run is kept with it: another process
 * that opens the session goes on where this one stopped.
 *
 * @example
 * ```ts
 * const session = await openSession({ store, id: 'run-17', slices: [agentRun] })
 * console.log(session.get(agentRun).status)
 * ```
 */
export const agentRun = defineSlice({
  name: 'run',
  initial: createState(NEW_FIELDS, Log.of([])),
  reducers: {
    started: (_state, payload: { readonly messages: readonly Message[] }): RunState =>
      createState(
        { ...NEW_FIELDS, status: 'running' },
        Log.of(payload.messages.map((message) => freezeChanges(message))),
      ),
    said: (state, payload: { readonly message: Message }): RunState => addMessage(state, payload.message),
    /** A call has ended; an opening among its effects waits for the next render. */
    called: (state, payload: { readonly result: ToolMessage; readonly opening?: PendingOpening }): RunState =>
      update(state, {
        finished: [...getParts(state).fields.finished, payload.result],
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
    /** The prompt is rendered again: what was pending and what was added is part of it. */
    restarted: (state, payload: { readonly isOpening: boolean }): RunState =>
      update(
        state,
        { expansions: state.expansions + (payload.isOpening ? 1 : 0), pending: [] },
        Log.of(state.messages.filter(({ role }) => role !== 'tools')),
      ),
    /** What was pending is open by other means. */
    settled: (state): RunState => update(state, { pending: [] }),
    repaired: (state, payload: { readonly message: Message }): RunState =>
      update(addMessage(state, payload.message), { repairs: state.repairs + 1 }),
    /** A run goes on. Where the user says something new, the counts begin again; the totals do not. */
    resumed: (state, payload: { readonly state?: RunState; readonly isNewInput?: boolean }): RunState => {
      const known = payload.state === undefined ? state : readRunState(payload.state)
      const counts = payload.isNewInput ? { usage: NO_USAGE, turns: 0, expansions: 0, repairs: 0 } : {}
      return update(known, { ...counts, status: 'running', answer: null })
    },
    completed: (state, payload: { readonly answer: string }): RunState =>
      update(state, { status: 'completed', answer: payload.answer }),
    stopped: (state): RunState => update(state, { status: 'stopped' }),
  },
  fromJson: readRunState,
})

function addMessage(state: RunState, message: Message): RunState {
  const { fields, log } = getParts(state)
  const turns = message.role === 'assistant' ? fields.turns + 1 : fields.turns
  const finished =
    message.role === 'tool' && fields.finished.length > 0
      ? fields.finished.filter(({ callId }) => callId !== message.callId)
      : fields.finished
  return createState({ ...fields, turns, finished }, log.append(freezeChanges(message)))
}

/** The state after an event, for runs whose session does not hold the slice. */
export function reduceRun(state: RunState, event: Event): RunState {
  return agentRun.reducers.get(event.type)?.(state, event.payload as never) ?? state
}

/** The state of a run that has not begun. */
export function createRunState(): RunState {
  return agentRun.initial
}

/** Reads a run's state that was written as JSON. */
export function readRunState(json: unknown): RunState {
  if (typeof json === 'object' && json !== null && partsByState.has(json as RunState)) return json as RunState
  if (!isPlainObject(json) || json['version'] !== 1 || !Array.isArray(json['messages'])) {
    throw new FoldoutError(
      'run-state-invalid',
      'This is not the state of a run: it needs version 1 and messages. Pass the state of a result or an error, or that after JSON.parse.',
    )
  }
  const { messages, finished, ...fields } = { ...NEW_FIELDS, ...(json as unknown as RunState) }
  return createState(
    { ...fields, finished: Object.values(finished) },
    Log.of(messages.map((message) => freezeChanges(message))),
  )
}
