import type {
  AssistantMessage,
  Message,
  ToolCall,
  TurnOutcome,
  ToolMessage,
  UserMessage,
} from '../../adapters/contract.ts'
import { describeUserMessage } from '../../adapters/user-parts.ts'
import { describeNews, isApplied } from '../../disclosure/opening.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { toolsInjected, type RunStarted } from '../events.ts'
import type { AgentOptions } from '../options.ts'
import { mergeOpenings, type Expansion } from '../policy.ts'
import { findStop, type StopReason } from './bounds.ts'
import { getTarget } from './calls/call.ts'
import type { RunCore } from './core.ts'
import { takeAnswers } from './answers.ts'
import { resumeRun } from './journal.ts'
import { agentRun, type PendingOpening } from './run-state.ts'
import { findNews, type News } from './start.ts'
import { runTurn, type LeftTurn, type TurnEnd } from './calls/turn.ts'

/** Why an evaluation ended. */
export type Ended =
  /** `stop`: the run must not continue if the model has to fix the answer. */
  | { readonly type: 'answer'; readonly text: string; readonly stop?: StopReason | undefined }
  | Restart
  | { readonly type: 'stop'; readonly reason: StopReason }
  /** Calls wait for a person. */
  | { readonly type: 'pause' }

export interface Restart {
  readonly type: 'restart'
  readonly expansion: Expansion
  /** The calls that caused it. */
  readonly callIds: readonly string[]
}

/** What happens after a turn. */
export type TurnDecision = { readonly results: readonly ToolMessage[] } & (
  | { readonly type: 'continue'; readonly added: readonly AnyTool[] }
  | Restart
  | { readonly type: 'stop'; readonly reason: StopReason; readonly added: readonly AnyTool[] }
  | { readonly type: 'pause' }
)

/** Begins or continues a conversation. */
export function beginConversation(core: RunCore): void {
  const { options, input: given, journal, held, tell } = core
  const { status } = journal.state
  const isResumed = status !== 'new'
  // A conversation has to begin with a user message; no provider accepts an empty one. A completed conversation begins
  // again for another prompt; for the same prompt, its result is returned and nothing begins.
  const begin: UserMessage | undefined =
    isResumed && status !== 'completed' ? undefined : { role: 'user', text: 'Begin.' }
  const input = given ?? begin
  const said: Message[] = input === undefined ? [] : [input]
  tell({
    type: 'run/started',
    isResumed,
    model: describeModel(options),
    ...(given === undefined ? {} : { input: describeUserMessage(given) }),
  })
  if (isResumed) {
    resumeRun(journal, said.length > 0, options.state)
    takeAnswers(core, said.length > 0)
    // The user's message goes after the results of calls that a killed process left behind; otherwise, no provider
    // accepts them.
    held.push(...said)
    return
  }
  journal.record(agentRun.events.started({ messages: said, id: crypto.randomUUID() }))
}

function describeModel({ adapter, contextWindow = adapter.contextWindow }: AgentOptions): RunStarted['model'] {
  const { name: provider, model: name } = adapter
  return { provider, name, ...(contextWindow === undefined ? {} : { contextWindow }) }
}

/**
 * Finishes the turn that another process left unfinished, and returns the outcome if the model does not have to be
 * asked.
 */
export async function finishTurn(core: RunCore): Promise<Ended | undefined> {
  const { journal, scribe, held } = core
  const { calls, answered } = findUnfinished(journal.state.messages)
  const { finished } = journal.state
  const decision = calls.length > 0 ? await runCalls(core, calls, { finished, answered }) : undefined
  if (decision?.type === 'pause') return decision
  for (const result of decision?.results ?? []) scribe.say(result)
  if (decision && decision.type !== 'restart') sayAdded(core, decision.added)
  // Limits apply to one input: a new input is processed, whatever the turn before it resulted in.
  if (decision?.type === 'stop' && held.length === 0) return decision
  const ended = findRestartAfter(core, decision) ?? (held.length === 0 ? findAnswer(journal.state.messages) : undefined)
  if (!ended) tellNews(core)
  for (const message of held.splice(0)) scribe.say(message)
  return ended
}

/** Records the point from which tools are offered. */
export function sayAdded({ scribe }: RunCore, added: readonly AnyTool[]): void {
  if (added.length > 0) scribe.say({ role: 'tools', names: added.map(({ name }) => name) })
}

/** Tells the model which sections were opened or changed since its last reply, other than by its own calls. */
function tellNews(core: RunCore): void {
  const { journal, scribe, toolbox, turn } = core
  const now = core.render()
  const { text, sections } = now.text === core.offer.system ? NO_NEWS : findNews(now, journal.state)
  if (sections.length > 0) {
    journal.record(agentRun.events.shown({ sections }))
    scribe.say({ role: 'user', text: describeNews(text) })
  }
  const added = toolbox.findNew(now)
  if (added.length === 0 || !turn.canAddTools()) return
  const keys = new Set(added.flatMap(({ name }) => now.findSection(name) ?? []))
  addTools(core, { added, keys: [...keys] })
  sayAdded(core, added)
}

const NO_NEWS: News = { text: '', sections: [] }

/** Finds the calls of the last reply that have no result yet. */
export function findUnfinished(messages: readonly Message[]): {
  readonly calls: readonly ToolCall[]
  readonly answered: number
} {
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const reply = messages[at]
  if (reply?.role !== 'assistant') return { calls: [], answered: 0 }
  const later = messages.slice(at + 1)
  const answered = new Set(later.flatMap((message) => (message.role === 'tool' ? [message.callId] : [])))
  const calls = reply.toolCalls.filter(({ id }) => !answered.has(id))
  return { calls, answered: reply.toolCalls.length - calls.length }
}

/** Finds the answer of a run that was interrupted after the model had answered and before the answer was processed. */
function findAnswer(messages: readonly Message[]): Ended | undefined {
  const last = messages.at(-1)
  return last?.role === 'assistant' && last.toolCalls.length === 0 ? { type: 'answer', text: last.text } : undefined
}

/** Finds the restart that a finished turn, or the openings of an earlier one, require. */
function findRestartAfter(core: RunCore, decision: TurnDecision | undefined): Restart | undefined {
  if (decision?.type === 'restart') return decision
  // A turn that continues has decided that its openings wait for more.
  if (decision?.type === 'continue') return undefined
  return findPending(core)
}

/** Finds the openings that an earlier run has accepted but not shown, unless they are open in the session by now. */
function findPending({ journal, session }: RunCore): Restart | undefined {
  const { pending } = journal.state
  if (pending.length === 0) return undefined
  if (!pending.every((opening) => isApplied(session, opening))) return getRestart(pending)
  journal.record(agentRun.events.settled())
  return undefined
}

/** Runs the calls of a reply and decides what happens next. */
export async function runCalls(core: RunCore, calls: readonly ToolCall[], left?: LeftTurn): Promise<TurnDecision> {
  const { toolbox, tell, turn } = core
  const isKnown = new Set(left?.finished.map(({ callId }) => callId))
  for (const call of calls.slice(0, turn.callsPerReply)) {
    if (isKnown.has(call.id)) continue
    const target = getTarget(call, toolbox)
    tell({ type: 'tool/called', call, ...(target && { target }), ...(left && { isLeft: true }) })
  }
  const running = runTurn(calls, turn, left)
  core.running = running
  return decide(core, calls, await running)
}

function decide(core: RunCore, calls: readonly ToolCall[], end: TurnEnd): TurnDecision {
  const { journal, scribe, turns, turn, options } = core
  if (end.isWaiting) return { type: 'pause', results: [] }
  const { added } = end
  const message: AssistantMessage = scribe.lastReply ?? { role: 'assistant', text: '', toolCalls: calls }
  const restart = findRestart(core, end)
  // A new render shows all open sections.
  const results = restart ? end.results : addNews(core, end.results)
  if (restart) turns.push({ type: 'restart', message, results, expansion: restart.expansion })
  else if (added.length > 0 && turn.canAddTools()) {
    addTools(core, end)
    turns.push({ type: 'injection', message, results, tools: added.map(({ name }) => name) })
  } else turns.push({ type: 'tools', message, results })
  const reason = findStop(options, turns, journal.state)
  if (reason) return { type: 'stop', reason, results, added: restart ? [] : added }
  return restart ? { ...restart, results } : { type: 'continue', results, added }
}

/**
 * Appends the text of sections that were opened without a strategy, such as by a tool that changed the session, to the
 * last result of the turn. The model reads it together with its results, and nothing that was already sent changes.
 */
function addNews(core: RunCore, results: readonly ToolMessage[]): readonly ToolMessage[] {
  const { journal } = core
  const now = core.render()
  if (now.text === core.offer.system) return results
  const { text, sections } = findNews(now, journal.state, { isOpened: true })
  const at = results.findLastIndex(({ isError }) => !isError)
  const last = results[at]
  if (sections.length === 0 || !last) return results
  const result = { ...last, text: `${last.text}\n\n${describeNews(text)}` }
  journal.record(agentRun.events.shown({ sections, result }))
  return results.with(at, result)
}

/** Decides whether the prompt must be rendered again after a turn, and for which sections. */
function findRestart({ journal, turn }: RunCore, { added, keys, isOpening }: TurnEnd): Restart | undefined {
  const { pending } = journal.state
  const mustWait = turn.policy === 'batched' && isOpening
  const mustShow = added.length > 0 && !turn.canAddTools()
  if (!mustShow && (pending.length === 0 || mustWait)) return undefined
  return getRestart(pending, mustShow ? keys : [])
}

/** Creates a restart for openings and for sections that were opened by other means. */
export function getRestart(pending: readonly PendingOpening[], keys: readonly string[] = []): Restart {
  return {
    type: 'restart',
    expansion: mergeOpenings([...pending, { keys, paths: [], reason: '' }]),
    callIds: pending.map(({ callId }) => callId),
  }
}

function addTools(
  { session, journal, toolbox, tell }: RunCore,
  { added, keys }: Pick<TurnEnd, 'added' | 'keys'>,
): void {
  const event = { names: added.map(({ name }) => name), keys }
  toolbox.add(added)
  session.dispatch(toolsInjected(event))
  tell({ type: 'tools/injected', ...event })
  journal.record(agentRun.events.disclosed({ names: event.names }))
}

/** Converts a decision to the outcome for the adapter. */
export function toOutcome(decision: TurnDecision): TurnOutcome {
  const { type, results } = decision
  if (type === 'pause') return { type: 'halt', results, isPaused: true }
  return type === 'continue' ? { type, results, added: decision.added } : { type: 'halt', results }
}
