import { ignore } from '../../core/promises.ts'
import { CUT_OFF_ANSWER, formatRepair } from '../../adapters/repair.ts'
import type { AssistantMessage, EvaluationResult } from '../../adapters/contract.ts'
import { readResult } from '../../adapters/read-reply.ts'
import { untilAborted } from '../../core/abort.ts'
import { applyOpening } from '../../disclosure/opening.ts'
import { OutputParseError, type OutputSpec } from '../../prompt/definition/output.ts'
import { LimitReachedError } from '../errors.ts'
import { runRestarted } from '../events.ts'
import { DEFAULT_MAX_EXPANSIONS, DEFAULT_MAX_REPAIRS, type StopReason } from '../limits.ts'
import type { AgentResult } from '../options.ts'
import { listWaiting } from './answers.ts'
import { findStop } from './bounds.ts'
import {
  finishTurn,
  getRestart,
  runCalls,
  sayAdded,
  tellNews,
  toOutcome,
  type Ended,
  type Restart,
  type TurnDecision,
} from './conversation.ts'
import type { RunCore } from './run-core.ts'
import { openEvaluation } from './evaluation.ts'
import { foldBack } from './fold-back.ts'
import { agentRun, getLastMessage, toRunState } from '../state/run-state.ts'
import { hashPrompt } from './start.ts'
import { takeRender } from './take-render.ts'

/** Renders the prompt and runs the model until it answers, opens something that needs a new render, or is stopped. */
export async function evaluate(core: RunCore): Promise<Ended> {
  core.check()
  await prepareAhead(core)
  takeRender(core)
  const ended = await finishTurn(core)
  if (ended) return ended
  core.ahead.show(core.session, (describe) => tellNews(core, describe))
  return ask(core)
}

/** A conversation without a start begins with a new render, and so does one whose caller asks for it. */
function prepareAhead(core: RunCore): Promise<void> {
  const isFresh = core.mustRender || core.journal.state.start === null
  const { options, input, session, signal, render, check, tell } = core
  return core.ahead.prepare({ options, input, session, signal, isFresh, render, check, tell })
}

async function ask(core: RunCore): Promise<Ended> {
  const { options, signal } = core
  let decision: TurnDecision | undefined
  const { evaluation, count, close } = openEvaluation({
    ...core,
    async callTools(calls) {
      decision = await runCalls(core, calls)
      return toOutcome(decision)
    },
  })
  try {
    const result = readResult(
      await untilAborted(signal.signal, () => options.adapter.evaluate(evaluation)),
      options.adapter,
    )
    count(result)
    // The adapter has recorded the results of the last turn; the tools added by them are offered when the run
    // continues.
    if (result.type === 'halted' && (decision?.type === 'stop' || decision?.type === 'refold'))
      sayAdded(core, decision.added)
    if (result.type === 'final' || decision?.type !== 'refold') return getEnd(core, result, decision)
  } finally {
    close()
    // Running calls end with the signal; their results belong to the returned state.
    if (signal.signal.aborted && core.running) await ignore(core.running, 'the run ends with the reason of the signal')
  }
  await foldBack(core)
  return ask(core)
}

function getEnd(core: RunCore, result: EvaluationResult, decision: TurnDecision | undefined): Ended {
  if (result.type === 'final') return takeAnswer(core, result.text)
  if (decision === undefined || decision.type === 'continue' || decision.type === 'refold')
    return { type: 'stop', reason: 'stop-when' }
  return decision
}

function takeAnswer({ scribe, turns, options, journal }: RunCore, text: string): Ended {
  const message: AssistantMessage = scribe.lastReply ?? { role: 'assistant', text, toolCalls: [] }
  turns.push({ type: 'answer', message })
  const stop = findStop(options, turns, journal.state)
  const { pending } = journal.state
  if (pending.length === 0) return { type: 'answer', text, cut: message.cut, stop }
  // Under the batched policy, the model may answer before the sections it opened were shown.
  if (stop) return { type: 'stop', reason: stop }
  return getRestart(pending)
}

/** Opens sections in the session and counts a restart. */
export async function restart(core: RunCore, { expansion, callIds }: Restart): Promise<void> {
  const { options, session, journal, scribe, tell } = core
  const { maxExpansions = DEFAULT_MAX_EXPANSIONS } = options
  // The model did not cause an opening by a tool or a selector, so only the limit on turns applies to it.
  const isOpening = callIds.length > 0
  if (isOpening && journal.state.expansions >= maxExpansions) {
    throw createExpansionError(core, expansion.keys, maxExpansions)
  }
  applyOpening(session, expansion)
  journal.record(agentRun.events.restarted({ isOpening }))
  const event = { callIds, ...expansion, expansions: journal.state.expansions }
  session.dispatch(runRestarted(event))
  tell({ type: 'run/expanded', ...event })
  if (getLastMessage(journal.state)?.role === 'assistant') {
    scribe.say({ role: 'user', text: `These sections are now open: ${expansion.keys.join(', ')}. Continue.` })
  }
  await journal.saved()
}

function createExpansionError({ journal }: RunCore, keys: readonly string[], most: number): LimitReachedError {
  const renders = most === 1 ? '1 new render' : `${most} new renders`
  return new LimitReachedError(
    'expansions',
    `The model has opened sections in ${renders} and asks for ${keys.join(', ')}. Raise maxExpansions, or show these sections in full from the start.`,
    journal.state,
  )
}

/** Completes or stops a run; returns `undefined` if the model has to fix its answer first. */
export async function finish(
  core: RunCore,
  end: Exclude<Ended, { type: 'restart' }>,
): Promise<AgentResult | undefined> {
  if (end.type === 'pause') return pause(core)
  if (end.type === 'stop') return stop(core, end.reason)
  const { journal, options, tell } = core
  // The same request would be filtered again.
  if (end.cut === 'filtered') return stop(core, end.cut)
  const canRepair = journal.state.repairs < (options.maxRepairs ?? DEFAULT_MAX_REPAIRS)
  const parsed = parseAnswer(core.rendered.output, end, canRepair)
  if (parsed === undefined) return stop(core, 'cut-off')
  if ('value' in parsed) {
    journal.record(agentRun.events.completed({ answer: end.text }))
    await journal.saved()
    return createResult(core, { status: 'completed', text: end.text, output: parsed.value })
  }
  tell({ type: 'output/refused', message: parsed.fault, repairs: journal.state.repairs + 1 })
  journal.record(agentRun.events.repaired({ message: { role: 'user', text: parsed.fault } }))
  await journal.saved()
  if (end.stop === undefined) return undefined
  return stop(core, end.stop)
}

async function stop(core: RunCore, reason: StopReason): Promise<AgentResult> {
  core.journal.record(agentRun.events.stopped())
  await core.journal.saved()
  return createResult(core, { status: 'stopped', reason, text: core.scribe.lastReply?.text ?? '' })
}

async function pause(core: RunCore): Promise<AgentResult> {
  core.journal.record(agentRun.events.paused())
  await core.journal.saved()
  return createResult(core, { status: 'waiting', text: getLastReply(core) })
}

function getLastReply({ scribe, journal }: RunCore): string {
  const reply = scribe.lastReply ?? getLastMessage(journal.state)
  if (reply?.role === 'assistant') return reply.text
  return ''
}

/**
 * Parses the answer with the output schema, or returns the message that asks the model to fix it. Returns undefined if the
 * answer was cut off, and asking again is of no use.
 */
function parseAnswer(
  output: OutputSpec<unknown> | undefined,
  { text, cut }: Pick<Extract<Ended, { type: 'answer' }>, 'text' | 'cut'>,
  canRepair: boolean,
): { readonly value: unknown } | { readonly fault: string } | undefined {
  if (!output) {
    if (cut) return undefined
    return { value: undefined }
  }
  try {
    return { value: output.parse(text) }
  } catch (error) {
    if (!(error instanceof OutputParseError)) throw error
    if (canRepair) return { fault: cut ? CUT_OFF_ANSWER : formatRepair(error.message) }
    if (cut) return undefined
    throw error
  }
}

/** Returns the result of a run that is already complete, if there was no input since. */
export function getStoredResult(core: RunCore): AgentResult | undefined {
  const { journal, options } = core
  const { status, answer, start } = journal.state
  if (status !== 'completed' || options.input !== undefined) return undefined
  // Another prompt, or the same one with other values, was not answered yet.
  if (start && start.prompt !== hashPrompt(core.rendered)) return undefined
  const last = getLastMessage(journal.state)
  const text = answer ?? (last?.role === 'assistant' ? last.text : '')
  return createResult(core, { status, text, output: core.rendered.output?.parse(text) })
}

/** How a run ended. */
type RunEnd =
  | { readonly status: 'completed'; readonly output: unknown }
  | { readonly status: 'stopped'; readonly reason: StopReason }
  | { readonly status: 'waiting' }

function createResult({ journal, turns, tell }: RunCore, end: RunEnd & { readonly text: string }): AgentResult {
  const state = toRunState(journal.state)
  const { usage, totalUsage, expansions, messages } = state
  const approvals = end.status === 'waiting' ? listWaiting(state) : []
  tell({
    type: 'run/finished',
    status: end.status,
    ...(end.status === 'stopped' && { reason: end.reason }),
    usage,
    totalUsage,
  })
  const fields = { approvals, messages, turns, usage, totalUsage, expansions, state }
  return { reason: undefined, output: undefined, ...end, ...fields }
}
