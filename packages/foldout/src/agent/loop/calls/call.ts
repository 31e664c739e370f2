import type { ToolCall, ToolMessage } from '../../../adapters/contract.ts'
import { shorten } from '../../../core/text.ts'
import { executeTool } from '../../../tools/execute.ts'
import { fail, type ToolResult } from '../../../tools/result.ts'
import type { CallTarget, ToolContext } from '../../../tools/tool.ts'
import type { ToolInvoked } from '../../events.ts'
import { MAX_MALFORMED_SHOWN } from '../../limits.ts'
import type { CallSignal } from '../run-signal.ts'
import type { FoundTool, Toolbox } from './toolbox.ts'

export interface CallContext {
  readonly toolbox: Toolbox
  readonly tools: Omit<ToolContext, 'signal'>
  /** A signal for one call, with the time that a call may take. */
  fork(): CallSignal
}

export interface CallEnd {
  readonly result: ToolResult
  readonly message: ToolMessage
  readonly invoked: ToolInvoked
}

export interface CallOptions {
  /** May replace the result before anybody sees it. */
  readonly review?: (result: ToolResult) => ToolResult
  /** Called in the same breath in which the call takes effect. */
  readonly onEnd: (end: CallEnd) => void
}

/** Runs one call to its end, whatever that is: a result the model can read. */
export async function runCall(call: ToolCall, context: CallContext, options: CallOptions): Promise<CallEnd> {
  const { review, onEnd } = options
  const started = performance.now()
  const target = getTarget(call, context.toolbox)
  let end: CallEnd | undefined
  const settle = (given: ToolResult): CallEnd => {
    const result = review ? review(given) : given
    end = createEnd(call, result, { durationMs: Math.round(performance.now() - started), ...(target && { target }) })
    onEnd(end)
    return end
  }
  const found = findTool(call, context.toolbox)
  if (!('tool' in found)) return settle(fail(found.message))
  const { signal, release } = context.fork()
  try {
    const toolContext = { ...context.tools, callId: call.id, signal }
    const result = await executeTool(found.tool, call.arguments, toolContext, { onSettled: settle })
    return end ?? settle(result)
  } finally {
    release()
  }
}

function createEnd(
  { id, name }: ToolCall,
  result: ToolResult,
  details: Pick<ToolInvoked, 'durationMs' | 'target'>,
): CallEnd {
  const images = result.ok && result.images?.length ? { images: result.images } : {}
  const message: ToolMessage = { role: 'tool', callId: id, name, text: result.message, isError: !result.ok, ...images }
  return { result, message, invoked: { callId: id, name, ok: result.ok, message: result.message, ...details } }
}

/** The tool that a call is for, unless its arguments could not be read. */
export function findTool(call: ToolCall, toolbox: Toolbox): FoundTool {
  return call.malformed === undefined ? toolbox.find(call.name) : { message: describeMalformed(call.malformed) }
}

/** What a call comes down to, where its tool runs others. */
export function getTarget(call: ToolCall, toolbox: Toolbox): CallTarget | undefined {
  const found = findTool(call, toolbox)
  try {
    return 'tool' in found ? found.tool.target?.(call.arguments) : undefined
  } catch {
    // The arguments have not been checked yet: a tool that cannot read them says so when it runs.
    return undefined
  }
}

function describeMalformed(text: string): string {
  const shown = shorten(text, MAX_MALFORMED_SHOWN)
  return `The arguments of this call are not valid JSON: ${shown}\nCall the tool again with its arguments as one JSON object.`
}
