import type { ThrownByTool } from './thrown.ts'
import { FoldoutError, getErrorMessage } from '../core/errors.ts'
import { deepFreeze } from '../core/json/json.ts'
import {
  fromJsonSchema,
  isStandardSchema,
  isToolSchema,
  toJsonSchema,
  type InputOf,
  type JsonSchema,
  type OutputOf,
  type StandardSchemaV1,
  type ToolSchema,
} from '../core/schema/schema.ts'
import { toObjectSchema } from '../core/schema/object-schema.ts'
import type { ToolDefinition } from './definition.ts'
import type { Session } from '../session/session.ts'
import type { Filesystem } from '../files/filesystem.ts'
import type { ToolResult } from './result.ts'

/**
 * The prompt that offered a tool, as the tool sees it. A rendered prompt implements it.
 *
 * @example
 * ```ts
 * const view: PromptView = bound.render()
 * view.findSection('look') // => 'tasks'
 * ```
 */
export interface PromptView {
  readonly text: string
  readonly tools: readonly AnyTool[]
  /** The paths of the folded sections. */
  readonly summarized: readonly string[]
  /** Finds the open section that offers a tool, by the tool's name, and returns its path. */
  findSection(tool: string): string | undefined
}

/**
 * The context that a tool receives along with its params.
 *
 * @example
 * ```ts
 * const addToCart = defineTool({
 *   name: 'add_to_cart',
 *   description: 'Puts an item into the cart.',
 *   params: z.object({ item: z.string() }),
 *   execute: ({ item }, { session }: ToolContext) => {
 *     session.dispatch(cart.events.added(item))
 *     return ok(`${item} is in the cart.`)
 *   },
 * })
 * ```
 */
export interface ToolContext {
  readonly session: Session
  /** The id of the call: chosen by the model, or generated if a program made the call. */
  readonly callId?: string
  /**
   * Identifies this call among all calls of all conversations. A call that runs again after a crash has the same key,
   * so a tool can check whether it has already done its work.
   */
  readonly idempotencyKey?: string
  /**
   * A hash of the call that may run: because a person has approved it, or because it turned out not to need approval.
   * It is valid for this call only.
   */
  readonly clearedCall?: string
  /**
   * Why a person was asked about the call that this person has approved, as `needsApproval` said it then. It survives a
   * restart of the process, so a tool can check whether the call is still what was approved.
   */
  readonly approvedReason?: string
  /** Aborts when the run is cancelled or the call times out. */
  readonly signal: AbortSignal
  /** The deadline of the run. */
  readonly deadline: Date | undefined
  readonly filesystem: Filesystem | undefined
  /** The prompt as the model last saw it. */
  readonly prompt: PromptView | undefined
  /** Whether tools that this call adds leave everything before them in the provider's cache. Default false. */
  readonly addsInPlace?: boolean
  /** Called with what the tool throws, also by a tool that runs this one. May return the message for the model. */
  readonly onToolError?: (thrown: ThrownByTool) => string | undefined
}

/**
 * An example call that the model sees while the tool's section is open.
 *
 * @example
 * ```ts
 * const example: ToolExample<{ to: string }> = {
 *   description: 'To write to Ada',
 *   input: { to: 'ada@example.com' },
 *   output: 'Sent to ada@example.com.',
 * }
 * ```
 */
export interface ToolExample<Input = unknown> {
  /** The purpose of the call. */
  readonly description: string
  readonly input: Input
  /** The message that the model would receive. */
  readonly output: string
}

/**
 * The tool that a call ends up running, with its arguments.
 *
 * @example
 * ```ts
 * const target: CallTarget = { name: 'send_mail', arguments: { to: 'ada@example.com' } }
 * ```
 */
export interface CallTarget {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/**
 * The tool that a call ends up running, with its current definition.
 *
 * @example
 * ```ts
 * const target: FoundTarget = { name: 'mail/send', arguments: {}, annotations: { destructiveHint: false } }
 * ```
 */
export interface FoundTarget extends CallTarget {
  readonly definition?: Pick<ToolDefinition, 'description' | 'inputSchema'>
  readonly annotations?: ToolAnnotations
}

/**
 * Hints that a tool gives to clients, as in MCP. Some clients ask the user before a call that is not read-only.
 *
 * @example
 * ```ts
 * const annotations: ToolAnnotations = { readOnlyHint: true }
 * ```
 */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
  readonly [hint: string]: unknown
}

/**
 * Whether a person has to approve a call before it runs. A string is the reason, which that person reads.
 *
 * @example
 * ```ts
 * const needsApproval = (amount: number): ApprovalNeed => amount > 100 && `${amount} is a lot.`
 * ```
 */
export type ApprovalNeed = boolean | string

/**
 * A tool that a model can call. Define it with {@link defineTool}.
 *
 * @example
 * ```ts
 * const greet: Tool<'greet', ToolSchema<{ readonly name: string }>> = defineTool({
 *   name: 'greet',
 *   description: 'Greets a customer.',
 *   params: z.object({ name: z.string() }),
 *   execute: ({ name }) => ok(`Hello ${name}.`),
 * })
 * ```
 */
export interface Tool<Name extends string = string, Params extends ToolSchema = ToolSchema, Value = unknown> {
  readonly name: Name
  readonly description: string
  readonly params: Params
  /** The JSON Schema of the params that the provider receives, including overridden descriptions. */
  readonly inputSchema: JsonSchema
  readonly result: StandardSchemaV1<unknown, Value> | undefined
  readonly examples: readonly ToolExample[]
  /** Whether the tool must not run in parallel with other calls of the same turn. */
  readonly exclusive: boolean
  /**
   * For a tool that runs other tools: finds the tool that a call ends up running, for approval, policies and
   * recordings.
   */
  readonly target: ((params: unknown) => FoundTarget | undefined) | undefined
  readonly annotations?: ToolAnnotations
  /** Whether calls search for tools and add what they find to the conversation. */
  readonly findsTools?: boolean
  /** Decides whether a person has to approve a call. Absent if no call needs approval. */
  needsApproval?(params: OutputOf<Params>, context: ToolContext): Promise<ApprovalNeed> | ApprovalNeed
  // Method syntax keeps `execute` bivariant, so every tool is an AnyTool.
  execute(params: OutputOf<Params>, context: ToolContext): Promise<ToolResult<Value>> | ToolResult<Value>
}

/**
 * A tool with any name, params and value.
 *
 * @example
 * ```ts
 * const getNames = (tools: readonly AnyTool[]): readonly string[] => tools.map(({ name }) => name)
 * getNames([sendMail, setLight]) // => [ 'send_mail', 'set_light' ]
 * ```
 */
export type AnyTool = Tool<string, ToolSchema, unknown>

/** The schema of a tool's params. The values of a raw JSON Schema are untyped. */
export type ParamsSchema<P> = P extends ToolSchema ? P : ToolSchema<Readonly<Record<string, unknown>>>

/**
 * Options of {@link defineTool}.
 *
 * @example
 * ```ts
 * const options: ToolOptions<'ping', JsonSchema, string> = {
 *   name: 'ping',
 *   description: 'Checks whether the shop is open.',
 *   execute: () => ok('It is open.', 'open'),
 * }
 * const ping = defineTool(options)
 * ```
 */
export interface ToolOptions<Name extends string, Params extends ToolSchema | JsonSchema, Value> {
  /** The name: 1 to 64 letters, digits, underscores and hyphens. */
  readonly name: Name
  /** Tells the model what the tool does and when to call it. */
  readonly description: string
  /** The params: any Standard Schema that converts to JSON Schema, or a JSON Schema. Default: no params. */
  readonly params?: Params
  /** The schema of the value, for programs and callers that need typed results. */
  readonly result?: StandardSchemaV1<unknown, Value>
  /** Example calls, shown below the section's body while the section is open. */
  readonly examples?: readonly ToolExample<InputOf<ParamsSchema<NoInfer<Params>>>>[]
  /** Whether the tool must not run in parallel with other calls of the same turn. Default false. */
  readonly exclusive?: boolean
  /** For a tool that runs other tools: finds the tool that a call ends up running. */
  readonly target?: (params: unknown) => FoundTarget | undefined
  /** Hints about what the tool does, as in MCP. */
  readonly annotations?: ToolAnnotations
  /**
   * Whether calls search for tools and add what they find to the conversation. Adapters may then use the provider's own
   * form of such a search. Default false.
   */
  readonly findsTools?: boolean
  /**
   * Whether a person has to approve a call before it runs: `true` for every call, or a function that decides for each
   * call and may return the reason as a string. The function receives valid params and must only read the session.
   * `runAgent` then pauses; a call that cannot wait for a person fails. Default false.
   */
  readonly needsApproval?:
    | boolean
    | ((params: OutputOf<ParamsSchema<NoInfer<Params>>>, context: ToolContext) => ApprovalNeed | Promise<ApprovalNeed>)
  /** Runs the tool and returns `ok(message, value)` or `fail(message)`. A thrown error becomes a failure. */
  execute(params: OutputOf<ParamsSchema<Params>>, context: ToolContext): Promise<ToolResult<Value>> | ToolResult<Value>
}

export const TOOL_NAME_PATTERN = /^[a-zA-Z0-9_-]{1,64}$/

const NO_PARAMS: JsonSchema = deepFreeze({ type: 'object', properties: {}, additionalProperties: false })

/**
 * Defines a tool that models can call: a name, a description, params as a schema, and the function that runs.
 *
 * @example
 * ```ts
 * const getWeather = defineTool({
 *   name: 'get_weather',
 *   description: 'Returns the current weather of a city.',
 *   params: z.object({ city: z.string() }),
 *   execute: ({ city }) => ok(`It is sunny in ${city}.`),
 * })
 * ```
 */
export function defineTool<
  const Name extends string,
  Params extends ToolSchema | JsonSchema = { readonly type: 'object' },
  Value = unknown,
>(options: ToolOptions<Name, Params, Value>): Tool<Name, ParamsSchema<Params>, Value> {
  const { name } = options
  if (!TOOL_NAME_PATTERN.test(name)) {
    throw new FoldoutError(
      'tool-invalid',
      `'${name}' cannot name a tool. Use 1 to 64 letters, digits, underscores and hyphens.`,
    )
  }
  checkParts(options)
  const params = toolSchema(name, options.params ?? NO_PARAMS)
  const tool: AnyTool = {
    name,
    description: options.description,
    params,
    inputSchema: getInputSchema(name, params),
    result: options.result,
    examples: Object.freeze([...(options.examples ?? [])]),
    exclusive: options.exclusive ?? false,
    target: options.target,
    ...(options.annotations && { annotations: deepFreeze(structuredClone(options.annotations)) }),
    ...(options.findsTools === true && { findsTools: true }),
    ...getNeedsApproval(name, options.needsApproval),
    // Called as a method of the options, so an `execute` that uses `this` keeps working.
    execute: (input, context) => options.execute(input as never, context),
  }
  return Object.freeze(tool) as Tool<Name, ParamsSchema<Params>, Value>
}

/** Rejects mistakes that otherwise only the compiler would notice, before a model calls the tool. */
function checkParts(options: { readonly name: string }): void {
  const { name, description, execute, params } = options as Partial<Record<string, unknown>> & { readonly name: string }
  const fault = (what: string): FoldoutError => new FoldoutError('tool-invalid', `The tool '${name}' ${what}`)
  if (typeof description !== 'string')
    throw fault('has no description. Models choose tools by their descriptions: pass a text.')
  if (typeof execute !== 'function')
    throw fault('has no execute(). Pass the function that runs when the model calls it.')
  if (params !== undefined && params !== null && typeof params !== 'object' && typeof params !== 'function')
    throw fault(`has params that are a ${typeof params}. Pass a schema of an object, such as z.object({ … }).`)
}

function getNeedsApproval(name: string, need: unknown): Pick<AnyTool, 'needsApproval'> {
  if (need === undefined || need === false) return {}
  if (need === true) return { needsApproval: () => true }
  if (typeof need === 'function') return { needsApproval: need as NonNullable<AnyTool['needsApproval']> }
  throw new FoldoutError(
    'tool-invalid',
    `The needsApproval of tool '${name}' is neither a boolean nor a function. Pass true, or a function that decides for each call.`,
  )
}

function toolSchema(name: string, params: ToolSchema | JsonSchema): ToolSchema {
  if (!isStandardSchema(params)) return fromJsonSchema(params)
  if (isToolSchema(params)) return params
  const { vendor } = (params as StandardSchemaV1)['~standard']
  const advice =
    vendor === 'valibot'
      ? ' Wrap it in toStandardJsonSchema() from @valibot/to-json-schema.'
      : ' Pass the JSON Schema itself, or use fromJsonSchema().'
  throw new FoldoutError(
    'tool-invalid',
    `The params of tool '${name}' are a ${vendor} schema that cannot be converted to JSON Schema, which the model needs.${advice}`,
  )
}

function getInputSchema(name: string, params: ToolSchema): JsonSchema {
  let schema: JsonSchema | undefined
  try {
    schema = toObjectSchema(structuredClone(toJsonSchema(params, 'input')))
    if (schema) return deepFreeze(schema)
  } catch (error) {
    throw new FoldoutError(
      'tool-invalid',
      `The params of tool '${name}' cannot be converted to JSON Schema: ${getErrorMessage(error)}. Use types that JSON has, and convert them in execute().`,
      { cause: error },
    )
  }
  throw new FoldoutError(
    'tool-invalid',
    `The params of tool '${name}' are not the schema of an object. Models call tools with named arguments: wrap the schema in an object, as in z.object({ value: … }).`,
  )
}

/**
 * What some tools belong to, such as a server or a section.
 *
 * @example
 * ```ts
 * const group: ToolGroup = { name: 'home', description: 'Lights, heating and doors.' }
 * ```
 */
export interface ToolGroup {
  readonly name: string
  readonly description: string
}
