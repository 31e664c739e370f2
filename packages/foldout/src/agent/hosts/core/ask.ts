import { getErrorMessage } from '../../../core/errors.ts'
import { readQuestion } from '../../../disclosure/ask-section.ts'
import { askSectionTool } from '../../../disclosure/ask-tool.ts'
import { checkArguments, executeTool } from '../../../tools/execute.ts'
import { fail, type ToolResult } from '../../../tools/result.ts'
import type { ToolContext } from '../../../tools/tool.ts'
import { findModel } from '../../delegate-models.ts'
import { createDelegatePrompt, describeFailure, toAnswer, toInput } from '../../delegate-task.ts'
import { listWaiting } from '../../loop/answers.ts'
import { createCore } from '../../loop/core.ts'
import { askSection, openDelegate } from '../../loop/ask.ts'
import { createDelegateSession } from '../../loop/calls/delegate-session.ts'
import { driveRun } from '../../loop/drive.ts'
import type { RunJournal } from '../../loop/session/journal.ts'
import { agentRun, createRunState, reduceRun } from '../../state/run-state.ts'
import type { HostCall, HostView } from './contract.ts'
import type { ViewParts } from './parts.ts'

const NO_PERSON = 'No person can be asked here.'

/**
 * Has a run answer a question about a section, within the call of a host: its changes to the session are those of the
 * call, and its conversation is not kept.
 */
export async function askInHost(
  parts: ViewParts & { readonly view: HostView },
  call: HostCall,
  context: ToolContext,
): Promise<ToolResult> {
  const { adapter, delegates, bound, report } = parts
  const checked = await checkArguments(askSectionTool, call.arguments ?? {})
  const { view } = parts.view.rendered
  const asked = checked.issues ? undefined : readQuestion(view, checked.value)
  if (asked && 'fault' in asked) return asked.fault
  const prompt = asked && createDelegatePrompt(bound, asked.path)
  const name = asked && view.getDelegateName(asked.path)
  const own = adapter ?? (typeof name === 'string' ? delegates?.[name]?.adapter : undefined)
  // The tool itself says what is wrong.
  if (!asked || !prompt || name === undefined || !own) return executeTool(askSectionTool, call.arguments, context)
  const { path, question } = asked
  try {
    const model = findModel({ adapter: own, delegates }, name, path)
    const journal = createLocalJournal()
    journal.record(agentRun.events.asking({ callId: call.id, path, question }))
    const { session, filesystem, signal, deadline } = context
    const options = {
      adapter: model.adapter,
      session: createDelegateSession({ session, journal, callId: call.id, rates: model.rates }),
      signal,
      ...(delegates && { delegates }),
      ...(filesystem && { filesystem }),
      ...(deadline && { deadline }),
      ...(model.maxTurns !== undefined && { maxTurns: model.maxTurns }),
    }
    const run = (more: object) =>
      driveRun(
        createCore(prompt, { ...options, ...more }, (event) => report.tellDelegate(call.id, path, event), {
          ask: askSection,
          open: openDelegate,
        }),
      )
    let result = await run({ input: toInput(question) })
    while (result.status === 'waiting') {
      const approvals = listWaiting(result.state).map((request) => ({ ...request, approved: false, reason: NO_PERSON }))
      result = await run({ approvals })
    }
    return toAnswer(path, result)
  } catch (error) {
    return fail(describeFailure(path, getErrorMessage(error)))
  }
}

/** A journal for as long as the call takes. */
function createLocalJournal(): RunJournal {
  let state = createRunState()
  return {
    get state() {
      return state
    },
    record(event) {
      state = reduceRun(state, event)
    },
    saved: () => Promise.resolve(),
  }
}
