import type { ToolCall, ToolMessage } from '../../adapters/contract.ts'
import { executeTool } from '../../tools/execute.ts'
import { fail, type ToolResult } from '../../tools/result.ts'
import type { AnyTool, CallTarget, ToolContext } from '../../tools/tool.ts'
import type { ToolInvoked } from '../events.ts'
import type { Toolbox } from './toolbox.ts'

export interface CallContext {
  readonly toolbox: Toolbox
  readonly tools: Omit<ToolContext, 'signal'>
  readonly signal: AbortSignal
  readonly toolTimeoutMs: number | undefined
  /** Called in the same breath in which a call takes effect. */
  settled(message: ToolMessage, invoked: ToolInvoked): void
}

export interface CallEnd {
  readonly result: ToolResult
  readonly message: ToolMessage
}

export interface CallOptions {
  /** Told with the call's end. */
  readonly disclosure?: ToolInvoked['disclosure']
  /** May replace the result before anybody sees it. */
  readonly review?: (result: ToolResult) => ToolResult
}

/** Runs one call to its end, whatever that is: a result the model can read. */
export async function runCall(call: ToolCall, context: CallContext, options: CallOptions = {}): Promise<CallEnd> {
  const { disclosure, review } = options
  const started = performance.now()
  const target = getTarget(call, context.toolbox)
  let end: CallEnd | undefined
  const settle = (given: ToolResult): CallEnd => {
    const result = review ? review(given) : given
    const message: ToolMessage = {
      role: 'tool',
      callId: call.id,
      name: call.name,
      text: result.message,
      isError: !result.ok,
      ...(result.ok && result.images?.length ? { images: result.images } : {}),
    }
    context.settled(message, {
      callId: call.id,
      name: call.name,
      ok: result.ok,
      message: result.message,
      durationMs: Math.round(performance.now() - started),
      ...(target ? { target } : {}),
      ...(disclosure ? { disclosure } : {}),
    })
    return (end = { result, message })
  }
  const found = call.malformed === undefined ? context.toolbox.find(call.name) : { message: malformed(call.malformed) }
  if (!('tool' in found)) return settle(fail(found.message))
  const signal = withTimeout(context.signal, context.toolTimeoutMs)
  const result = await executeTool(found.tool, call.arguments, { ...context.tools, signal }, { onSettled: settle })
  return end ?? settle(result)
}

/** What a call comes down to, where its tool runs others. */
export function getTarget(call: ToolCall, toolbox: Toolbox): CallTarget | undefined {
  const found = call.malformed === undefined ? toolbox.find(call.name) : undefined
  return found && 'tool' in found ? found.tool.target?.(call.arguments) : undefined
}

function malformed(text: string): string {
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text
  return `The arguments of this call are not valid JSON: ${shown}\nCall the tool again with its arguments as one JSON object.`
}

function withTimeout(signal: AbortSignal, timeoutMs: number | undefined): AbortSignal {
  return timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
}

/** Runs work on each item: side by side, but for those that must be alone. Results are in the order of the items. */
export async function runBeside<Item, Result>(
  items: readonly Item[],
  isAlone: (item: Item) => boolean,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Promise<Result>[] = []
  for (const item of items) {
    // One that must be alone waits for all before it, and all behind it wait for it.
    if (isAlone(item)) await Promise.allSettled(results)
    const result = work(item)
    results.push(result)
    if (isAlone(item)) await Promise.allSettled([result])
  }
  return Promise.all(results)
}

export const isExclusive = (tool: AnyTool | undefined): boolean => tool?.exclusive ?? false
