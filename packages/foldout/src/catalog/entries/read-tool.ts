import { getErrorMessage } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import {
  fromJsonSchema,
  isToolSchema,
  toJsonSchema,
  type JsonSchema,
  type StandardSchemaV1,
} from '../../core/schema/schema.ts'
import { shorten } from '../../core/text.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import type { Session } from '../../session/session.ts'
import { readCallResult, wrapAnswer } from '../../tools/convert-result.ts'
import {
  checkArguments,
  createThrownHandler,
  executeCall,
  executeTool,
  type CallSteps,
  type ExecuteOptions,
} from '../../tools/execute.ts'
import type { ToolResult } from '../../tools/result.ts'
import type { AnyTool, ApprovalNeed, ToolContext } from '../../tools/tool.ts'
import { MAX_NAME_LENGTH } from '../limits.ts'
import type { LearnedOutput } from '../learned-output.ts'
import { getQualifiedName } from '../names.ts'
import type { BrokenTool, CallContext, CatalogEntry, CatalogInput, ToolMetadata } from '../tool.ts'
import { createEntry, Definition } from './entry.ts'
import { readText } from 'foldout-shared/values'
import { readFields } from './read-fields.ts'
import { addLearnedOutput, readInputSchema, readOutputSchema } from './schemas.ts'

/** What the catalog adds to a call: the name that models see, the message for wrong arguments, and the approval. */
export type CallSettings = Pick<CallSteps, 'name' | 'describeFault'> & Pick<ExecuteOptions, 'approve' | 'isCleared'>

/** A tool that was read. It still lacks the name that models see, because that depends on the other tools. */
export interface PreparedTool {
  readonly declared: string
  readonly qualified: string
  readonly source: string | undefined
  createEntry(name: string): CatalogEntry
  /** Runs the tool; `undefined` if the catalog has only its definition. */
  readonly call:
    | ((args: Readonly<Record<string, unknown>>, context: CallContext, settings: CallSettings) => Promise<ToolResult>)
    | undefined
  /** Whether the tool declares a schema for its values. */
  readonly isStructured: boolean
  /**
   * Whether a person has to approve a call: the tool decides first, then the catalog. A call with wrong arguments needs
   * no approval.
   */
  findNeed(
    args: Readonly<Record<string, unknown>>,
    context: CallContext,
    policy: () => ApprovalNeed | Promise<ApprovalNeed>,
  ): Promise<ApprovalNeed>
}

export interface ReadToolOptions {
  /** The source, which overrides the one in the definition. */
  readonly source?: string
  /** Finds additional information about a tool. */
  readonly metadata: (declared: string, qualified: string) => ToolMetadata | undefined
  /** What was learned about the results of tools, by qualified name. */
  readonly outputs?: Readonly<Record<string, LearnedOutput>> | undefined
  /** Returns the session for tools made with `defineTool` that are called outside a run. */
  readonly session: () => Session
}

/** Reads a definition from a source. If one part of it is wrong, only that part is left out. */
export function readTool(input: CatalogInput, options: ReadToolOptions): PreparedTool | BrokenTool {
  const known: { source: string | undefined; name: string } = { source: options.source, name: '?' }
  const createBroken = (reason: string): BrokenTool => ({ ...known, reason })
  try {
    const given: unknown = input
    if (!isObject(given)) return createBroken('Its definition is not an object.')
    known.source = toVisibleText(options.source ?? readText(given['source']) ?? '') || undefined
    const { name } = given
    const isNamed = typeof name === 'string' && name.trim() !== ''
    known.name = describeName(isNamed ? name : given['title'])
    if (!isNamed) return createBroken('Its definition has no name.')
    const longest = Math.max(name.length, known.source?.length ?? 0)
    if (longest > MAX_NAME_LENGTH)
      return createBroken(`Its name or source has ${longest} characters. At most ${MAX_NAME_LENGTH} are allowed.`)
    if (isDefinedTool(input)) return prepareDefinedTool(input, known.source, options)
    return prepareRawTool(given, name, known.source, options)
  } catch (error) {
    return createBroken(`Its definition cannot be read: ${getErrorMessage(error)}`)
  }
}

/** Gets a name for a message, or `?`. */
function describeName(name: unknown): string {
  if (typeof name === 'string') return shorten(toVisibleText(name.slice(0, MAX_NAME_LENGTH)).trim()) || '?'
  return '?'
}

export function isBroken(read: PreparedTool | BrokenTool): read is BrokenTool {
  return 'reason' in read
}

function prepareRawTool(
  given: Readonly<Record<string, unknown>>,
  name: string,
  source: string | undefined,
  options: ReadToolOptions,
): PreparedTool {
  const definition = readDefinition(given, { name, source, options })
  return prepare(definition, createRawCalls(given, definition))
}

/** The functions that run a tool and decide whether a call needs approval. */
type Calls = Pick<PreparedTool, 'call' | 'findNeed' | 'isStructured'>

function createRawCalls(given: Readonly<Record<string, unknown>>, { input }: Definition): Calls {
  const { call: run } = given
  const watchesSignal = given['watchesSignal'] === true
  let checker: StandardSchemaV1 | undefined
  const validate = (args: unknown): ReturnType<CallSteps['validate']> => {
    if (!input.isCheckable) return { value: args }
    try {
      checker ??= fromJsonSchema(input.shown)
      return checker['~standard'].validate(args)
    } catch {
      // Even if the schema turns out to be unusable, the tool must still work.
      return { value: args }
    }
  }
  const findNeed: PreparedTool['findNeed'] = async (args, _context, policy) =>
    (await validate(args)).issues === undefined && policy()
  // Its own answer already has structured content.
  const isStructured = false
  if (typeof run !== 'function') return { findNeed, call: undefined, isStructured }
  const call: PreparedTool['call'] = (args, context, settings) => {
    const { name, describeFault, approve } = settings
    // Functions come before what is copied: V8 gives each copy that gets functions afterwards a class of its own, which keeps the
    // whole call alive until all memory is collected.
    return executeCall({
      name,
      signal: context.signal,
      watchesSignal,
      validate: () => validate(args),
      run: () => Reflect.apply(run, given, [args, context]) as unknown,
      toResult: (answer) => wrapAnswer(readCallResult(name, answer)),
      describeFault,
      ...(context.onToolError && { onThrown: createThrownHandler(name, context) }),
      ...(approve && { approve }),
    })
  }
  return { findNeed, call, isStructured }
}

function prepareDefinedTool(
  tool: AnyTool & ToolMetadata,
  source: string | undefined,
  options: ReadToolOptions,
): PreparedTool {
  const outputSchema = getOutputSchema(tool)
  const { category, tags, shortDescription, core, name, description, inputSchema, annotations } = tool
  const given = { category, tags, shortDescription, core, description, inputSchema, outputSchema, annotations }
  return prepare(readDefinition(given, { name, source, options }), {
    isStructured: outputSchema !== undefined,
    call: (args, context, settings) => executeTool(tool, args, createToolContext(context, options.session), settings),
    async findNeed(args, context, policy) {
      const checked = await checkArguments(tool, args)
      if (checked.issues) return false
      const inner = createToolContext(context, options.session)
      const own = tool.needsApproval && (await tool.needsApproval(checked.value, inner))
      if (tool.needsApproval && own !== false) return own ?? true
      return policy()
    },
  })
}

function readDefinition(
  given: Readonly<Record<string, unknown>>,
  tool: { readonly name: string; readonly source: string | undefined; readonly options: ReadToolOptions },
): Definition {
  const { name: declared, source, options } = tool
  const qualified = getQualifiedName(source, declared)
  const faults: string[] = []
  const fields = readFields(given, options.metadata(declared, qualified), faults)
  const { outputs = {} } = options
  const learned = Object.hasOwn(outputs, qualified) ? outputs[qualified] : undefined
  const schemas = {
    input: readInputSchema(given['inputSchema']),
    output: addLearnedOutput(readOutputSchema(given['outputSchema']), learned),
  }
  return new Definition({ declared, qualified, source }, fields, schemas, faults)
}

function prepare(definition: Definition, calls: Calls): PreparedTool {
  const { declared, qualified, source } = definition
  return { declared, qualified, source, createEntry: (name) => createEntry(name, definition), ...calls }
}

function isDefinedTool(input: CatalogInput): input is AnyTool {
  return isObject(input) && typeof input['execute'] === 'function' && 'params' in input
}

function getOutputSchema(tool: AnyTool): JsonSchema | undefined {
  if (!tool.result || !isToolSchema(tool.result)) return undefined
  try {
    const schema = toJsonSchema(tool.result, 'output')
    if (schema['type'] === 'object') return schema
    return undefined
  } catch {
    return undefined
  }
}

function createToolContext(context: CallContext, session: () => Session): ToolContext {
  return {
    session: context.session ?? session(),
    signal: context.signal ?? new AbortController().signal,
    deadline: context.deadline,
    filesystem: context.filesystem,
    prompt: context.prompt,
    ...(context.callId !== undefined && { callId: context.callId }),
    ...(context.idempotencyKey !== undefined && { idempotencyKey: context.idempotencyKey }),
    ...(context.clearedCall !== undefined && { clearedCall: context.clearedCall }),
    ...(context.onToolError && { onToolError: context.onToolError }),
  }
}
