import type { CatalogEntry } from '../tool.ts'
import { toIdentifier } from './identifier.ts'
import { docBlock } from './jsdoc.ts'
import { oneLine } from './schema/literal.ts'
import { alternativesAt, fieldsAt, kindsAt, getSchemaView } from './schema/schema-view.ts'
import { rulesAt } from './rules.ts'
import { typeDeclarations, typeScriptType, typeWriting } from './type-text.ts'

export type StubbedTool = Pick<
  CatalogEntry,
  'name' | 'source' | 'description' | 'inputSchema' | 'outputSchema' | 'learnedOutput'
>

export interface StubOptions {
  /** The name of the function. Default: the tool's name as an identifier. */
  readonly identifier?: string
  /** The folder under `servers/`. Default: the tool's source as an identifier, or `local`. */
  readonly server?: string
  /** The type of a result without a schema, and a note about it. */
  readonly untyped?: { readonly type: string; readonly note: string }
}

/** A declaration file for one tool. */
export interface Stub {
  /** `servers/<server>/<function>.d.ts`. */
  readonly path: string
  readonly identifier: string
  readonly text: string
}

const UNTYPED = {
  type: 'unknown',
  note: "The tool's text, parsed if it is JSON; a list of content parts if it is more than text.",
}

/** Declares a tool as a function that TypeScript written by a model can call. */
export function formatStub(tool: StubbedTool, options: StubOptions = {}): Stub {
  const identifier = options.identifier ?? toIdentifier(tool.name)
  const server = options.server ?? (tool.source === undefined ? 'local' : toIdentifier(tool.source))
  const { type: untyped, note } = options.untyped ?? UNTYPED
  const taken = new Set([identifier])
  const input = typeWriting(tool.inputSchema, taken)
  const parameter = parameterText(tool, typeScriptType(input, tool.inputSchema ?? {}, '', true))
  const returned = tool.outputSchema ?? tool.learnedOutput?.schema
  const output = typeWriting(returned, taken)
  const result = returned === undefined ? untyped : typeScriptType(output, returned, '', true)
  const declarations = [...typeDeclarations(input), ...typeDeclarations(output)]
  const text = [
    ...declarations,
    docBlock([
      getDescription(tool),
      ...rulesAt(getSchemaView(tool.inputSchema, tool.inputSchema)).map((rule) => `Note: ${rule}.`),
      ...(tool.outputSchema === undefined ? [`@returns ${describeLearned(tool) ?? note}`] : []),
    ]),
    `export declare function ${identifier}(${parameter}): Promise<${result}>`,
  ]
  return { path: `servers/${server}/${identifier}.d.ts`, identifier, text: `${text.join('\n')}\n` }
}

function describeLearned({ learnedOutput }: StubbedTool): string | undefined {
  if (learnedOutput) return `As seen in ${learnedOutput.results} results. The tool does not promise it.`
  return undefined
}

const MAX_DESCRIPTION = 2_000

function getDescription({ name, description }: StubbedTool): string {
  if (typeof description !== 'string' || description.trim() === '') return `Calls ${oneLine(name)}.`
  if (description.length > MAX_DESCRIPTION) return `${description.slice(0, MAX_DESCRIPTION)}…`
  return description
}

function parameterText(tool: StubbedTool, type: string): string {
  const view = getSchemaView(tool.inputSchema, tool.inputSchema)
  const kinds = kindsAt(view)
  const isObject = kinds.length === 0 || kinds.includes('object')
  const mayBeLeftOff =
    isObject && !view.never && alternativesAt(view).length === 0 && !fieldsAt(view).some(({ required }) => required)
  const known = type === 'unknown' && isObject && !view.never ? 'Record<string, unknown>' : type
  return `input${mayBeLeftOff ? '?' : ''}: ${known}`
}
