import { listAt } from '../../../core/schema/shape.ts'
import { deferPattern } from '../../../core/defer-pattern.ts'
import { isObject } from 'foldout-shared/values'
import { pointerKeys, resolvePointer } from '../../../core/json/json-pointer.ts'
import type { JsonSchema } from '../../../core/schema/schema.ts'

/**
 * The parts of a schema that describe one value, with references and `allOf` resolved. Any input is accepted, even a
 * broken schema.
 */
export interface SchemaView {
  readonly root: unknown
  /** The schemas that the value must fit, nearest first. */
  readonly parts: readonly JsonSchema[]
  /** Whether no value fits. */
  readonly never: boolean
}

export interface Field {
  readonly name: string
  readonly schema: unknown
  readonly required: boolean
}

interface Alternatives {
  readonly how: 'anyOf' | 'oneOf'
  readonly branches: readonly unknown[]
}

/** Enough for any reasonable schema; a hostile one must not take up much time. */
const MAX_PARTS = 64

export function getSchemaView(root: unknown, schema: unknown): SchemaView {
  const parts: JsonSchema[] = []
  const queue: unknown[] = [schema]
  let never = false
  for (let at = 0; at < queue.length && parts.length < MAX_PARTS; at++) {
    const given = queue[at]
    if (given === false) never = true
    const part = typeof given === 'string' && given.toLowerCase() in TYPES ? { type: given } : given
    if (!isObject(part) || parts.includes(part)) continue
    parts.push(part)
    const target = typeof part['$ref'] === 'string' ? resolveReference(root, part['$ref']) : undefined
    queue.push(target, ...listAt(part, 'allOf'))
    for (const { branches } of alternativesIn(part)) if (branches.length === 1) queue.push(branches[0])
  }
  return { root, parts, never }
}

/** Returns the target of a local reference, or `undefined`. */
export function resolveReference(root: unknown, reference: string): unknown {
  const target = resolvePointer(root, reference)
  if (target !== undefined || !isObject(root) || !reference.startsWith('#/')) return target
  // Some generators mix drafts: they write `$defs` but refer to `definitions`, or the other way around.
  const name = pointerKeys(reference).at(-1) ?? ''
  return [root['$defs'], root['definitions']]
    .filter(isObject)
    .filter((folder) => Object.hasOwn(folder, name))
    .map((folder) => folder[name])[0]
}

const MAX_WALKED = 5_000

/** Whether a schema contains itself. */
export function containsItself(root: unknown, schema: JsonSchema): boolean {
  const seen = new Set<unknown>()
  const queue: unknown[] = [schema]
  for (let at = 0; at < queue.length && at < MAX_WALKED; at++) {
    const given = queue[at] as object
    const below = Object.values(given)
    const reference = (given as { readonly $ref?: unknown }).$ref
    if (typeof reference === 'string') below.push(resolveReference(root, reference))
    for (const inner of below) {
      if (inner === schema) return true
      if (typeof inner !== 'object' || inner === null || seen.has(inner)) continue
      seen.add(inner)
      queue.push(inner)
    }
  }
  return false
}

/** Returns the first value of a keyword among the parts of a view. */
export function keywordAt(view: SchemaView, keyword: string): unknown {
  return view.parts.find((part) => part[keyword] !== undefined)?.[keyword]
}

export function textAt(view: SchemaView, keyword: string): string | undefined {
  const value = view.parts.map((part) => part[keyword]).find((text) => typeof text === 'string' && text.trim() !== '')
  return value as string | undefined
}

export function numberAt(view: SchemaView, keyword: string): number | undefined {
  return view.parts.map((part) => part[keyword]).find((value): value is number => typeof value === 'number')
}

const WORDS_FOR_TYPES: Readonly<Record<string, string>> = {
  object: 'object dict dictionary map hashmap struct record hash',
  array: 'array list tuple set sequence arraylist',
  string: 'string str text char varchar',
  number: 'number float double decimal numeric real float32 float64',
  integer: 'integer int long short byte int32 int64 uint uint32 uint64 bigint',
  boolean: 'boolean bool',
  null: 'null none nil undefined',
  any: 'any mixed unknown *',
}

/** The names that servers use for the types of JSON Schema, right or wrong. */
const TYPES: Readonly<Record<string, string>> = Object.assign(
  Object.create(null) as Record<string, string>,
  Object.fromEntries(
    Object.entries(WORDS_FOR_TYPES).flatMap(([type, words]) => words.split(' ').map((word) => [word, type])),
  ),
)

const getTypeName = deferPattern(String.raw`^[\p{L}_][\p{L}\p{N}_.<>[\]-]{0,30}$`, 'u')

/**
 * Gets the types that a view names, or else the types that its keywords imply. Empty if any value fits. A type that JSON Schema does
 * not have is kept if it looks like a type name.
 */
export function kindsAt(view: SchemaView): readonly string[] {
  const named = keywordAt(view, 'type')
  const words = [named].flat(2).filter((word): word is string => typeof word === 'string')
  const kinds = words.map((word) => TYPES[word.trim().toLowerCase()] ?? word.trim())
  if (kinds.includes('any')) return []
  const readable = kinds.filter((kind) => getTypeName().test(kind))
  if (readable.length > 0) return withNull(view, [...new Set(readable)])
  if (has(view, ['properties', 'additionalProperties', 'patternProperties', 'required'])) return ['object']
  if (has(view, ['items', 'prefixItems'])) return ['array']
  return []
}

function withNull(view: SchemaView, kinds: readonly string[]): readonly string[] {
  if (keywordAt(view, 'nullable') === true && !kinds.includes('null')) return [...kinds, 'null']
  return kinds
}

function has(view: SchemaView, keywords: readonly string[]): boolean {
  return keywords.some((keyword) => view.parts.some((part) => typeof part[keyword] === 'object' && part[keyword]))
}

/** Gets the fields that a view names: required ones first, each group in the declared order. */
export function fieldsAt(view: SchemaView): readonly Field[] {
  const schemas = new Map<string, unknown[]>()
  const required = new Set<string>()
  for (const part of view.parts.map(unwrap)) {
    const properties = isObject(part['properties']) ? part['properties'] : {}
    for (const [name, schema] of Object.entries(properties)) {
      schemas.set(name, [...(schemas.get(name) ?? []), schema])
      // Draft 3 did it this way, and some servers still do.
      if (isObject(schema) && schema['required'] === true) required.add(name)
    }
    for (const name of listAt(part, 'required')) if (typeof name === 'string') required.add(name)
  }
  for (const name of required) if (!schemas.has(name)) schemas.set(name, [true])
  const fields = [...schemas]
    .filter(([, all]) => !all.includes(false))
    .map(([name, all]) => ({
      name,
      schema: all.length === 1 ? all[0] : { allOf: all },
      required: required.has(name),
    }))
  return [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)]
}

/** Some servers put the whole schema where its `properties` belong. */
function unwrap(part: JsonSchema): JsonSchema {
  const properties = part['properties']
  const isDoubled = isObject(properties) && typeof properties['type'] === 'string' && isObject(properties['properties'])
  if (isDoubled) return properties
  return part
}

/** Gets the schema for fields that a view does not name; `true` if it explicitly allows any, otherwise `undefined`. */
export function otherFieldsAt(view: SchemaView): unknown {
  const given = keywordAt(view, 'additionalProperties') ?? keywordAt(view, 'unevaluatedProperties')
  if (isObject(given)) {
    if (Object.keys(given).length === 0) return true
    return given
  }
  if (given === true) return true
  return undefined
}

/** Whether a view names no fields and does not say that there are none. */
export function takesAnyFields(view: SchemaView): boolean {
  return view.parts.every((part) => !isObject(part['properties']) && part['additionalProperties'] !== false)
}

/** Gets the schemas for fields whose names match a pattern. */
export function patternFieldsAt(view: SchemaView): readonly (readonly [pattern: string, schema: unknown])[] {
  return view.parts.flatMap((part) =>
    isObject(part['patternProperties']) ? Object.entries(part['patternProperties']) : [],
  )
}

/** Returns the values that a view lists one by one, or `undefined` if it lists none. */
export function valuesAt(view: SchemaView): readonly unknown[] | undefined {
  const part = view.parts.find((part) => 'const' in part || (Array.isArray(part['enum']) && part['enum'].length > 0))
  if (!part) return undefined
  if ('const' in part) return [part['const']]
  return part['enum'] as unknown[]
}

/** Returns the schemas of the first items of a list, and the schema of the others. */
export function itemsAt(view: SchemaView): { readonly first: readonly unknown[]; readonly rest: unknown } {
  const items = keywordAt(view, 'items')
  const prefix = keywordAt(view, 'prefixItems')
  if (Array.isArray(prefix) && prefix.length > 0) return { first: prefix, rest: items }
  if (Array.isArray(items)) return { first: items, rest: keywordAt(view, 'additionalItems') }
  return { first: [], rest: items }
}

/** Gets the groups of alternatives, of which the value must fit one or more. */
export function alternativesAt(view: SchemaView): readonly Alternatives[] {
  return view.parts.flatMap(alternativesIn).filter(({ branches }) => branches.length > 1)
}

function alternativesIn(part: JsonSchema): readonly Alternatives[] {
  return (['anyOf', 'oneOf'] as const).map((how) => ({ how, branches: listAt(part, how) }))
}
