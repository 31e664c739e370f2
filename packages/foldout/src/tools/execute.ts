import { untilAborted } from '../core/abort.ts'
import { getErrorMessage } from '../core/errors.ts'
import { describeIssues } from '../core/schema/schema.ts'
import { fail, type ToolResult } from './result.ts'
import type { AnyTool, ToolContext } from './tool.ts'

export interface ExecuteOptions {
  /** Called in the same breath in which the call takes effect, so that a store writes both or neither. */
  readonly onSettled?: (result: ToolResult) => void
}

/**
 * Runs one call of a tool as a transaction. Whatever goes wrong becomes a failure the model can read, and then session
 * and in-memory files are as before the call; on success what the tool did takes effect at once.
 */
export async function executeTool(
  tool: AnyTool,
  args: unknown,
  context: ToolContext,
  options: ExecuteOptions = {},
): Promise<ToolResult> {
  const session = context.session.begin()
  const files = context.filesystem?.begin?.()
  let result: ToolResult
  try {
    const inner = { ...context, session: session.session, filesystem: files?.filesystem ?? context.filesystem }
    result = await untilAborted(context.signal, () => validateAndRun(tool, args, inner))
  } catch (error) {
    result = fail(
      `Tool '${tool.name}' ${context.signal.aborted ? abortedWhy(context.signal) : `failed: ${getErrorMessage(error)}`}`,
    )
  }
  if (result.ok) {
    try {
      // Refused where another call has changed a file that this one read and changed.
      files?.commit()
    } catch (error) {
      result = fail(`Tool '${tool.name}' failed: ${getErrorMessage(error)}`)
    }
  }
  if (!result.ok) {
    files?.abandon()
    session.abandon()
  } else {
    session.commit()
  }
  options.onSettled?.(result)
  return result
}

function abortedWhy(signal: AbortSignal): string {
  const isTimeout = signal.reason instanceof Error && signal.reason.name === 'TimeoutError'
  return isTimeout ? 'took too long and was stopped.' : 'was cancelled.'
}

async function validateAndRun(tool: AnyTool, args: unknown, context: ToolContext): Promise<ToolResult> {
  const checked = await tool.params['~standard'].validate(args ?? {})
  if (checked.issues) {
    return fail(
      `Wrong arguments for tool '${tool.name}': ${describeIssues(checked.issues)}. Its arguments are: ${JSON.stringify(tool.inputSchema)}`,
    )
  }
  const result: unknown = await tool.execute(checked.value, context)
  return isToolResult(result)
    ? result
    : fail(`Tool '${tool.name}' failed: it returned no result. Its execute() must return ok(…) or fail(…).`)
}

function isToolResult(value: unknown): value is ToolResult {
  return (
    typeof value === 'object' &&
    value !== null &&
    'ok' in value &&
    'message' in value &&
    typeof value.message === 'string'
  )
}
