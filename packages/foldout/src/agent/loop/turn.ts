import type { ToolCall, ToolMessage } from '../../adapters/contract.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import type { Session } from '../../session/session.ts'
import { visibility } from '../../session/visibility.ts'
import { fail, type Opening, type ToolResult } from '../../tools/result.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { isExclusive, runBeside, runCall, type CallContext } from './call.ts'
import type { ToolInvoked, ToolsInjected } from '../events.ts'

export interface TurnContext extends CallContext {
  readonly session: Session
  /** The prompt as the session has it now. */
  readonly rendered: () => RenderedPrompt
  readonly isDisclosure: (name: string) => boolean
  readonly supportsDynamicTools: boolean
  /** Why an opening does not fit the model's window, if it does not. */
  readonly refuseOpening: (opening: Opening, text: string) => string | undefined
  /** Throws if the run may not go on. */
  readonly check: () => void
  injected(event: ToolsInjected): void
  warn(message: string): void
}

export interface TurnEnd {
  /** One for each call, in order. */
  readonly results: readonly ToolMessage[]
  /** Tools that have joined the conversation. */
  readonly added: readonly AnyTool[]
  /** Openings that need a new render, in order. */
  readonly waiting: readonly Opening[]
}

const NOT_EXECUTED =
  'Not executed: the prompt is rendered anew with the sections you asked for. Call the tool again if you still need it.'

/**
 * Runs the calls of one turn. Disclosure calls go first, one after the other, because they decide what becomes of the rest:
 * calls behind the first one that needs a new render are not executed, but further openings among them are kept.
 */
export async function runTurn(
  calls: readonly ToolCall[],
  context: TurnContext,
  finished: Readonly<Record<string, ToolMessage>>,
): Promise<TurnEnd> {
  const results = new Map<string, ToolMessage>()
  const added: AnyTool[] = []
  const waiting: Opening[] = []
  let haltsAt = calls.length
  for (const [index, call] of calls.entries()) {
    if (!context.isDisclosure(call.name) || call.malformed !== undefined) continue
    context.check()
    const { message, waits, tools } = await disclose(call, context)
    results.set(call.id, message)
    added.push(...tools)
    if (waits) {
      waiting.push(waits)
      haltsAt = Math.min(haltsAt, index)
    }
  }
  const others = calls.filter(({ id }) => !results.has(id))
  const toRun = others.filter((call) => calls.indexOf(call) < haltsAt && finished[call.id] === undefined)
  const getTool = (call: ToolCall): AnyTool | undefined => {
    const found = context.toolbox.find(call.name)
    return 'tool' in found ? found.tool : undefined
  }
  const ends = await runBeside(
    toRun,
    (call) => isExclusive(getTool(call)),
    async (call) => {
      context.check()
      return runCall(call, context)
    },
  )
  for (const { message, result } of ends) {
    results.set(message.callId, message)
    if (result.ok && result.opening) added.push(...joinTools(result.opening, context))
  }
  return {
    results: calls.map((call) => results.get(call.id) ?? finished[call.id] ?? notExecuted(call)),
    added,
    waiting,
  }
}

function notExecuted({ id, name }: ToolCall): ToolMessage {
  return { role: 'tool', callId: id, name, text: NOT_EXECUTED, isError: true }
}

interface Disclosed {
  readonly message: ToolMessage
  readonly tools: readonly AnyTool[]
  readonly waits?: Opening
}

async function disclose(call: ToolCall, context: TurnContext): Promise<Disclosed> {
  const disclosure = describeDisclosure(call, context.rendered())
  const waits = (opening: Opening): boolean =>
    opening.halts || (opening.tools.length > 0 && !context.supportsDynamicTools)
  const review = (result: ToolResult): ToolResult => {
    if (!result.ok || !result.opening) return result
    const refusal = context.refuseOpening(result.opening, result.message)
    if (refusal !== undefined) return fail(refusal)
    // A new render shows the text, so the result need not.
    return waits(result.opening) ? { ...result, message: requested(result.opening) } : result
  }
  const { result, message } = await runCall(call, context, { disclosure, review })
  if (!result.ok || !result.opening) return { message, tools: [] }
  if (waits(result.opening)) return { message, tools: [], waits: result.opening }
  applyOpening(context.session, result.opening.paths)
  return { message, tools: inject(result.opening, context) }
}

/** Adds what a tool that is no disclosure tool has opened, where that can be done without a new render. */
function joinTools(opening: Opening, context: TurnContext): readonly AnyTool[] {
  if (!context.supportsDynamicTools || context.refuseOpening(opening, '') !== undefined) return []
  // Two calls of one turn may have opened the same.
  const opened = context.session.get(visibility)
  if (opening.paths.every((path) => opened[path] === 'full')) return []
  applyOpening(context.session, opening.paths)
  return inject(opening, context)
}

/** Sets sections to full in a session. */
export function applyOpening(session: Session, paths: readonly string[]): void {
  for (const path of paths) session.dispatch(visibility.events.set({ path, visibility: 'full' }))
}

function inject(opening: Opening, context: TurnContext): readonly AnyTool[] {
  if (opening.tools.length === 0) return []
  const free = context.toolbox.add(opening.tools)
  for (const tool of opening.tools) {
    if (!free.includes(tool))
      context.warn(
        `A tool named '${tool.name}' is callable already; the one that was opened with ${opening.keys.join(', ')} is left out.`,
      )
  }
  if (free.length > 0) context.injected({ names: free.map(({ name }) => name), keys: opening.keys })
  return free
}

function requested(opening: Opening): string {
  return `Sections requested for expansion: ${opening.keys.join(', ')}.`
}

function describeDisclosure(call: ToolCall, rendered: RenderedPrompt): NonNullable<ToolInvoked['disclosure']> {
  const args = (call.arguments ?? {}) as { section_key?: unknown; section_keys?: unknown; reason?: unknown }
  const keys = Array.isArray(args.section_keys)
    ? args.section_keys
    : args.section_key === undefined
      ? []
      : [args.section_key]
  return {
    keys: keys.map(String),
    reason: typeof args.reason === 'string' ? args.reason.slice(0, 256) : '',
    full: rendered.nodes.filter((node) => node.visibility === 'full').map(({ path }) => path),
    summarized: rendered.summarized,
  }
}
