import { NO_USAGE, addUsage, type AssistantMessage } from '../../../adapters/contract.ts'
import { readUsage } from '../../../adapters/usage/usage.ts'
import { getErrorType } from '../../../core/errors.ts'
import { cutWithCount } from '../../../core/text.ts'
import type { OpeningRequest } from '../../../disclosure/strategy.ts'
import { hashCall } from '../../../tools/approval.ts'
import type { RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { ToolResult } from '../../../tools/result.ts'
import type { AnyTool, CallTarget, FoundTarget } from '../../../tools/tool.ts'
import { createNotifier } from '../../event-queue.ts'
import type { AgentEvent, SectionsOpened, ToolInvoked } from '../../events.ts'
import { MAX_APPROVAL_REASON } from '../../limits.ts'
import { describeRendered } from '../../rendered-event.ts'
import type { HostCall, HostReport, HostView } from './contract.ts'

/** Reports the calls of the prompt's tools, which the core runs itself. */
export interface CallReport {
  begins(call: HostCall, target: FoundTarget | undefined): void
  ends(end: CallEnd): void
  /** Reports what was opened for a message, once the run has begun. */
  opensAhead(problems: readonly string[], opened: SectionsOpened): void
  /** Reports what happens in the run that answers a question about a section. */
  tellDelegate(callId: string, path: string, event: AgentEvent): void
}

export interface CallEnd {
  readonly call: HostCall
  readonly target: FoundTarget | undefined
  readonly durationMs: number
  readonly result: ToolResult
  /** What the model reads. */
  readonly text: string
  readonly added: readonly AnyTool[]
  /** The view before the call. */
  readonly view: HostView
  /** What the call asks to open, for a tool that opens sections. */
  readonly request: OpeningRequest | undefined
}

export function createReport(onEvent: ((event: AgentEvent) => void) | undefined): HostReport & CallReport {
  let usage = NO_USAGE
  let isRunning = false
  let restarts = 0
  let shown: RenderedPrompt | undefined
  let early: readonly AgentEvent[] = []
  const notify = createNotifier({ onEvent }, () => undefined)
  const tell = (event: AgentEvent): void => (onEvent ? notify(copyEvent(event)) : undefined)
  return {
    isOn: onEvent !== undefined,
    started({ input, isResumed = false, model = UNKNOWN_MODEL }) {
      // A run that was answered several times is still one run.
      if (isResumed && isRunning) return
      isRunning = true
      usage = NO_USAGE
      restarts = 0
      shown = undefined
      tell({ type: 'run/started', isResumed, model, ...(input !== undefined && { input }) })
      for (const event of early) tell(event)
      early = []
    },
    sent({ prompt, messages, tools }) {
      if (onEvent && prompt.text !== shown?.text) notify(describeRendered(prompt, [...tools]))
      shown = prompt
      tell({ type: 'request/sent', messages, tools })
    },
    replied({ text, calls = [], usage: given = {} }) {
      const used = readUsage({ ...NO_USAGE, ...given })
      usage = addUsage(usage, used)
      const message: AssistantMessage = { role: 'assistant', text, toolCalls: calls.map((call) => ({ ...call })) }
      tell({ type: 'reply/received', message, usage: used })
    },
    called(call, { text, isError, durationMs }) {
      tell({ type: 'tool/called', call })
      tell({
        type: 'tool/invoked',
        callId: call.id,
        name: call.name,
        ok: !isError,
        message: text,
        durationMs,
      })
    },
    asked({ id: callId, name: tool, arguments: args = {} }, need) {
      const reason = typeof need === 'string' ? cutWithCount(need, MAX_APPROVAL_REASON) : ''
      const askedAt = new Date().toISOString()
      const digest = hashCall(tool, [callId, args, askedAt])
      tell({ type: 'approval/asked', callId, tool, arguments: args, reason, askedAt, digest })
    },
    answered: ({ id: callId, name: tool }, approved) => tell({ type: 'approval/answered', callId, tool, approved }),
    finished(status) {
      if (isRunning) tell({ type: 'run/finished', status, usage, totalUsage: usage })
      isRunning = false
    },
    failed(error) {
      if (isRunning) tell({ type: 'run/failed', errorType: getErrorType(error) })
      isRunning = false
    },
    tellDelegate(callId, path, event) {
      if (event.type === 'reply/received' || event.type === 'reply/lost') usage = addUsage(usage, event.usage)
      tell({ type: 'section/delegated', callId, path, event })
    },
    opensAhead(problems, opened) {
      // Some hosts open before they say that a run begins.
      if (isRunning) for (const event of describeAhead(problems, opened)) tell(event)
      else early = describeAhead(problems, opened)
    },
    begins: (call, target) => tell({ type: 'tool/called', call, ...getTarget(target) }),
    ends(end) {
      tell({ type: 'tool/invoked', ...describeInvoked(end) })
      const { added, result, view, call } = end
      const { keys, paths, reason, halts } = (result.ok && result.opening) || NO_OPENING
      if (halts) tell({ type: 'run/expanded', callIds: [call.id], keys, paths, reason, expansions: (restarts += 1) })
      if (added.length === 0 || halts) return
      const names = added.map(({ name }) => name)
      const sections = names.flatMap((name) => view.rendered.findSection(name) ?? [])
      tell({ type: 'tools/injected', names, keys: keys.length > 0 ? keys : [...new Set(sections)] })
    },
  }
}

/** Events are copies: a listener must not change the call that the host is about to run, and the host may change it. */
function copyEvent(event: AgentEvent): AgentEvent {
  try {
    return structuredClone(event)
  } catch {
    return { type: 'warning', message: `An event '${event.type}' is left out, because its values cannot be copied.` }
  }
}

const NO_OPENING = { keys: [], paths: [], reason: '', halts: false }
const UNKNOWN_MODEL = { provider: 'host', name: 'unknown' }

function describeAhead(problems: readonly string[], opened: SectionsOpened): readonly AgentEvent[] {
  const warnings = problems.map((message): AgentEvent => ({ type: 'warning', message }))
  return [...warnings, { type: 'sections/opened', ...opened }]
}

function getTarget(target: FoundTarget | undefined): { readonly target?: CallTarget } {
  if (target) return { target: { name: target.name, arguments: target.arguments } }
  return {}
}

function describeInvoked({ call, target, durationMs, result, text, view, request }: CallEnd): ToolInvoked {
  const { nodes, summarized } = view.rendered
  const opening = result.ok ? result.opening : undefined
  return {
    callId: call.id,
    name: call.name,
    ok: result.ok,
    message: text,
    durationMs,
    ...getTarget(target),
    ...(request && {
      disclosure: {
        keys: opening?.keys ?? request.keys,
        reason: opening?.reason ?? request.reason,
        full: nodes.filter((node) => node.visibility === 'full').map(({ path }) => path),
        summarized,
        answer: getAnswer(result),
      },
    }),
  }
}

function getAnswer(result: ToolResult): NonNullable<ToolInvoked['disclosure']>['answer'] {
  if (!result.ok) return 'none'
  if (result.opening?.halts === true) return 'restart'
  return 'in-place'
}
