import { isObject } from 'foldout-shared/values'
import type { JsonSchema } from '../../core/schema/schema.ts'

/** The keywords that OpenAI accepts in every strict schema. It refuses the whole request for any other. */
const ANYWHERE = ['type', 'title', 'description', 'enum', 'const', 'anyOf']
const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items'],
  string: [],
  number: [],
  integer: [],
  boolean: [],
  null: [],
}
// The smallest limits that OpenAI has documented: later models accept more.
const MAX_LEVELS = 5
const MAX_PROPERTIES = 100
const MAX_VALUES = 250

const known = new WeakMap<JsonSchema, boolean>()

/**
 * Whether OpenAI can enforce a schema word for word: every property is required, no others are allowed, and there are
 * only types that it knows. Any other schema is sent as a hint, and what the model sends is checked when it arrives.
 */
export function isStrictSchema(schema: JsonSchema): boolean {
  const decided = known.get(schema)
  if (decided !== undefined) return decided
  const { $schema: _, ...root } = schema
  const budget = { properties: MAX_PROPERTIES }
  const isStrict = root['type'] === 'object' && !('anyOf' in root) && isStrictAt(root, MAX_LEVELS, budget)
  known.set(schema, isStrict)
  return isStrict
}

function isStrictAt(schema: unknown, levels: number, budget: { properties: number }): boolean {
  if (!isObject(schema) || levels < 0) return false
  const { type, anyOf, items, properties, enum: values = [] } = schema
  if (!Array.isArray(values) || values.length > MAX_VALUES || values.some(isObject)) return false
  const types = typeof type === 'string' ? [type] : (type ?? [])
  if (!Array.isArray(types) || !types.every((each) => typeof each === 'string' && Object.hasOwn(BY_TYPE, each)))
    return false
  const allowed = new Set([...ANYWHERE, ...types.flatMap((each: string) => BY_TYPE[each] ?? [])])
  if (!Object.keys(schema).every((keyword) => allowed.has(keyword))) return false
  const isBelow = (each: unknown): boolean => isStrictAt(each, levels - 1, budget)
  if (anyOf !== undefined) return types.length === 0 && Array.isArray(anyOf) && anyOf.length > 0 && anyOf.every(isBelow)
  if (types.length === 0) return false
  if (types.includes('array') && !isBelow(items)) return false
  if (!types.includes('object')) return true
  return hasExactFields(schema, budget) && Object.values(properties as object).every(isBelow)
}

function hasExactFields(schema: Readonly<Record<string, unknown>>, budget: { properties: number }): boolean {
  const { properties, required, additionalProperties } = schema
  if (!isObject(properties) || additionalProperties !== false) return false
  const names = Object.keys(properties)
  budget.properties -= names.length
  const wanted = new Set(Array.isArray(required) ? required : [])
  return budget.properties >= 0 && names.length === wanted.size && names.every((name) => wanted.has(name))
}

/** The schema of the output, as both APIs name it. */
export function toNamedSchema(
  { jsonSchema }: { readonly jsonSchema: JsonSchema },
  isStrict: boolean,
): { name: string; schema: JsonSchema; strict: boolean } {
  return { name: 'output', schema: { ...jsonSchema }, strict: isStrict && isStrictSchema(jsonSchema) }
}
