import { checkNumbers } from '../../core/check-number.ts'
import { deferPattern } from '../../core/defer-pattern.ts'
import type { JsonSchema } from '../../core/schema/schema.ts'
import { estimatedTokens, type TokenCounter } from '../../core/tokens/tokens.ts'
import type { CatalogEntry } from '../tool.ts'
import { schemaText } from './schema/compact-schema.ts'
import { fieldName, literal } from './schema/literal.ts'
import {
  fieldText,
  MAX_FIELDS,
  createNotation,
  openText,
  optionalText,
  getShownFields,
  typeText,
  type Detail,
  type Notation,
} from './notation.ts'
import {
  alternativesAt,
  fieldsAt,
  kindsAt,
  getSchemaView,
  takesAnyFields,
  type SchemaView,
} from './schema/schema-view.ts'
import { isRule, rulesAt } from './rules.ts'

export type SignedTool = Pick<CatalogEntry, 'name' | 'inputSchema' | 'outputSchema'>

export interface SignatureOptions {
  /**
   * What to show: only the name, a signature that is enough for a call, or the JSON Schema of the arguments. Default
   * `signature`.
   */
  readonly detail?: 'names' | 'signature' | 'schema'
  /**
   * The maximum number of tokens. Anything beyond it is left out, least important first, and counted. Default 140; no
   * limit for a schema.
   */
  readonly maxTokens?: number
  /** How many choices of a value are shown in full. Of more, the first six are shown, and the others counted. Default 24. */
  readonly maxValues?: number
  /** The token counter. Default: an estimate. */
  readonly counter?: TokenCounter
}

/** A signature, and whether it shows everything in the schema. */
export interface Signature {
  readonly text: string
  readonly whole: boolean
}

const MAX_TOKENS = 140

/** From everything to the minimum that a call needs. */
const DETAILS: readonly Detail[] = [
  { depth: 4, values: 24, branches: 10, hints: 'all', optionalInside: true },
  { depth: 4, values: 24, branches: 8, hints: 'required', optionalInside: true },
  { depth: 3, values: 16, branches: 6, hints: 'required', optionalInside: true },
  { depth: 3, values: 12, branches: 6, hints: 'required', optionalInside: false },
]
const BAREST: Detail = { depth: 0, values: 4, branches: 3, hints: 'none', optionalInside: false }
const SPARE: readonly Detail[] = [
  { depth: 2, values: 10, branches: 5, hints: 'required', optionalInside: false },
  { depth: 1, values: 6, branches: 4, hints: 'none', optionalInside: false },
  BAREST,
]

/**
 * Formats a tool in one line: `set_light(device_id: string, power?: "on"|"off", brightness?: int 0..100 = 100)`. The
 * arguments are the fields of one object, required ones first. Omitted arguments are counted: `+3 optional`.
 *
 * @example
 * for (const tool of catalog.tools) console.log(formatSignature(tool, { maxTokens: 60 }))
 */
export function formatSignature(tool: SignedTool, options: SignatureOptions = {}): string {
  checkNumbers({ maxTokens: options.maxTokens, maxValues: options.maxValues }, { code: 'mcp-options' })
  return describeSignature(tool, options).text
}

/** Like `formatSignature`, but also says whether something was left out. */
export function describeSignature(tool: SignedTool, options: SignatureOptions = {}): Signature {
  const { detail = 'signature', maxTokens, maxValues = Infinity, counter = estimatedTokens } = options
  if (detail === 'names') return { text: toolName(tool.name), whole: false }
  if (detail === 'schema') {
    return schemaText(tool.inputSchema, { name: tool.name, maxTokens: maxTokens ?? Infinity, counter })
  }
  const limit = maxTokens ?? MAX_TOKENS
  const fits = (text: string): boolean => counter.count(text) <= limit
  const signature = fitSignature(tool, maxValues, fits)
  const result = resultText(tool.outputSchema)
  const withResult = signature.text + result
  if (result !== '' && fits(withResult)) return { text: withResult, whole: signature.whole }
  return signature
}

const getToolName = deferPattern(String.raw`^[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.:/@-]*$`, 'u')

function toolName(name: unknown): string {
  const text = String(name)
  if (getToolName().test(text)) return text
  return literal(text) ?? text
}

function fitSignature(tool: SignedTool, maxValues: number, fits: (text: string) => boolean): Signature {
  const view = getSchemaView(tool.inputSchema, tool.inputSchema)
  const recursive = new Map<JsonSchema, string>()
  const compose = (detail: Detail, show: Shown): Signature =>
    composeSignature(tool, view, { ...detail, values: Math.min(detail.values, maxValues) }, show, recursive)
  let last: Signature | undefined
  for (const detail of DETAILS) {
    last = compose(detail, EVERYTHING)
    if (fits(last.text)) return last
  }
  const fields = fieldsAt(view)
  const optional = Math.min(fields.filter((field) => !field.required).length, MAX_FIELDS)
  const required = Math.min(fields.filter((field) => field.required).length, MAX_FIELDS)
  for (const detail of SPARE) {
    const shown =
      findMost(optional, (typed) => compose(detail, { ...EVERYTHING, typed }), fits) ??
      findMost(optional, (named) => compose(detail, { ...EVERYTHING, typed: 0, named }), fits)
    if (shown) return shown
  }
  const bare = { typed: 0, named: 0 }
  return (
    findMost(required, (typedRequired) => compose(BAREST, { ...EVERYTHING, ...bare, typedRequired }), fits) ??
    findMost(required, (required) => compose(BAREST, { ...bare, typedRequired: 0, required }), fits) ?? {
      text: `${toolName(tool.name)}(...)`,
      whole: false,
    }
  )
}

/** How many arguments are shown, and how many of them with their types. */
interface Shown {
  readonly required: number
  readonly typedRequired: number
  readonly named: number
  readonly typed: number
}

const EVERYTHING: Shown = { required: MAX_FIELDS, typedRequired: MAX_FIELDS, named: MAX_FIELDS, typed: MAX_FIELDS }

/** Finds the signature with the highest count that fits; `undefined` if not even a count of 0 does. */
function findMost(
  highest: number,
  of: (count: number) => Signature,
  fits: (text: string) => boolean,
): Signature | undefined {
  let best: Signature | undefined
  for (let low = 0, high = highest; low <= high;) {
    const count = Math.floor((low + high) / 2)
    const signature = of(count)
    if (fits(signature.text)) {
      best = signature
      low = count + 1
    } else {
      high = count - 1
    }
  }
  return best
}

function composeSignature(
  tool: SignedTool,
  view: SchemaView,
  detail: Detail,
  show: Shown,
  recursive: Map<JsonSchema, string>,
): Signature {
  const known = recursive.size
  const writing = createNotation(tool.inputSchema, detail, recursive)
  const name = toolName(tool.name)
  const inside = argumentsText(writing, view, show)
  const definitions: string[] = []
  for (const schema of writing.called) {
    const called = recursive.get(schema) ?? 'Type'
    const text =
      schema === tool.inputSchema
        ? 'the arguments'
        : typeText(writing, schema, { name: called, depth: 0, hinted: false })
    definitions.push(`${called} = ${text}`)
  }
  // If a schema turned out to contain itself, everything is written again with its name.
  if (recursive.size > known) return composeSignature(tool, view, detail, show, recursive)
  const rules = rulesAt(view)
  const text = [
    `${name}(${inside})`,
    ...(rules.length > 0 ? [`/* ${rules.join('; ').replaceAll('*/', '* /')} */`] : []),
    ...(definitions.length > 0 ? [`where ${definitions.join(', ')}`] : []),
  ].join(' ')
  return { text, whole: !writing.cut }
}

function argumentsText(writing: Notation, view: SchemaView, show: Shown): string {
  if (view.never) return 'never'
  const fields = getShownFields(writing, view)
  const kinds = kindsAt(view)
  const isUnion = alternativesAt(view).some(({ branches }) => branches.filter((branch) => !isRule(branch)).length > 1)
  if (isUnion || (kinds.length > 0 && !kinds.includes('object'))) {
    return typeText(writing, writing.root, { name: 'Args', depth: 0, hinted: true })
  }
  const required = fields.filter((field) => field.required)
  const optional = fields.filter((field) => !field.required)
  for (const part of view.parts) writing.within.set(part, part === writing.root ? 'Args' : 'Arguments')
  const texts = [
    ...required
      .slice(0, show.required)
      .map((field, at) => (at < show.typedRequired ? fieldText(writing, field, 1) : fieldName(field.name))),
    ...(required.length > show.required ? [`+${required.length - show.required} required`] : []),
    ...optional
      .slice(0, show.named)
      .map((field, at) => (at < show.typed ? fieldText(writing, field, 1) : `${fieldName(field.name)}?`)),
    ...optionalText(writing, optional.length - show.named),
    ...openText(writing, view, 0),
  ]
  for (const part of view.parts) writing.within.delete(part)
  if (required.length > Math.min(show.required, show.typedRequired) || optional.length > show.typed) writing.cut = true
  if (texts.length === 0 && takesAnyFields(view)) return '...'
  return texts.join(', ')
}

const MAX_RESULT_FIELDS = 8

/** Meaningless names, because any tool could return them. */
const MEANINGLESS_NAMES = new Set(['content', 'result', 'output', 'response', 'data', 'value', 'text'])

/** Formats the fields of the result without types: ` -> {a, b}`. */
function resultText(schema: unknown): string {
  if (schema === undefined) return ''
  const names = fieldsAt(getSchemaView(schema, schema)).map(({ name }) => fieldName(name))
  if (names.every((name) => MEANINGLESS_NAMES.has(name))) return ''
  const shown = names.length > MAX_RESULT_FIELDS ? names.slice(0, MAX_RESULT_FIELDS - 1) : names
  const more = names.length - shown.length
  return ` -> {${[...shown, ...(more > 0 ? [`+${more}`] : [])].join(', ')}}`
}
