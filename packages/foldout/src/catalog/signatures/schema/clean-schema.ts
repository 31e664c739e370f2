import { deferPattern } from '../../../core/defer-pattern.ts'
import { isObject } from 'foldout-shared/values'
import type { JsonSchema } from '../../../core/schema/schema.ts'
import { literal, oneLine } from './literal.ts'
import { kindsAt, getSchemaView, resolveReference } from './schema-view.ts'
import { listAt } from '../../../core/schema/shape.ts'

/** How much of a schema is kept. */
export interface Kept {
  /** Longer descriptions are cut. */
  readonly description: number
  /** Longer enums are cut. */
  readonly values: number
  readonly depth: number
  /** Whether optional fields are kept. */
  readonly optional: boolean
}

export interface CleanedSchema {
  readonly schema: unknown
  /** Whether anything was left out that a call might need. */
  readonly cut: boolean
}

interface Cleaning {
  readonly root: unknown
  readonly inline: boolean
  readonly kept: Kept
  readonly within: Set<object>
  left: number
  cut: boolean
}

const MAX_NODES = 5_000

/**
 * Copies a schema with its keywords in a fixed order and without anything that is useless to a caller. `inline`
 * replaces references with their targets.
 */
export function cleanSchema(
  root: unknown,
  schema: unknown,
  kept: Kept,
  options: { readonly name: string; readonly inline?: boolean },
): CleanedSchema {
  const { name, inline = false } = options
  const cleaning = { root, inline, kept, within: new Set<object>(), left: MAX_NODES, cut: false }
  const cleaned = cleanAt(cleaning, schema, name, 0)
  return { schema: inline ? cleaned : withoutUnused(cleaned), cut: cleaning.cut }
}

const SCHEMA_KEYWORDS = new Set(
  (
    'items additionalProperties additionalItems unevaluatedProperties unevaluatedItems contains propertyNames not if then ' +
    'else'
  ).split(' '),
)
const LIST_KEYWORDS = new Set(['prefixItems', 'items', 'allOf', 'anyOf', 'oneOf'])
const DEFINITIONS = new Set(['$defs', 'definitions'])
const MAP_KEYWORDS = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies', ...DEFINITIONS])
const ORDER = (
  '$ref type description const enum default format pattern minimum maximum minLength maxLength properties required ' +
  'additionalProperties items'
).split(' ')

function rank(keyword: string): number {
  if (DEFINITIONS.has(keyword)) return ORDER.length + 1
  if (ORDER.includes(keyword)) return ORDER.indexOf(keyword)
  return ORDER.length
}

function cleanAt(cleaning: Cleaning, schema: unknown, name: string, depth: number): unknown {
  if (typeof schema === 'boolean') return schema
  if (!isObject(schema)) return {}
  const parts = cleaning.inline ? withTargets(cleaning.root, schema) : [schema]
  const whole = parts.length === 1 ? schema : mergeParts(parts)
  const isTooMuch = depth > cleaning.kept.depth || cleaning.left-- <= 0
  if (isTooMuch || parts.some((part) => cleaning.within.has(part))) return outline(cleaning, whole)
  for (const part of parts) cleaning.within.add(part)
  const result: Record<string, unknown> = {}
  for (const keyword of Object.keys(whole).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))) {
    const value = cleanKeyword(cleaning, whole, keyword, name, depth)
    if (value !== undefined) define(result, keyword, value)
  }
  const note = formatNote(cleaning.kept, whole)
  if (note !== '') define(result, '$comment', note)
  for (const part of parts) cleaning.within.delete(part)
  return result
}

/** Gets a schema, the target of its reference, and so on. */
function withTargets(root: unknown, schema: JsonSchema): readonly JsonSchema[] {
  const parts: JsonSchema[] = []
  for (let at: unknown = schema; isObject(at) && !parts.includes(at);) {
    parts.push(at)
    if (typeof at['$ref'] === 'string') at = resolveReference(root, at['$ref'])
    else at = undefined
  }
  return parts
}

function mergeParts(parts: readonly JsonSchema[]): JsonSchema {
  const result: Record<string, unknown> = {}
  for (const part of parts.toReversed()) {
    for (const [keyword, value] of Object.entries(part)) define(result, keyword, value)
  }
  return result
}

function define(target: Record<string, unknown>, key: string, value: unknown): void {
  // Assigning to `__proto__` would not make a field.
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

function outline(cleaning: Cleaning, schema: JsonSchema): JsonSchema {
  cleaning.cut = true
  const kinds = kindsAt(getSchemaView(cleaning.root, schema))
  if (kinds.length === 0) return {}
  return { type: kinds.length === 1 ? kinds[0] : kinds }
}

const NOISE = /^(?:\$schema|\$id|\$comment|x-.*)$/

function cleanKeyword(cleaning: Cleaning, schema: JsonSchema, keyword: string, name: string, depth: number): unknown {
  const value = schema[keyword]
  if (NOISE.test(keyword) || value === undefined) return undefined
  if (cleaning.inline && (keyword === '$ref' || DEFINITIONS.has(keyword))) return undefined
  if (MAP_KEYWORDS.has(keyword)) return cleanMap(cleaning, schema, keyword, depth)
  if (LIST_KEYWORDS.has(keyword) && Array.isArray(value)) {
    return value.map((part) => cleanAt(cleaning, part, name, depth + 1))
  }
  if (SCHEMA_KEYWORDS.has(keyword)) return cleanAt(cleaning, value, name, depth + 1)
  if (keyword === 'title') {
    if (isRepeated(value, name)) return undefined
    return value
  }
  if (keyword === 'description') return cleanDescription(cleaning, value, name)
  if (keyword === 'enum') return cleanValues(cleaning, value)
  if ((keyword === 'required' || keyword === 'examples') && Array.isArray(value) && value.length === 0) return undefined
  if (literal(value) === undefined) return undefined
  return value
}

function cleanMap(cleaning: Cleaning, schema: JsonSchema, keyword: string, depth: number): unknown {
  const map = schema[keyword]
  if (!isObject(map)) return undefined
  const result: Record<string, unknown> = {}
  const leftOff = keyword === 'properties' && !cleaning.kept.optional ? optionalNames(schema) : new Set()
  if (leftOff.size > 0) cleaning.cut = true
  for (const [name, inner] of Object.entries(map)) {
    if (leftOff.has(name)) continue
    // Dependencies of the older drafts may be names.
    define(result, name, Array.isArray(inner) ? inner : cleanAt(cleaning, inner, name, depth + 1))
  }
  return result
}

function optionalNames(schema: JsonSchema): ReadonlySet<string> {
  const required = new Set(listAt(schema, 'required'))
  const names = isObject(schema['properties']) ? Object.keys(schema['properties']) : []
  return new Set(names.filter((name) => !required.has(name)))
}

function cleanDescription(cleaning: Cleaning, value: unknown, name: string): unknown {
  if (typeof value !== 'string' || value.trim() === '' || isRepeated(value, name)) return undefined
  const limit = cleaning.kept.description
  if (limit === 0) return undefined
  const text = value.length > limit ? oneLine(value) : value
  if (text.length > limit) return `${text.slice(0, limit).trimEnd()}…`
  return text
}

function cleanValues(cleaning: Cleaning, value: unknown): unknown {
  if (literal(value) === undefined) return undefined
  const isCut = Array.isArray(value) && value.length > cleaning.kept.values
  if (isCut) cleaning.cut = true
  if (isCut) return value.slice(0, cleaning.kept.values) as unknown[]
  return value
}

/** Describes the parts that were left out of one schema. */
function formatNote(kept: Kept, schema: JsonSchema): string {
  const values = listAt(schema, 'enum').length - kept.values
  const optional = kept.optional ? 0 : optionalNames(schema).size
  return [
    ...(values > 0 ? [`${values} more values`] : []),
    ...(optional > 0 ? [`${optional} optional left off`] : []),
  ].join(', ')
}

const getSeparators = deferPattern(String.raw`[^\p{L}\p{N}]`, 'gu')
const plain = (text: string): string => text.toLowerCase().replace(getSeparators(), '')

/** Whether a title or a description only repeats the name. */
function isRepeated(value: unknown, name: string): boolean {
  if (typeof value !== 'string') return true
  return [name, `${name}arguments`, `${name}input`, `${name}params`, `${name}schema`].map(plain).includes(plain(value))
}

/** Removes definitions that nothing refers to. */
function withoutUnused(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const result: Record<string, unknown> = { ...schema }
  for (const keyword of DEFINITIONS) {
    const folder = result[keyword]
    if (!isObject(folder)) continue
    const { [keyword]: _, ...rest } = result
    const used = new Set<string>()
    const queue: unknown[] = [rest]
    for (let at = 0; at < queue.length; at++) {
      for (const name of findReferences(queue[at])) {
        if (used.has(name) || !Object.hasOwn(folder, name)) continue
        used.add(name)
        queue.push(folder[name])
      }
    }
    const left = Object.entries(folder).filter(([name]) => used.has(name))
    if (left.length > 0) result[keyword] = Object.fromEntries(left)
    else delete result[keyword]
  }
  return result
}

function findReferences(schema: unknown): readonly string[] {
  const references = (literal(schema) ?? '').matchAll(/"\$ref":"#\/([^"]*)"/g)
  return Array.from(references, ([, path = '']) =>
    path
      .slice(path.lastIndexOf('/') + 1)
      .replaceAll('~1', '/')
      .replaceAll('~0', '~'),
  )
}
