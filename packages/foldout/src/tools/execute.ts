import { getErrorType } from '../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import { checkByJsonSchema, describeIssues, type StandardSchemaV1 } from '../core/schema/schema.ts'
import { fail, type ToolFailure, type ToolResult } from './result.ts'
import { describeUnapproved, hashCall } from './approval.ts'
import { describeThrown, isMistake, type ThrownByTool } from './thrown.ts'
import type { AnyTool, ToolContext } from './tool.ts'

/**
 * Options of {@link executeTool}.
 *
 * @example
 * ```ts
 * const options: ExecuteOptions = { approve: async () => fail('The user said no.') }
 * const result = await executeTool(sendMail, { to: 'ada@example.com' }, context, options)
 * result.message // => 'The user said no.'
 * ```
 */
export interface ExecuteOptions {
  /** The tool's name in messages. Default: its own name. */
  readonly name?: string
  /** Called synchronously when the call commits, so a store writes both or neither. */
  readonly onSettled?: (result: ToolResult) => void
  /** Formats the message about invalid arguments. Default: each issue, and the whole schema. */
  readonly describeFault?: (issues: readonly StandardSchemaV1.Issue[]) => string
  /** Called with valid arguments before the tool runs. Returning a failure ends the call. */
  readonly approve?: () => Promise<ToolFailure | undefined>
  /**
   * Whether the call may run although the tool needs approval: because a person has approved it, or because it turned
   * out not to need approval. Default: whether it is the call of `context.clearedCall`.
   */
  readonly isCleared?: boolean
}

/**
 * Runs one call of a tool as a transaction. Every error becomes a failure that the model can read, and the session and
 * in-memory files then stay unchanged. On success, the tool's changes take effect at once.
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
    ...(context.onToolError && { onThrown: createThrownHandler(name, context) }),
    async approve(checked) {
      const refusal = await options.approve?.()
      if (refusal || !tool.needsApproval) return refusal
      if (options.isCleared ?? context.clearedCall === hashCall(tool.name, args)) return undefined
      if ((await tool.needsApproval(checked, inner)) === false) return undefined
      return fail(describeUnapproved(name))
    },
  })
  if (result.ok) {
    try {
      // Throws if another call has changed a file that this call read and changed.
      files?.commit()
    } catch (error) {
      result = fail(describeThrown(name, error))
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

/** Creates the function that reports what a tool has thrown. What it throws itself does not matter. */
export function createThrownHandler(
  tool: string,
  { callId, onToolError }: Pick<ToolContext, 'callId' | 'onToolError'>,
): (error: unknown) => string | undefined {
  return (error) => {
    const thrown: ThrownByTool = { tool, ...(callId !== undefined && { callId }), error, isMistake: isMistake(error) }
    try {
      const message: unknown = onToolError?.(thrown)
      if (typeof message === 'string') return message
      return undefined
    } catch {
      return undefined
    }
  }
}

/**
 * Checks arguments against a tool's schema. Issues found by its JSON Schema have the same wording for every library.
 */
export async function checkArguments(tool: AnyTool, args: unknown): Promise<StandardSchemaV1.Result<unknown>> {
  const { vendor, validate } = tool.params['~standard']
  const checked = await validate(args)
  if (!checked.issues || vendor === 'json-schema') return checked
  const issues = checkByJsonSchema(tool.inputSchema, args)
  if (issues.length > 0) return { issues }
  return checked
}

/** The steps of one call. */
export interface CallSteps {
  readonly name: string
  readonly signal: AbortSignal | undefined
  /** Whether `run` ends by itself when the signal aborts. */
  readonly watchesSignal?: boolean
  validate(): StandardSchemaV1.Result<unknown> | Promise<StandardSchemaV1.Result<unknown>>
  describeFault(issues: readonly StandardSchemaV1.Issue[]): string
  /** Called with valid arguments before the tool runs. Returning a failure ends the call. */
  approve?(checked: unknown): Promise<ToolFailure | undefined>
  run(checked: unknown): unknown
  /** Called with what was thrown. May return the message for the model. */
  onThrown?(error: unknown): string | undefined
  /** Turns what `run` returned into a result. Without it, `run` returns one. */
  toResult?(returned: unknown): ToolResult
}

/**
 * Runs one call from its arguments to its result: checks the arguments once, asks for approval, runs the tool, and ends as
 * soon as the signal aborts. Every call of every tool goes through here. It never rejects.
 */
export function executeCall(steps: CallSteps): Promise<ToolResult> {
  const { name, signal } = steps
  if (!signal || steps.watchesSignal === true) return runSteps(steps)
  if (signal.aborted) return Promise.resolve(createAborted(name, signal))
  return new Promise((resolve) => {
    // A tool that ignores its signal must not keep the caller waiting.
    const onAbort = (): void => resolve(createAborted(name, signal))
    signal.addEventListener('abort', onAbort, { once: true })
    void runSteps(steps).then((result) => {
      signal.removeEventListener('abort', onAbort)
      return resolve(result)
    })
  })
}

/** Never rejects. */
async function runSteps(steps: CallSteps): Promise<ToolResult> {
  const { name, signal } = steps
  try {
    // Most checks are synchronous, and waiting takes longer than they do.
    const checking = steps.validate()
    const checked = checking instanceof Promise ? await checking : checking
    if (checked.issues) return fail(steps.describeFault(checked.issues))
    signal?.throwIfAborted()
    const refusal = steps.approve && (await steps.approve(checked.value))
    if (refusal) return refusal
    signal?.throwIfAborted()
    const returned = await steps.run(checked.value)
    const result = steps.toResult ? steps.toResult(returned) : returned
    const fault = findResultFault(result)
    if (fault === undefined) return result as ToolResult
    const message = `Tool '${name}' failed: ${fault}`
    return fail(steps.onThrown?.(new TypeError(`Cannot read the result of the tool: ${fault}`)) ?? message)
  } catch (error) {
    if (signal?.aborted) return createAborted(name, signal)
    return fail(steps.onThrown?.(error) ?? describeThrown(name, error))
  }
}

/**
 * Describes the fault of a tool's return value. The value becomes part of a conversation, so it must be possible to
 * store and send it.
 */
function findResultFault(result: unknown): string | undefined {
  if (!isToolResult(result)) return 'it did not return a result. Its execute() must return ok(…) or fail(…).'
  if (!result.ok) return undefined
  const { images, opening } = result as { readonly images?: unknown; readonly opening?: unknown }
  if (images !== undefined && !(Array.isArray(images) && images.every(isImage)))
    return 'its images are not a list of { mimeType, data } with data as a Base64 string.'
  if (opening !== undefined && opening !== null && !isOpening(opening))
    return 'its opening does not have the lists keys, paths and tools.'
  return undefined
}

function isImage(image: unknown): boolean {
  return isObject(image) && typeof image['mimeType'] === 'string' && typeof image['data'] === 'string'
}

function isOpening(opening: unknown): boolean {
  if (!isObject(opening)) return false
  const { keys, paths, tools } = opening
  const isTexts = (list: unknown): boolean => Array.isArray(list) && list.every((item) => typeof item === 'string')
  return isTexts(keys) && isTexts(paths) && Array.isArray(tools)
}

function describeFault(name: string, tool: AnyTool, issues: readonly StandardSchemaV1.Issue[]): string {
  return `Wrong arguments for tool '${name}': ${describeIssues(issues)}. Its arguments are: ${JSON.stringify(tool.inputSchema)}`
}

function createAborted(name: string, { reason }: AbortSignal): ToolFailure {
  const isTimeout = getErrorType(reason) === 'TimeoutError'
  return fail(`Tool '${name}' ${isTimeout ? 'took too long and was stopped.' : 'was cancelled.'}`)
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
