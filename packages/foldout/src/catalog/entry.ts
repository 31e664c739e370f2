import { getErrorMessage } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import {
  fromJsonSchema,
  isToolSchema,
  toJsonSchema,
  type JsonSchema,
  type StandardSchemaV1,
} from '../core/schema/schema.ts'
import type { Session } from '../session/session.ts'
import { executeTool } from '../tools/execute.ts'
import type { ToolResult } from '../tools/result.ts'
import type { AnyTool } from '../tools/tool.ts'
import { qualifiedName } from './names.ts'
import { shortenDescription } from './signatures/short-description.ts'
import { isJson, readInputSchema, readOutputSchema } from './tool-schemas.ts'
import type {
  BrokenTool,
  CallContext,
  CallResult,
  CatalogEntry,
  CatalogInput,
  RawTool,
  ToolAnnotations,
  ToolMetadata,
} from './tool.ts'

/** All of an entry but the name that depends on its neighbours, and what runs it. */
export interface Candidate {
  readonly declared: string
  readonly qualified: string
  readonly source: string | undefined
  /** The entry under a name. */
  named(name: string): CatalogEntry
  readonly call: NonNullable<RawTool['call']> | undefined
  /** What is wrong with arguments; nothing where they are right or cannot be checked. */
  validate(args: unknown): Promise<readonly StandardSchemaV1.Issue[]>
}

export interface CandidateOptions {
  /** What is known of it beside its definition, whichever source it has. */
  readonly metadata: (declared: string, qualified: string) => ToolMetadata | undefined
  /** For tools made with `defineTool` that are called outside of a run. */
  readonly session: () => Session
}

/** Makes an entry of whatever a source gave. What is wrong with one part of a definition costs that part. */
export function readTool(input: CatalogInput, options: CandidateOptions): Candidate | BrokenTool {
  const given: unknown = input
  if (!isPlainObject(given)) return { source: undefined, name: '?', reason: 'Its definition is no object.' }
  const { name, title } = given
  const source = getText(given['source']) || undefined
  const shownName = [name, title].find((text): text is string => typeof text === 'string' && text.trim() !== '') ?? '?'
  if (typeof name !== 'string' || name.trim() === '')
    return { source, name: shownName, reason: 'Its definition has no name.' }
  try {
    return isDefinedTool(input)
      ? candidate(fromDefinedTool(input, options.session), source, options, input.params)
      : candidate(input, source, options)
  } catch (error) {
    return { source, name: shownName, reason: `Its definition cannot be read: ${getErrorMessage(error)}` }
  }
}

export function isBroken(read: Candidate | BrokenTool): read is BrokenTool {
  return 'reason' in read
}

function candidate(
  raw: RawTool,
  source: string | undefined,
  options: CandidateOptions,
  params?: StandardSchemaV1,
): Candidate {
  const qualified = qualifiedName(source, raw.name)
  const known = options.metadata(raw.name, qualified)
  const faults: string[] = []
  const title = readAs(getText, 'title', raw.title, faults)
  const description = readAs(getText, 'description', raw.description, faults) ?? ''
  const { schema: inputSchema, isCheckable } = readInputSchema(raw.inputSchema, faults)
  const category = readAs(getText, 'category', known?.category ?? raw.category, faults) ?? source
  const tags = readAs(getTexts, 'tags', known?.tags ?? raw.tags, faults) ?? []
  let short = readAs(getText, 'shortDescription', known?.shortDescription ?? raw.shortDescription, faults)
  const core = (known?.core ?? raw.core) === true
  const outputSchema = readOutputSchema(raw.outputSchema, faults)
  const annotations = readAs(getAnnotations, 'annotations', raw.annotations, faults)
  const icons = readAs(getIcons, 'icons', raw.icons, faults)
  const meta = readAs(toJsonObject, 'meta', raw.meta, faults)
  const problem = faults.length > 0 ? faults.join(' ') : undefined
  let schema = params
  return {
    declared: raw.name,
    qualified,
    source,
    named: (name) =>
      Object.freeze({
        name,
        qualified,
        declared: raw.name,
        source,
        title,
        description,
        // Most of a large catalog is never shown, and this takes as long as all the rest.
        get shortDescription() {
          return (short ??= shortenDescription({ name: raw.name, title, description, inputSchema }))
        },
        category,
        tags,
        core,
        inputSchema,
        outputSchema,
        annotations,
        icons,
        meta,
        problem,
      }),
    call: typeof raw.call === 'function' ? raw.call.bind(raw) : undefined,
    async validate(args) {
      if (!isCheckable && !params) return []
      try {
        schema ??= fromJsonSchema(inputSchema)
        return (await schema['~standard'].validate(args)).issues ?? []
      } catch {
        // A schema that cannot be used after all is its author's mistake, and must not make the tool useless.
        return []
      }
    },
  }
}

/** A field as it must be. One that is there and is something else is left out, and that is said. */
function readAs<T>(
  read: (value: unknown) => T | undefined,
  field: string,
  value: unknown,
  faults: string[],
): T | undefined {
  if (value === undefined || value === null) return undefined
  const found = read(value)
  if (found === undefined) faults.push(`Its ${field} cannot be read and is left out.`)
  return found
}

function getText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function getTexts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : undefined
}

function toJsonObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isPlainObject(value) && isJson(value) ? value : undefined
}

/** Clients refuse a whole list for one icon without a source, too. */
function getIcons(value: unknown): readonly unknown[] | undefined {
  const isIcon = (icon: unknown): boolean => isPlainObject(icon) && typeof icon['src'] === 'string' && isJson(icon)
  return Array.isArray(value) && value.every(isIcon) ? (value as readonly unknown[]) : undefined
}

function getAnnotations(value: unknown): ToolAnnotations | undefined {
  const annotations = toJsonObject(value)
  // Clients refuse a whole list for one hint of the wrong type.
  return (
    annotations &&
    Object.fromEntries(
      Object.entries(annotations).filter(([name, hint]) =>
        name === 'title' ? typeof hint === 'string' : !name.endsWith('Hint') || typeof hint === 'boolean',
      ),
    )
  )
}

function isDefinedTool(input: CatalogInput): input is AnyTool {
  return isPlainObject(input) && typeof input['execute'] === 'function' && 'params' in input
}

function fromDefinedTool(tool: AnyTool & ToolMetadata, session: () => Session): RawTool {
  const { category, tags, shortDescription, core } = tool
  const known = Object.entries({ category, tags, shortDescription, core }).filter(([, value]) => value !== undefined)
  const outputSchema = getOutputSchema(tool)
  return {
    ...Object.fromEntries(known),
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    ...(outputSchema ? { outputSchema } : {}),
    async call(args, context) {
      const result = await executeTool(tool, args, toolContext(context, session))
      if (!result.ok) context.signal?.throwIfAborted()
      return callResult(result, outputSchema !== undefined)
    },
  }
}

function getOutputSchema(tool: AnyTool): JsonSchema | undefined {
  if (!tool.result || !isToolSchema(tool.result)) return undefined
  try {
    const schema = toJsonSchema(tool.result, 'output')
    return schema['type'] === 'object' ? schema : undefined
  } catch {
    return undefined
  }
}

function toolContext(context: CallContext, session: () => Session): Parameters<typeof executeTool>[2] {
  return {
    session: context.session ?? session(),
    signal: context.signal ?? new AbortController().signal,
    deadline: context.deadline,
    filesystem: context.filesystem,
    prompt: context.prompt,
  }
}

function callResult(result: ToolResult, isStructured: boolean): CallResult {
  const content = [{ type: 'text', text: result.message }]
  if (!result.ok) return { content, isError: true }
  return isStructured && isPlainObject(result.value) ? { content, structuredContent: result.value } : { content }
}

export function failure(message: string): CallResult {
  return { content: [{ type: 'text', text: message }], isError: true }
}

/** A tool's answer as it is. One without content, which some servers leave out, gets an empty one. */
export function readResult(name: string, given: unknown): CallResult {
  if (!isPlainObject(given)) return failure(`Tool '${name}' failed: it gave no result.`)
  return Array.isArray(given['content']) ? (given as CallResult) : { ...given, content: [] }
}
