import type { ToolCall, ToolMessage } from '../../../adapters/contract.ts'
import { shorten } from '../../../core/text.ts'
import { executeTool } from '../../../tools/execute.ts'
import { fail, type ToolFailure, type ToolResult } from '../../../tools/result.ts'
import type { AnyTool, CallTarget, FoundTarget, ToolContext } from '../../../tools/tool.ts'
import type { ToolInvoked } from '../../events.ts'
import { MAX_MALFORMED_SHOWN } from '../../limits.ts'
import type { CallSignal } from '../run-signal.ts'
import type { FoundTool, Toolbox } from './toolbox.ts'

export interface CallContext {
  readonly toolbox: Toolbox
  readonly tools: Omit<ToolContext, 'signal'>
  /** A signal for one call, with the time that a call may take. */
  fork(): CallSignal
  /** A key for a call that no other call has, in whichever conversation. */
  getKey(callId: string): string
}

export interface CallEnd {
  readonly result: ToolResult
  readonly message: ToolMessage
  readonly invoked: ToolInvoked
}

export interface CallOptions {
  /** What the call may run, where that was decided before. */
  readonly cleared?: string | undefined
  /** Answers the call in place of its tool. */
  readonly refusal?: ToolFailure | undefined
  /** May replace the result before anybody sees it. */
  readonly review?: (result: ToolResult) => ToolResult
  /** Called in the same breath in which the call takes effect. */
  readonly onEnd: (end: CallEnd) => void
}

/** Runs one call to its end, whatever that is: a result the model can read. */
export async function runCall(call: ToolCall, context: CallContext, options: CallOptions): Promise<CallEnd> {
  const { review, onEnd, cleared, refusal } = options
  const started = performance.now()
  const target = getTarget(call, context.toolbox)
  let end: CallEnd | undefined
  const settle = (given: ToolResult): CallEnd => {
    const result = review ? review(given) : given
    end = createEnd(call, result, { durationMs: Math.round(performance.now() - started), ...(target && { target }) })
    onEnd(end)
    return end
  }
  if (refusal) return settle(refusal)
  const found = findTool(call, context.toolbox)
  if (!('tool' in found)) return settle(fail(found.message))
  const { signal, release } = context.fork()
  try {
    const toolContext = { ...createToolContext(call, context, signal), ...(cleared && { clearedCall: cleared }) }
    const result = await executeTool(found.tool, call.arguments, toolContext, {
      onSettled: settle,
      ...(cleared !== undefined && { isCleared: true }),
    })
    return end ?? settle(result)
  } finally {
    release()
  }
}

/** What a tool gets beside its params. */
export function createToolContext({ id }: ToolCall, context: CallContext, signal: AbortSignal): ToolContext {
  return { ...context.tools, callId: id, idempotencyKey: context.getKey(id), signal }
}

function createEnd(
  { id, name }: ToolCall,
  result: ToolResult,
  details: Pick<ToolInvoked, 'durationMs' | 'target'>,
): CallEnd {
  // Whatever else a tool's image objects hold may not survive in a stored conversation.
  const images = result.ok ? (result.images ?? []).map(({ mimeType, data }) => ({ mimeType, data })) : []
  const message: ToolMessage = {
    role: 'tool',
    callId: id,
    name,
    text: result.message,
    isError: !result.ok,
    ...(images.length > 0 && { images }),
  }
  return { result, message, invoked: { callId: id, name, ok: result.ok, message: result.message, ...details } }
}

/** The tool that a call is for, unless its arguments could not be read. */
export function findTool(call: ToolCall, toolbox: Toolbox): FoundTool {
  return call.malformed === undefined ? toolbox.find(call.name) : { message: describeMalformed(call.malformed) }
}

/** What a call comes down to, where its tool runs others. */
export function getTarget(call: ToolCall, toolbox: Toolbox): CallTarget | undefined {
  const found = findTool(call, toolbox)
  if (!('tool' in found)) return undefined
  const target = findTarget(call, found.tool)
  // Without its definition: this goes into events.
  return target && { name: target.name, arguments: target.arguments }
}

/** The tool that a call comes down to, where its own runs others. */
export function findTarget(call: Pick<ToolCall, 'arguments'>, tool: AnyTool): FoundTarget | undefined {
  try {
    return tool.target?.(call.arguments)
  } catch {
    // The arguments have not been checked yet: a tool that cannot read them says so when it runs.
    return undefined
  }
}

function describeMalformed(text: string): string {
  const shown = shorten(text, MAX_MALFORMED_SHOWN)
  return `The arguments of this call are not valid JSON: ${shown}\nCall the tool again with its arguments as one JSON object.`
}
