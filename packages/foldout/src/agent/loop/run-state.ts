import { NO_USAGE, addUsage, type Message, type ToolMessage, type Usage } from '../../adapters/contract.ts'
import { FoldoutError } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import type { Event } from '../../session/event.ts'
import { defineSlice } from '../../session/slice.ts'

/** All that is needed to go on with a run besides the prompt and the session. Plain JSON. */
export interface RunState {
  readonly version: 1
  readonly status: 'new' | 'running' | 'completed' | 'stopped'
  readonly messages: readonly Message[]
  /** Results of the last turn's calls that have finished and are not messages yet, by call. */
  readonly finished: Readonly<Record<string, ToolMessage>>
  readonly usage: Usage
  /** How often the prompt was rendered anew because the model opened something. */
  readonly expansions: number
  /** Replies of the model so far. */
  readonly turns: number
  /** How often the model was asked to mend its answer. */
  readonly repairs: number
  /** Every tool that has been offered so far: these stay callable. */
  readonly disclosed: readonly string[]
}

const NEW_RUN: RunState = Object.freeze({
  version: 1,
  status: 'new',
  messages: [],
  finished: {},
  usage: NO_USAGE,
  expansions: 0,
  turns: 0,
  repairs: 0,
  disclosed: [],
})

/**
 * Where a run is. Give it to a session, `createSession({ slices: [agentRun] })`, and the run is kept with it: another process
 * that opens the session goes on where this one stopped.
 */
export const agentRun = defineSlice({
  name: 'run',
  initial: NEW_RUN,
  reducers: {
    started: (_state, payload: { readonly messages: readonly Message[] }): RunState => ({
      ...NEW_RUN,
      status: 'running',
      messages: payload.messages,
    }),
    said: (state, payload: { readonly message: Message }): RunState => said(state, payload.message),
    called: (state, payload: { readonly result: ToolMessage }): RunState => ({
      ...state,
      finished: { ...state.finished, [payload.result.callId]: payload.result },
    }),
    used: (state, payload: { readonly usage: Usage }): RunState => ({
      ...state,
      usage: addUsage(state.usage, payload.usage),
    }),
    disclosed: (state, payload: { readonly names: readonly string[] }): RunState => ({
      ...state,
      disclosed: [...new Set([...state.disclosed, ...payload.names])],
    }),
    restarted: (state): RunState => ({
      ...state,
      expansions: state.expansions + 1,
      // What was added by and by is part of the new render.
      messages: state.messages.filter(({ role }) => role !== 'tools'),
    }),
    repaired: (state, payload: { readonly message: Message }): RunState => ({
      ...said(state, payload.message),
      repairs: state.repairs + 1,
    }),
    /** A run that was finished begins anew in the same conversation; one that was not goes on with its counts. */
    resumed: (state, payload: { readonly state?: RunState }): RunState => {
      const known = payload.state ?? state
      const counts = known.status === 'completed' ? { turns: 0, expansions: 0, repairs: 0 } : {}
      return { ...known, ...counts, status: 'running' }
    },
    completed: (state): RunState => ({ ...state, status: 'completed' }),
    stopped: (state): RunState => ({ ...state, status: 'stopped' }),
  },
})

function said(state: RunState, message: Message): RunState {
  const turns = message.role === 'assistant' ? state.turns + 1 : state.turns
  const finished = message.role === 'tool' ? without(state.finished, message.callId) : state.finished
  return { ...state, messages: [...state.messages, message], turns, finished }
}

function without<T>(record: Readonly<Record<string, T>>, key: string): Readonly<Record<string, T>> {
  const { [key]: _, ...others } = record
  return others
}

/** The state after an event, for runs whose session does not hold the slice. */
export function reduceRun(state: RunState, event: Event): RunState {
  return agentRun.reducers.get(event.type)?.(state, event.payload as never) ?? state
}

export function newRun(): RunState {
  return NEW_RUN
}

/** Reads a run's state that was written as JSON. */
export function readRunState(json: unknown): RunState {
  if (!isPlainObject(json) || json['version'] !== 1 || !Array.isArray(json['messages'])) {
    throw new FoldoutError('run-state-invalid', 'This is no state of a run: it has no version 1 and no messages.')
  }
  return json as unknown as RunState
}
