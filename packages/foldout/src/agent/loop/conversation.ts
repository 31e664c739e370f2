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
import { visibility } from '../../session/visibility.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { RunStarted } from '../events.ts'
import { MAX_CUT_OFF_REPLIES, type StopReason } from '../limits.ts'
import type { AgentOptions } from '../options.ts'
import { mergeOpenings, type Expansion } from '../policy.ts'
import { findStop } from './bounds.ts'
import { getTarget } from './calls/call.ts'
import type { RunCore } from './run-core.ts'
import { takeAnswers } from './answers.ts'
import { foldBack, receiveResults } from './fold-back.ts'
import { addTools, mustRemoveTools, needsReadResult } from './fold-tools.ts'
import { findWhole, resumeRun } from './session/journal.ts'
import { agentRun, type PendingOpening } from '../state/run-state.ts'
import { isInTool } from './session/run-session.ts'
import { findNews, type News } from './start.ts'
import { findUnfinished } from './calls/unfinished.ts'
import { runTurn, type LeftTurn, type TurnEnd } from './calls/turn.ts'

/** Why an evaluation ended. */
export type Ended =
  /** `stop`: the run must not continue if the model has to fix the answer. */
  | {
      readonly type: 'answer'
      readonly text: string
      readonly cut?: AssistantMessage['cut']
      readonly stop?: StopReason | undefined
    }
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
export type TurnDecision = { readonly results: readonly ToolMessage[] } &
  /** `refold`: results are folded before the next request. */
  (
    | { readonly type: 'continue'; readonly added: readonly AnyTool[] }
    | { readonly type: 'refold'; readonly added: readonly AnyTool[] }
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
    ...describeInput(given, journal.state.messages),
  })
  if (isResumed) {
    const isElsewhere = isFromElsewhere(core)
    resumeRun(journal, said.length > 0, options.state)
    if (isElsewhere) keepOpen(core)
    takeAnswers(core, said.length > 0)
    // The user's message goes after the results of calls that a killed process left behind; otherwise, no provider
    // accepts them.
    held.push(...said)
    return
  }
  journal.record(agentRun.events.started({ messages: said, id: crypto.randomUUID() }))
}

/** Whether the conversation continues in a session that does not know it. */
function isFromElsewhere({ options, session, journal }: RunCore): boolean {
  if (options.state === undefined || isInTool(options.session ?? session)) return false
  return !session.has(agentRun) || session.get(agentRun).id !== journal.state.id
}

/** Opens in the session what the conversation has opened: otherwise, its tools would count as those of closed sections. */
function keepOpen({ session, journal, render }: RunCore): void {
  const { view } = render()
  for (const [path] of journal.state.read)
    if (view.state(path) === 'folded') session.dispatch(visibility.events.set({ path, visibility: 'full' }))
}

function describeInput(
  given: UserMessage | undefined,
  before: readonly Message[],
): Pick<RunStarted, 'input' | 'continuedInput'> {
  if (given) return { input: describeUserMessage(given) }
  const last = before.findLast((message) => message.role === 'user')
  if (last) return { continuedInput: describeUserMessage(last) }
  return {}
}

function describeModel({ adapter, contextWindow = adapter.contextWindow }: AgentOptions): RunStarted['model'] {
  const { name: provider, model: name } = adapter
  return { provider, name, ...(contextWindow !== undefined && { contextWindow }) }
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
  for (const result of decision?.results ?? []) scribe.say(findWhole(journal, result) ?? result)
  if (decision && decision.type !== 'restart') sayAdded(core, decision.added)
  // Limits apply to one input: a new input is processed, whatever the turn before it resulted in.
  if (decision?.type === 'stop' && held.length === 0) return decision
  const ended = findRestartAfter(core, decision) ?? (held.length === 0 ? findAnswer(journal.state.messages) : undefined)
  if (!ended) {
    tellNews(core)
    await foldBack(core, held)
  }
  for (const message of held.splice(0)) scribe.say(message)
  return ended
}

/** Records the point from which tools are offered. */
export function sayAdded({ scribe }: RunCore, added: readonly AnyTool[]): void {
  if (added.length > 0) scribe.say({ role: 'tools', names: added.map(({ name }) => name) })
}

/** Tells the model which sections were opened or changed since its last reply, other than by its own calls. */
export function tellNews(
  core: RunCore,
  describe: (text: string, tools: readonly AnyTool[]) => string = describeNews,
): void {
  const { journal, scribe, toolbox, turn } = core
  const now = core.render()
  const { text, sections } = now.text === core.offer.system ? NO_NEWS : findNews(now, journal.state)
  const added = toolbox.findNew(now)
  if (sections.length > 0) {
    journal.record(agentRun.events.shown({ sections }))
    scribe.say({ role: 'user', text: describe(text, added) })
  }
  if (added.length === 0 || !turn.canAddTools()) return
  const keys = new Set(added.flatMap(({ name }) => now.findSection(name) ?? []))
  addTools(core, { added, keys: [...keys] })
  sayAdded(core, added)
}

const NO_NEWS: News = { text: '', sections: [] }

/** Finds the answer of a run that was interrupted after the model had answered and before the answer was processed. */
function findAnswer(messages: readonly Message[]): Ended | undefined {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || last.toolCalls.length > 0) return undefined
  return { type: 'answer', text: last.text, cut: last.cut }
}

/** Finds the restart that a finished turn, or the openings of an earlier one, require. */
function findRestartAfter(core: RunCore, decision: TurnDecision | undefined): Restart | undefined {
  if (decision?.type === 'restart') return decision
  // A turn that continues has decided that its openings wait for more.
  if (decision?.type === 'continue' || decision?.type === 'refold') return undefined
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

async function decide(core: RunCore, calls: readonly ToolCall[], end: TurnEnd): Promise<TurnDecision> {
  const { journal, scribe, turns, turn, options } = core
  if (end.isWaiting) return { type: 'pause', results: [] }
  const message: AssistantMessage = scribe.lastReply ?? { role: 'assistant', text: '', toolCalls: calls }
  const restart = findRestart(core, end)
  // A new render shows all open sections.
  const results = restart ? end.results : addNews(core, end.results)
  const shown = receiveResults(core, results)
  const added = addReadResult(core, end.added)
  if (restart) turns.push({ type: 'restart', message, results, expansion: restart.expansion })
  else if (added.length > 0 && turn.canAddTools()) {
    addTools(core, { added, keys: end.keys })
    turns.push({ type: 'injection', message, results, tools: added.map(({ name }) => name) })
  } else turns.push({ type: 'tools', message, results })
  const reason = findStop(options, turns, journal.state) ?? (isCutOff(message) ? findCutOff(core) : undefined)
  if (reason) return { type: 'stop', reason, results: shown, added: restart ? [] : added }
  if (restart) return { ...restart, results: shown }
  core.due = await core.refold.decide(shown)
  const isRewrite = core.due !== undefined || mustRemoveTools(core)
  return { type: isRewrite ? 'refold' : 'continue', results: shown, added }
}

function isCutOff({ toolCalls }: AssistantMessage): boolean {
  return toolCalls.some((call) => call.isCutOff)
}

/** A model whose calls are cut off again and again does not get further by trying once more. */
function findCutOff({ journal }: RunCore): StopReason | undefined {
  const replies = journal.state.messages.filter((message) => message.role === 'assistant').slice(-MAX_CUT_OFF_REPLIES)
  if (replies.length === MAX_CUT_OFF_REPLIES && replies.every(isCutOff)) return 'cut-off'
  return undefined
}

/** The first fold adds the tool that reads folded results. */
function addReadResult(core: RunCore, added: readonly AnyTool[]): readonly AnyTool[] {
  if (needsReadResult(core) && core.turn.canAddTools()) return [...added, core.readResult]
  return added
}

/**
 * Appends the text of sections that were opened without a strategy, such as by a tool that changed the session, to the
 * last result of the turn. The model reads it together with its results, and nothing that was already sent changes.
 */
function addNews(core: RunCore, results: readonly ToolMessage[]): readonly ToolMessage[] {
  const { journal } = core
  const { text, sections } = findNews(core.render(), journal.state, { isOpened: true })
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

/** Converts a decision to the outcome for the adapter. */
export function toOutcome(decision: TurnDecision): TurnOutcome {
  const { type, results } = decision
  if (type === 'pause') return { type: 'halt', results, isPaused: true }
  if (type === 'continue') return { type, results, added: decision.added }
  return { type: 'halt', results }
}
