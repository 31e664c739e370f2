import type { ToolCall, ToolMessage } from '../../../adapters/contract.ts'
import type { Usage } from '../../../adapters/usage/usage.ts'
import { shorten } from '../../../core/text.ts'
import { executeTool } from '../../../tools/execute.ts'
import { fail, type ToolResult } from '../../../tools/result.ts'
import type { AnyTool, CallTarget, FoundTarget, ToolContext } from '../../../tools/tool.ts'
import type { ToolInvoked } from '../../events.ts'
import { MAX_MALFORMED_SHOWN } from '../../limits.ts'
import { createCallSession } from '../session/run-session.ts'
import type { CallSignal } from '../session/run-signal.ts'
import type { FoundTool, Toolbox } from './toolbox.ts'

export interface CallContext {
  readonly toolbox: Toolbox
  readonly tools: Omit<ToolContext, 'signal'>
  /** Creates a signal for one call, with the time limit of a call. */
  fork(): CallSignal
  /** Returns a key for a call that is unique across all conversations. */
  getKey(callId: string): string
}

export interface CallEnd {
  readonly result: ToolResult
  readonly message: ToolMessage
  readonly invoked: ToolInvoked
  /** Whether the tool has run an agent of its own. */
  readonly hasRunAgent: boolean
}

export interface CallOptions {
  /** A hash of the call that may run, if that was already decided. */
  readonly cleared?: string | undefined
  /** Why a person was asked, who has approved the call. */
  readonly reason?: string | undefined
  /** The answer to the call, instead of running its tool. */
  readonly answer?: CallAnswer | undefined
  /** May replace the result before it is used. */
  readonly review?: (result: ToolResult) => ToolResult
  /** Called synchronously when the call takes effect. */
  readonly onEnd: (end: CallEnd) => void
}

/** A result that did not come from the tool of the call. */
export interface CallAnswer extends Pick<ToolInvoked, 'delegated'> {
  readonly result: ToolResult
  /** When the call began, as `performance.now()`. */
  readonly started?: number
}

/** How a question about a section ended. */
export type AskOutcome =
  | { readonly type: 'answer'; readonly result: ToolResult; readonly path?: string; readonly usage?: Usage }
  /** A call of the agent that answers waits for a person. */
  | { readonly type: 'wait' }
  /** The arguments are wrong. */
  | { readonly type: 'invalid' }

/** Runs one call to its end. It always ends with a result that the model can read. */
export async function runCall(call: ToolCall, context: CallContext, options: CallOptions): Promise<CallEnd> {
  const { review, onEnd, cleared, reason, answer } = options
  const started = answer?.started ?? performance.now()
  const target = getTarget(call, context.toolbox)
  const { session, hasRunAgent } = createCallSession(context.tools.session)
  let end: CallEnd | undefined
  const settle = (given: ToolResult): CallEnd => {
    const result = review ? review(given) : given
    const details = {
      durationMs: Math.round(performance.now() - started),
      ...(target && { target }),
      ...(answer?.delegated && { delegated: answer.delegated }),
    }
    end = { ...createEnd(call, result, details), hasRunAgent: hasRunAgent() || answer?.delegated !== undefined }
    onEnd(end)
    return end
  }
  if (answer) return settle(answer.result)
  const found = findTool(call, context.toolbox)
  if (!('tool' in found)) return settle(fail(found.message))
  const { signal, release } = context.fork()
  try {
    const toolContext = {
      ...createToolContext(call, context, signal),
      session,
      ...(cleared && { clearedCall: cleared }),
      ...(reason && { approvedReason: reason }),
    }
    const result = await executeTool(found.tool, call.arguments, toolContext, {
      onSettled: settle,
      ...(cleared !== undefined && { isCleared: true }),
    })
    return end ?? settle(result)
  } finally {
    release()
  }
}

/** Creates the context that a tool receives along with its params. */
export function createToolContext({ id }: ToolCall, context: CallContext, signal: AbortSignal): ToolContext {
  return { ...context.tools, callId: id, idempotencyKey: context.getKey(id), signal }
}

function createEnd(
  { id, name }: ToolCall,
  result: ToolResult,
  details: Pick<ToolInvoked, 'durationMs' | 'target' | 'delegated'>,
): Omit<CallEnd, 'hasRunAgent'> {
  // Whatever else a tool's image objects hold may not survive in a stored conversation.
  const images = result.ok ? (result.images ?? []).map(({ mimeType, data }) => ({ mimeType, data })) : []
  const message: ToolMessage = {
    role: 'tool',
    callId: id,
    name,
    text: result.message.toWellFormed(),
    isError: !result.ok,
    ...(images.length > 0 && { images }),
  }
  return { result, message, invoked: { callId: id, name, ok: result.ok, message: result.message, ...details } }
}

/** Finds the tool of a call, unless the call's arguments could not be parsed. */
export function findTool(call: ToolCall, toolbox: Toolbox): FoundTool {
  const { malformed, name, writtenName = name } = call
  if (malformed === undefined) return toolbox.find(writtenName)
  return { message: call.isCutOff ? CUT_OFF_ARGUMENTS : describeMalformed(malformed) }
}

/** Finds the tool and arguments that a call ends up running, if its own tool runs other tools. */
export function getTarget(call: ToolCall, toolbox: Toolbox): CallTarget | undefined {
  const found = findTool(call, toolbox)
  if (!('tool' in found)) return undefined
  const target = findTarget(call, found.tool)
  // Without the definition, because this goes into events.
  return target && { name: target.name, arguments: target.arguments }
}

/** Finds the tool that a call ends up running, if its own tool runs other tools. */
export function findTarget(call: Pick<ToolCall, 'arguments'>, tool: AnyTool): FoundTarget | undefined {
  try {
    return tool.target?.(call.arguments)
  } catch {
    // The arguments have not been checked yet; a tool that cannot read them reports that when it runs.
    return undefined
  }
}

const CUT_OFF_ARGUMENTS =
  'Not run: the arguments of this call were cut off because your reply reached the output limit. Write less, for example in several smaller calls.'

function describeMalformed(text: string): string {
  const shown = shorten(text, MAX_MALFORMED_SHOWN)
  return `The arguments of this call are not valid JSON: ${shown}\nCall the tool again with its arguments as one JSON object.`
}
