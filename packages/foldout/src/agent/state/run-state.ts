import { NO_USAGE, addUsage, type Message, type ToolMessage, type Usage } from '../../adapters/contract.ts'
import { FoldoutError } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import { readUsage } from '../../adapters/usage/usage.ts'
import { shorten } from '../../core/text.ts'
import type { Event } from '../../session/event.ts'
import { freezeChanges } from '../../session/freeze.ts'
import { Log } from '../../session/log.ts'
import { includeInSessions } from '../../session/session.ts'
import { defineSlice, makeSlice } from '../../session/slice.ts'
import { visibility } from '../../session/visibility.ts'
import type { ApprovalAnswer, ApprovalRequest, RunningCall } from './approvals.ts'
import { findRemoved, mergeFolded, type ConversationSummary, type FoldedResult } from '../refold/projection.ts'
import {
  NEW_FIELDS,
  createInitial,
  createState,
  hold,
  isHeld,
  toRunState,
  update,
  type ConversationStart,
  type DelegateRun,
  type Fields,
  type PendingOpening,
  type RunState,
  type ShownSection,
} from './held-state.ts'
import { NOT_AN_OBJECT, findStateFault, runEventChecks } from './state-faults.ts'

export { toRunState, type ConversationStart, type DelegateRun, type PendingOpening, type RunState, type ShownSection }

/** Returns the messages of a run as a log, which shares them with the log before. */
export function getLog(state: RunState): Log<Message> {
  return hold(state).log
}

/** Returns a run's last message. */
export function getLastMessage(state: RunState): Message | undefined {
  return hold(state).log.at(-1)
}

interface FoldPayload {
  readonly folded?: readonly FoldedResult[]
  readonly summary?: ConversationSummary
  /** The sections whose text is no longer sent. */
  readonly closed?: readonly string[]
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
    answered: (state, { callId, ...answer }: Omit<ApprovalAnswer, 'digest'>): RunState => {
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
        delegates: withoutCall(state.delegates, payload.result.callId),
        ...(payload.opening && { pending: [...state.pending, payload.opening] }),
      }),
    used: (state, payload: { readonly usage: Usage; readonly at?: number }): RunState =>
      update(state, {
        ...(payload.at !== undefined && { repliedAt: payload.at }),
        usage: addUsage(state.usage, payload.usage),
        totalUsage: addUsage(state.totalUsage, payload.usage),
      }),
    /** A run that answers a question about a section begins. */
    asking: (state, payload: Pick<DelegateRun, 'callId' | 'path' | 'question'>): RunState => {
      const begun: DelegateRun = { ...payload, opened: {}, state: createInitial() }
      return update(state, { delegates: [...withoutCall(state.delegates, payload.callId), begun] })
    },
    /** Something happened in such a run. `costUsd` is what a reply cost. */
    delegated: (state, payload: DelegatedPayload): RunState => takeDelegated(state, payload),
    disclosed: (state, payload: { readonly names: readonly string[] }): RunState => {
      const disclosed = new Set([...state.disclosed, ...payload.names])
      if (disclosed.size === state.disclosed.length) return state
      return update(state, { disclosed: [...disclosed] })
    },
    /** The conversation begins or continues with this text and these tools. */
    rendered: (state, { start }: { readonly start: ConversationStart }): RunState =>
      filterTools(state, { start, read: [] }, new Set(start.tools)),
    /** A message shows open sections; if it is the result of a call, this is its new text. */
    shown: (
      state,
      { sections, result }: { readonly sections: readonly ShownSection[]; readonly result?: ToolMessage },
    ): RunState =>
      update(state, {
        read: addShown(state.read, sections),
        ...(result && {
          finished: state.finished.map((known) => (known.callId === result.callId ? result : known)),
        }),
      }),
    /** The prompt will be rendered again; it will include pending openings and added tools. */
    restarted: (state, payload: { readonly isOpening: boolean }): RunState =>
      filterTools(state, {
        expansions: state.expansions + (payload.isOpening ? 1 : 0),
        pending: [],
        start: null,
        read: [],
      }),
    /** Requests send less from now on. The conversation itself never changes. The model no longer sees `closed` sections. */
    folded: (state, { folded, summary, closed = [] }: FoldPayload): RunState =>
      update(state, {
        ...(folded && { folded: mergeFolded(state.folded, folded) }),
        ...(summary && { summary }),
        read: state.read.filter(([path]) => !closed.includes(path)),
      }),
    /** Tools are no longer offered. */
    removed: (state, { names }: { readonly names: readonly string[] }): RunState =>
      update(addMessage(state, { role: 'tools', names: [], removed: names }), {
        disclosed: state.disclosed.filter((name) => !names.includes(name)),
      }),
    /** The pending openings are open by other means. */
    settled: (state): RunState => update(state, { pending: [] }),
    repaired: (state, payload: { readonly message: Message }): RunState =>
      update(addMessage(state, payload.message), { repairs: state.repairs + 1 }),
    /** A run continues. With new user input, the counts start over, but not the totals. */
    resumed: (state, payload: { readonly state?: RunState; readonly isNewInput?: boolean }): RunState => {
      const known = payload.state === undefined ? state : readRunState(payload.state)
      const counts = payload.isNewInput
        ? { usage: NO_USAGE, delegated: NO_USAGE, turns: 0, expansions: 0, repairs: 0 }
        : {}
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
      if (!isObject(payload)) return NOT_AN_OBJECT
      const { state } = payload
      if (state === undefined || isHeld(state)) return undefined
      return findStateFault(state)
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

interface DelegatedPayload {
  readonly callId: string
  readonly event: Event
  readonly costUsd?: number
}

/** An event of a delegate changes its own state. What it uses is used by the run that asks, too. */
function takeDelegated(state: RunState, { callId, event, costUsd }: DelegatedPayload): RunState {
  const delegates = state.delegates.map((delegate) =>
    delegate.callId === callId ? reduceDelegate(delegate, event) : delegate,
  )
  const usage = readUsed(event)
  if (!usage) return update(state, { delegates })
  return update(state, {
    delegates,
    usage: addUsage(state.usage, usage),
    totalUsage: addUsage(state.totalUsage, usage),
    delegated: addUsage(state.delegated, { ...usage, ...(costUsd !== undefined && { costUsd }) }),
  })
}

function reduceDelegate(delegate: DelegateRun, event: Event): DelegateRun {
  const open = visibility.reducers.get(event.type)
  if (open) return { ...delegate, opened: open(delegate.opened, event.payload as never) }
  return { ...delegate, state: reduceRun(delegate.state, event) }
}

/** Returns the usage that an event of a run reports, also one of a delegate's own delegates. */
export function readUsed({ type, payload }: Event): Usage | undefined {
  if (type === 'run/used') return readUsage((payload as { readonly usage: unknown }).usage)
  if (type === 'run/delegated') return readUsed((payload as DelegatedPayload).event)
  return undefined
}

/**
 * Removes messages about tools that a new render offers from the start; without a list, all of them. A summary counts
 * the messages before it, so its count changes, too.
 */
function filterTools(state: RunState, changes: Partial<Fields>, offered?: ReadonlySet<string>): RunState {
  const { log } = hold(state)
  const { summary } = state
  const removed = findRemoved(log)
  const keep = (message: Message, at: number): Message | undefined => {
    if (message.role !== 'tools') return message
    const isLeft = (name: string): boolean => offered?.has(name) === false && (removed.get(name) ?? -1) < at
    const names = message.names.filter(isLeft)
    if (names.length === 0) return undefined
    if (names.length === message.names.length && !message.removed) return message
    return freezeChanges({ role: 'tools', names })
  }
  const kept = [...log].map(keep)
  const isKept = (message: Message | undefined): message is Message => message !== undefined
  const shown = summary && {
    count: kept.slice(0, summary.count).filter(isKept).length,
    messages: summary.messages.map((message) => keep(message, summary.count)).filter(isKept),
  }
  return update(state, { ...changes, summary: shown }, Log.of(kept.filter(isKept)))
}

/** Usually all are new, and a model may open thousands, one after another. */
function addShown(read: readonly ShownSection[], sections: readonly ShownSection[]): readonly ShownSection[] {
  const paths = new Set(sections.map(([path]) => path))
  const isNew = paths.size === sections.length && !read.some(([path]) => paths.has(path))
  if (isNew) return [...read, ...sections]
  return [...new Map([...read, ...sections])]
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
  if (list.some(({ callId }) => callId === id)) return list.filter(({ callId }) => callId !== id)
  return list
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
  if (isHeld(json)) return json
  const fault = findStateFault(json)
  if (fault !== undefined) {
    throw new FoldoutError(
      'run-state-invalid',
      `This is not the state of a run: ${shorten(fault, MAX_FAULT)}. Pass the state of a result or an error, directly or after a round trip through JSON.`,
    )
  }
  const { messages, ...fields } = { ...NEW_FIELDS, ...(json as RunState) }
  return createState(
    {
      ...fields,
      finished: Object.values(fields.finished ?? []),
      delegates: fields.delegates.map((delegate) => ({ ...delegate, state: readRunState(delegate.state) })),
    },
    Log.of(messages.map((message) => freezeChanges(message))),
  )
}

/** The maximum length of a fault's description, which may quote parts of the state. */
const MAX_FAULT = 300
