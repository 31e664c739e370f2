import { untilAborted } from '../core/abort.ts'
import { getErrorMessage } from '../core/errors.ts'
import { checkByJsonSchema, describeIssues, type StandardSchemaV1 } from '../core/schema/schema.ts'
import { fail, type ToolFailure, type ToolResult } from './result.ts'
import type { AnyTool, ToolContext } from './tool.ts'

/** What a caller may add to a call. */
export interface ExecuteOptions {
  /** What the tool is called in messages. Default: its own name. */
  readonly name?: string
  /** Called in the same breath in which the call takes effect, so that a store writes both or neither. */
  readonly onSettled?: (result: ToolResult) => void
  /** What the model reads of arguments that do not fit. Default: each failing place and the whole schema. */
  readonly describeFault?: (issues: readonly StandardSchemaV1.Issue[]) => string
  /** Asked when the arguments fit and before the tool runs: a failure ends the call. */
  readonly approve?: () => Promise<ToolFailure | undefined>
}

/**
 * Runs one call of a tool as a transaction. Whatever goes wrong becomes a failure the model can read, and then session
 * and in-memory files are as before the call; on success what the tool did takes effect at once.
 *
 * @example
 * const result = await executeTool(sendMail, { to: 'ada@example.com' }, context)
 * if (!result.ok) console.error(result.message)
 */
export async function executeTool(
  tool: AnyTool,
  args: unknown,
  context: ToolContext,
  options: ExecuteOptions = {},
): Promise<ToolResult> {
  const { name = tool.name } = options
  const session = context.session.begin()
  const files = context.filesystem?.begin?.()
  const inner = { ...context, session: session.session, filesystem: files?.filesystem ?? context.filesystem }
  let result = await executeCall({
    name,
    signal: context.signal,
    validate: () => checkArguments(tool, args ?? {}),
    describeFault: options.describeFault ?? ((issues) => describeFault(name, tool, issues)),
    run: (checked) => tool.execute(checked, inner),
    ...(options.approve ? { approve: options.approve } : {}),
  })
  if (result.ok) {
    try {
      // Refused where another call has changed a file that this one read and changed.
      files?.commit()
    } catch (error) {
      result = fail(`Tool '${name}' failed: ${getErrorMessage(error)}`)
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

/** Checks arguments by a tool's schema. What its JSON Schema can tell is told in one language, whatever library it is of. */
async function checkArguments(tool: AnyTool, args: unknown): Promise<StandardSchemaV1.Result<unknown>> {
  const { vendor, validate } = tool.params['~standard']
  const checked = await validate(args)
  if (!checked.issues || vendor === 'json-schema') return checked
  const told = checkByJsonSchema(tool.inputSchema, args)
  return told.length > 0 ? { issues: told } : checked
}

/** What one call consists of. */
export interface CallSteps extends Pick<ExecuteOptions, 'approve'> {
  readonly name: string
  readonly signal: AbortSignal | undefined
  validate(): StandardSchemaV1.Result<unknown> | Promise<StandardSchemaV1.Result<unknown>>
  describeFault(issues: readonly StandardSchemaV1.Issue[]): string
  run(checked: unknown): unknown
}

/**
 * Takes one call from its arguments to its result: checks them once, asks for approval, runs the tool, and ends as soon as the
 * signal aborts. Every call of every tool comes through here. It never rejects.
 */
export async function executeCall(steps: CallSteps): Promise<ToolResult> {
  const { name, signal } = steps
  try {
    return await untilAborted(signal, () => checkAndRun(steps))
  } catch (error) {
    if (signal?.aborted) return fail(`Tool '${name}' ${describeAbort(signal)}`)
    return fail(`Tool '${name}' failed: ${getErrorMessage(error)}`)
  }
}

async function checkAndRun(steps: CallSteps): Promise<ToolResult> {
  const { name, signal } = steps
  const checked = await steps.validate()
  if (checked.issues) return fail(steps.describeFault(checked.issues))
  if (steps.approve) {
    signal?.throwIfAborted()
    const refusal = await steps.approve()
    if (refusal) return refusal
  }
  signal?.throwIfAborted()
  const result = await steps.run(checked.value)
  if (isToolResult(result)) return result
  return fail(`Tool '${name}' failed: it did not return a result. Its execute() must return ok(…) or fail(…).`)
}

function describeFault(name: string, tool: AnyTool, issues: readonly StandardSchemaV1.Issue[]): string {
  return `Wrong arguments for tool '${name}': ${describeIssues(issues)}. Its arguments are: ${JSON.stringify(tool.inputSchema)}`
}

function describeAbort(signal: AbortSignal): string {
  const isTimeout = signal.reason instanceof Error && signal.reason.name === 'TimeoutError'
  return isTimeout ? 'took too long and was stopped.' : 'was cancelled.'
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
