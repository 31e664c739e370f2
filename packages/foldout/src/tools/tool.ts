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
import type { TokenCounter } from '../core/tokens/tokens.ts'
import type { Session } from '../session/session.ts'
import type { Filesystem } from '../files/filesystem.ts'
import type { ToolResult } from './result.ts'

/** What is known of the prompt a tool was offered by. A rendered prompt is one. */
export interface PromptView {
  readonly text: string
  readonly tools: readonly AnyTool[]
  /** Paths of the sections shown as summaries. */
  readonly summarized: readonly string[]
  /** The path of the open section that offers a tool, by the tool's name. */
  findSection(tool: string): string | undefined
}

export interface ToolContext {
  readonly session: Session
  /** Aborts when the run is cancelled or the call's time is over. */
  readonly signal: AbortSignal
  /** When the run must be finished. */
  readonly deadline: Date | undefined
  readonly filesystem: Filesystem | undefined
  /** The prompt as the model last saw it. */
  readonly prompt: PromptView | undefined
}

export interface ToolExample<Input = unknown> {
  /** What the call is for. */
  readonly description: string
  readonly input: Input
  /** The message the model would get. */
  readonly output: string
}

/** A tool that runs in the end, and what it gets. */
export interface CallTarget {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

export interface Tool<Name extends string = string, Params extends ToolSchema = ToolSchema, Value = unknown> {
  readonly name: Name
  readonly description: string
  readonly params: Params
  /** What reaches the model's provider: the params as JSON Schema, with overridden descriptions where there are any. */
  readonly inputSchema: JsonSchema
  readonly result: StandardSchemaV1<unknown, Value> | undefined
  readonly examples: readonly ToolExample[]
  /** Whether it must not run beside other calls of the same turn. */
  readonly exclusive: boolean
  /** The tool that a call runs in the end and with what, where it is another: for approval, policy and records. */
  readonly target: ((params: unknown) => CallTarget | undefined) | undefined
  // Method syntax keeps `execute` bivariant, so that every tool is an AnyTool.
  execute(params: OutputOf<Params>, context: ToolContext): Promise<ToolResult<Value>> | ToolResult<Value>
}

export type AnyTool = Tool<string, ToolSchema, unknown>

/** The schema that a tool's params make: themselves, or a raw JSON Schema, whose values nothing is known of. */
export type ParamsSchema<P> = P extends ToolSchema ? P : ToolSchema<Readonly<Record<string, unknown>>>

export interface ToolOptions<Name extends string, Params extends ToolSchema | JsonSchema, Value> {
  /** 1 to 64 letters, digits, underscores and hyphens. */
  readonly name: Name
  /** What the model reads to decide when to call it. */
  readonly description: string
  /** Any Standard Schema that can say itself as JSON Schema, or a JSON Schema. Default: no params. */
  readonly params?: Params
  /** The shape of the value, for programs and for callers that want typed results. */
  readonly result?: StandardSchemaV1<unknown, Value>
  /** Shown below the section's body while the section is open. */
  readonly examples?: readonly ToolExample<InputOf<ParamsSchema<NoInfer<Params>>>>[]
  /** Whether it must not run beside other calls of the same turn. Default false. */
  readonly exclusive?: boolean
  /** What a call comes down to, for a tool that runs others. */
  readonly target?: (params: unknown) => CallTarget | undefined
  /** Returns `ok(message, value)` or `fail(message)`. What it throws becomes a failure. */
  execute(params: OutputOf<ParamsSchema<Params>>, context: ToolContext): Promise<ToolResult<Value>> | ToolResult<Value>
}

export const TOOL_NAME_PATTERN = /^[a-zA-Z0-9_-]{1,64}$/

const NO_PARAMS: JsonSchema = deepFreeze({ type: 'object', properties: {}, additionalProperties: false })

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
    // Called as a method of the options, so that an `execute` that uses `this` keeps working.
    execute: (input, context) => options.execute(input as never, context),
  }
  return Object.freeze(tool) as Tool<Name, ParamsSchema<Params>, Value>
}

function toolSchema(name: string, params: ToolSchema | JsonSchema): ToolSchema {
  if (!isStandardSchema(params)) return fromJsonSchema(params)
  if (isToolSchema(params)) return params
  const { vendor } = (params as StandardSchemaV1)['~standard']
  const advice =
    vendor === 'valibot'
      ? ' Wrap it in toStandardJsonSchema() of @valibot/to-json-schema.'
      : ' Give the JSON Schema itself, or use fromJsonSchema().'
  throw new FoldoutError(
    'tool-invalid',
    `The params of tool '${name}' are a ${vendor} schema that cannot say itself as JSON Schema, which the model needs.${advice}`,
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
      `The params of tool '${name}' cannot be said as JSON Schema: ${getErrorMessage(error)}. Use types that JSON has, and turn them into others in execute().`,
      { cause: error },
    )
  }
  throw new FoldoutError(
    'tool-invalid',
    `The params of tool '${name}' are not a schema of an object. Models call tools with named arguments: wrap it in one, as in z.object({ value: … }).`,
  )
}

/** What a provider is told of a tool, in the order in which it is counted and hashed. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

export function toolDefinition(tool: ToolDefinition): ToolDefinition {
  return { name: tool.name, description: tool.description, inputSchema: tool.inputSchema }
}

/** What a tool's definition costs in every request that offers it. */
export function toolTokens(tool: ToolDefinition, counter: TokenCounter): number {
  return counter.count(definitionText(tool))
}

const definitionTexts = new WeakMap<object, string>()

function definitionText(tool: ToolDefinition): string {
  let text = definitionTexts.get(tool)
  if (text === undefined) definitionTexts.set(tool, (text = JSON.stringify(toolDefinition(tool))))
  return text
}
