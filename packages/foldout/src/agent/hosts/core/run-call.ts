import { toOwnArguments } from '../../../adapters/tool-keys.ts'
import { askSectionTool } from '../../../disclosure/ask-tool.ts'
import { getOpenedText } from '../../../disclosure/engine.ts'
import { applyOpening, describeCallable, describeNews, describeOpened } from '../../../disclosure/opening.ts'
import { readRequest } from '../../../disclosure/strategy.ts'
import type { RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { Event } from '../../../session/event.ts'
import type { Session, SessionReader } from '../../../session/session.ts'
import { visibility } from '../../../session/visibility.ts'
import { hashCall } from '../../../tools/approval.ts'
import { executeTool } from '../../../tools/execute.ts'
import { fail, type ToolResult, type ToolSuccess } from '../../../tools/result.ts'
import type { AnyTool } from '../../../tools/tool.ts'
import { findTarget } from '../../loop/calls/call.ts'
import { agentRun } from '../../state/run-state.ts'
import type { HostCall, HostCallOptions, HostResult, HostView } from './contract.ts'
import { askInHost } from './ask.ts'
import { getAskedReason } from './asked.ts'
import { createContext, type ViewParts } from './parts.ts'

interface CallParts extends ViewParts {
  readonly view: HostView
  readonly renderFor: (session: SessionReader) => RenderedPrompt
}

/** What a call changed. */
interface Change {
  readonly opened: readonly string[]
  readonly added: readonly AnyTool[]
  readonly text: string
}

/** Runs one call as one transaction: its changes, what it opens, and the record of the tools it adds. */
export async function runHostCall(
  parts: CallParts,
  call: HostCall,
  options: HostCallOptions = {},
): Promise<HostResult> {
  const { view, report } = parts
  const started = performance.now()
  const tool = view.find(call.name)
  const target = tool && findTarget({ arguments: toOwnArguments(call.arguments, tool) }, tool)
  report.begins(call, target)
  const transaction = view.session.begin()
  const events: Event[] = []
  transaction.session.subscribe((event) => events.push(event))
  const result = tool ? await execute(parts, tool, call, { ...options, session: transaction.session }) : undefined
  let change: Change = { opened: [], added: [], text: result?.message ?? view.describeMissing(call.name) }
  if (result?.ok) {
    change = settle(parts, call, { result, session: transaction.session })
    transaction.commit()
  } else {
    transaction.abandon()
    events.length = 0
  }
  const isStrategy = view.rendered.disclosure.toolNames.includes(call.name)
  const ended: ToolResult = result ?? fail(change.text)
  report.ends({
    call,
    target,
    durationMs: Math.round(performance.now() - started),
    result: ended,
    text: change.text,
    added: change.added,
    view,
    request: isStrategy
      ? readRequest(view.rendered.disclosure, { name: call.name, arguments: call.arguments })
      : undefined,
  })
  return {
    text: change.text,
    isError: !ended.ok,
    images: ended.ok ? (ended.images ?? []) : [],
    notice: getNotice(ended, change, isStrategy),
    opened: change.opened,
    added: change.added,
    events,
  }
}

function execute(
  parts: CallParts,
  tool: AnyTool,
  call: HostCall,
  { session, isApproved = false, need, ...options }: HostCallOptions & { readonly session: Session },
): Promise<ToolResult> {
  const args = toOwnArguments(call.arguments, tool)
  const context = { ...createContext(parts, parts.view, call, options), session }
  if (tool === askSectionTool) return askInHost(parts, { ...call, arguments: args }, context)
  if (!isApproved) return executeTool(tool, args, context)
  const target = findTarget({ arguments: args }, tool)
  const clearedCall = hashCall(target?.name ?? tool.name, target?.arguments ?? args)
  const approvedReason = typeof need === 'string' ? need : getAskedReason(session, call.id)
  const approved = { ...context, clearedCall, ...(approvedReason !== undefined && { approvedReason }) }
  return executeTool(tool, args, approved, { isCleared: true })
}

/** Opens what a call asked for, and returns the text that the model reads, with every section it has not read yet. */
function settle(
  { view, renderFor }: CallParts,
  { name }: HostCall,
  { result, session }: { readonly result: ToolSuccess; readonly session: Session },
): Change {
  const { opening, message } = result
  if (opening) applyOpening(session, opening)
  const before = view.session.get(visibility)
  const opened = Object.entries(session.get(visibility)).flatMap(([path, state]) =>
    state === 'full' && before[path] !== 'full' ? [path] : [],
  )
  const now = renderFor(session)
  const known = new Set([...view.tools.map((tool) => tool.name), ...session.get(agentRun).disclosed])
  const added = now.tools.filter((tool) => !known.has(tool.name))
  const names = [...view.tools, ...added].map((tool) => tool.name)
  if (opened.length > 0 || added.length > 0) session.dispatch(agentRun.events.disclosed({ names }))
  // The result of the strategy's own tool has the text, or says that the system text has it.
  const isSaid = view.rendered.disclosure.toolNames.includes(name) || opening?.halts === true
  const text = isSaid ? '' : getOpenedText(now.view, opened)
  if (text === '') return { opened, added, text: message }
  return { opened, added, text: [message, describeNews(text), describeCallable(added)].filter(Boolean).join('\n\n') }
}

function getNotice(result: ToolResult, { opened, added, text }: Change, isStrategy: boolean): string | undefined {
  if (!result.ok) return undefined
  if (opened.length > 0) {
    const said = describeOpened({ keys: result.opening?.keys ?? opened, tools: added.length > 0 })
    if (isStrategy || text === result.message) return said
    return `${result.message}\n\n${said}`
  }
  if (isStrategy) return 'Nothing new was opened.'
  return undefined
}
