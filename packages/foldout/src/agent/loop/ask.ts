import { AdapterError } from '../../adapters/adapter-error.ts'
import type { ToolCall } from '../../adapters/contract.ts'
import { getErrorMessage, isInstance } from '../../core/errors.ts'
import { readQuestion } from '../../disclosure/ask-section.ts'
import { askSectionTool } from '../../disclosure/ask-tool.ts'
import { OutputParseError } from '../../prompt/definition/output.ts'
import { checkArguments } from '../../tools/execute.ts'
import { fail, type ToolResult } from '../../tools/result.ts'
import { createDelegatePrompt, describeFailure, toAnswer, toInput, TOO_DEEP } from '../delegate-task.ts'
import { findModel } from '../delegate-models.ts'
import { LimitReachedError } from '../errors.ts'
import type { AgentEvent } from '../events.ts'
import { MAX_DELEGATE_DEPTH } from '../state/limits.ts'
import type { AgentOptions } from '../options.ts'
import type { AskOutcome } from './calls/call.ts'
import { createCore } from './core.ts'
import type { RunCore } from './run-core.ts'
import { driveRun } from './drive.ts'
import { agentRun, type DelegateRun } from '../state/run-state.ts'
import { createDelegateSession, joinCallId, sumUsed } from './calls/delegate-session.ts'

/**
 * Has a run of its own answer a call of `ask_section`, or continues one that was interrupted. What it has done is in the
 * journal of the run that asks, so nothing is done twice.
 */
export async function askSection(core: RunCore, call: ToolCall): Promise<AskOutcome> {
  const begun = findDelegate(core, call.id) ?? (await beginDelegate(core, call))
  if ('type' in begun) return begun
  const child = openDelegate(core, begun)
  if (!child) return refuse(describeFailure(begun.path, 'the section no longer exists.'))
  const { rates } = getModel(core, begun.path)
  const end = (result: ToolResult): AskOutcome => {
    const { state } = findDelegate(core, call.id) ?? begun
    return { type: 'answer', result, path: begun.path, usage: sumUsed(state, rates) }
  }
  if (begun.state.status === 'stopped') {
    child.release()
    return end(toAnswer(begun.path, { status: 'stopped', text: '' }))
  }
  try {
    const result = await driveRun(child)
    if (result.status === 'waiting') return { type: 'wait' }
    return end(toAnswer(begun.path, result))
  } catch (error) {
    // What ends the run that asks is its own error, not a failure of the section.
    core.check()
    if (!isFailure(error)) throw error
    return end(fail(describeFailure(begun.path, getErrorMessage(error))))
  }
}

function isFailure(error: unknown): boolean {
  return isInstance(error, AdapterError) || isInstance(error, LimitReachedError) || isInstance(error, OutputParseError)
}

function refuse(message: string): AskOutcome {
  return { type: 'answer', result: fail(message) }
}

function findDelegate({ journal }: RunCore, callId: string): DelegateRun | undefined {
  return journal.state.delegates.find((each) => each.callId === callId)
}

async function beginDelegate(core: RunCore, call: ToolCall): Promise<DelegateRun | AskOutcome> {
  const checked = await checkArguments(askSectionTool, call.arguments ?? {})
  if (checked.issues) return { type: 'invalid' }
  const asked = readQuestion(core.render().view, checked.value)
  if ('fault' in asked) return { type: 'answer', result: asked.fault }
  if (getDepth(core) >= MAX_DELEGATE_DEPTH) return refuse(TOO_DEEP)
  const { path, question } = asked
  // Throws before anything is recorded.
  getModel(core, path)
  core.journal.record(agentRun.events.asking({ callId: call.id, path, question: toInput(question) }))
  await core.journal.saved()
  return findDelegate(core, call.id) ?? refuse(describeFailure(path, 'it could not begin.'))
}

function getDepth({ asker }: RunCore): number {
  if (asker) return getDepth(asker) + 1
  return 0
}

function getModel(core: RunCore, path: string): ReturnType<typeof findModel> {
  const rates = core.options.limits?.cost?.rates ?? core.asker?.options.limits?.cost?.rates
  const model = findModel(core.options, core.render().view.getDelegateName(path), path)
  return { ...(rates && { rates }), ...model }
}

/** Creates the run that answers a question, as far as it has come. Undefined if its section is gone. */
export function openDelegate(core: RunCore, delegate: DelegateRun): RunCore | undefined {
  const { callId, path, question, state } = delegate
  const prompt = createDelegatePrompt(core.bound, path)
  if (!prompt) return undefined
  const model = getModel(core, path)
  const { session, journal } = core
  const options: AgentOptions = {
    ...getSharedOptions(core, model.adapter === core.options.adapter),
    adapter: model.adapter,
    session: createDelegateSession({ session, journal, callId, rates: model.rates }),
    signal: core.signal.signal,
    ...(model.maxTurns !== undefined && { maxTurns: model.maxTurns }),
    ...(state.status === 'new' && { input: question }),
  }
  const tell = (event: AgentEvent): void => {
    core.tell({ type: 'section/delegated', callId, path, event })
    // People answer questions of any agent in one place.
    if (event.type === 'approval/asked')
      core.tell({ ...event, callId: joinCallId(callId, event.callId), delegate: path })
  }
  return createCore(prompt, options, tell, { ask: askSection, open: openDelegate, asker: core })
}

/** A run that answers has the rules of the run that asks. Its tokens, its money and its time are those of that run. */
function getSharedOptions({ options }: RunCore, isSameModel: boolean): Omit<AgentOptions, 'adapter'> {
  const {
    adapter: _adapter,
    input: _input,
    session: _session,
    lease: _lease,
    state: _state,
    rerender: _rerender,
    visibility: _visibility,
    budget: _budget,
    stopWhen: _stopWhen,
    open: _open,
    limits: _limits,
    signal: _signal,
    approvals: _approvals,
    beforeRequest: _beforeRequest,
    onEvent: _onEvent,
    contextWindow,
    ...shared
  } = options
  // What overrides open ahead is meant for the user's input.
  return { ...shared, open: [], ...(isSameModel && contextWindow !== undefined && { contextWindow }) }
}
