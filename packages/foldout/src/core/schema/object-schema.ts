import { isObject } from 'foldout-shared/values'
import { canonicalJson } from '../json/json.ts'
import { resolvePointer } from '../json/json-pointer.ts'
import type { JsonSchema } from './schema.ts'

/** Unions that are nested deeper, or have more alternatives, are shown as any object. */
const MAX_DEPTH = 10
const MAX_ALTERNATIVES = 50
/** The maximum number of alternatives that the description lists. */
const MAX_DESCRIBED_SETS = 10

// Providers reject these keywords at the top level of a tool's parameters.
const REFUSED = ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', '$ref', 'if', 'then', 'else']

/**
 * Converts a JSON Schema to a form that all providers accept for the parameters of a tool: `type: "object"`, without
 * alternatives at the top level. A union of objects becomes one object with the fields of all of them. That object accepts
 * more than the union, so the original schema must still check the values. Returns `undefined` if no object fits the schema.
 */
export function toObjectSchema(root: JsonSchema): JsonSchema | undefined {
  if (root['type'] === 'object' && !REFUSED.some((keyword) => keyword in root)) return root
  const alternatives = getAlternatives(root, root, 0)
  if (alternatives.length === 0) return undefined
  const rest = Object.fromEntries(
    Object.entries(root).filter(([keyword]) => !REFUSED.includes(keyword) && !MERGED.has(keyword)),
  )
  return { ...rest, type: 'object', ...mergeAlternatives(alternatives, rest['description']) }
}

const MERGED: ReadonlySet<string> = new Set(['type', 'properties', 'required', 'additionalProperties'])

/** One kind of object that a schema accepts. */
interface ObjectShape {
  readonly properties: ReadonlyMap<string, unknown>
  readonly required: readonly string[]
  /** The schema of other fields, or `undefined` if there is none. */
  readonly others: unknown
}

const ANY_OBJECT: ObjectShape = { properties: new Map(), required: [], others: undefined }

/** The kinds of objects that a schema accepts; empty if it accepts no object. */
function getAlternatives(schema: unknown, root: JsonSchema, depth: number): readonly ObjectShape[] {
  if (schema === false) return []
  if (!isObject(schema) || depth > MAX_DEPTH) return [ANY_OBJECT]
  const { type } = schema
  if (type !== undefined && ![type].flat().includes('object')) return []
  if (isWithoutObjects(schema)) return []
  let shapes: readonly ObjectShape[] = [getOwnShape(schema)]
  for (const part of getParts(schema, root)) {
    const found = part.flatMap((one) => getAlternatives(one, root, depth + 1))
    if (found.length === 0) return []
    if (found.length * shapes.length > MAX_ALTERNATIVES) return [ANY_OBJECT]
    shapes = shapes.flatMap((shape) => found.map((other) => combine(shape, other)))
  }
  return shapes
}

function isWithoutObjects(schema: JsonSchema): boolean {
  if ('const' in schema) return !isObject(schema['const'])
  return Array.isArray(schema['enum']) && !schema['enum'].some(isObject)
}

/** Lists the requirements of a schema besides its own fields: one alternative from each list. */
function getParts(schema: JsonSchema, root: JsonSchema): readonly (readonly unknown[])[] {
  const { $ref, allOf, anyOf, oneOf } = schema
  const parts: (readonly unknown[])[] = []
  if (typeof $ref === 'string') parts.push([resolvePointer(root, $ref)])
  if (Array.isArray(allOf)) for (const part of allOf as readonly unknown[]) parts.push([part])
  if (Array.isArray(anyOf) && anyOf.length > 0) parts.push(anyOf)
  if (Array.isArray(oneOf) && oneOf.length > 0) parts.push(oneOf)
  return parts
}

function getOwnShape(schema: JsonSchema): ObjectShape {
  const { properties, required, additionalProperties } = schema
  return {
    properties: new Map(isObject(properties) ? Object.entries(properties) : []),
    required: Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [],
    others: additionalProperties,
  }
}

/** Merges two kinds of objects into one that fits both. */
function combine(a: ObjectShape, b: ObjectShape): ObjectShape {
  const properties = new Map(a.properties)
  for (const [name, schema] of b.properties) {
    const own = properties.get(name)
    const isSame = own === undefined || canonicalJson(own) === canonicalJson(schema)
    properties.set(name, isSame ? schema : { allOf: [own, schema] })
  }
  return { properties, required: [...new Set([...a.required, ...b.required])], others: a.others ?? b.others }
}

function mergeAlternatives(alternatives: readonly ObjectShape[], description: unknown): JsonSchema {
  const variants = new Map<string, Map<string, unknown>>()
  for (const { properties } of alternatives)
    for (const [name, schema] of properties) {
      const known = variants.get(name) ?? new Map<string, unknown>()
      variants.set(name, known.set(canonicalJson(schema), schema))
    }
  const [first, ...others] = alternatives
  const required = first?.required.filter((name) => others.every((other) => other.required.includes(name))) ?? []
  const isClosed = alternatives.every((alternative) => alternative.others === false)
  const open = alternatives.length === 1 ? first?.others : undefined
  const additionalProperties = isClosed ? false : open
  const fullDescription = alternatives.length > 1 ? describeAlternatives(alternatives, description) : description
  return {
    properties: Object.fromEntries(Array.from(variants, ([name, known]) => [name, mergeVariants([...known.values()])])),
    ...(required.length > 0 && { required }),
    ...(additionalProperties !== undefined && { additionalProperties }),
    ...(fullDescription !== undefined && { description: fullDescription }),
  }
}

/** Merges the schemas of a field that differs between alternatives: fixed values become an enum, others a union. */
function mergeVariants(variants: readonly unknown[]): unknown {
  const [only] = variants
  if (variants.length === 1) return only
  const values = variants.map(getFixedValues)
  if (values.includes(undefined)) return { anyOf: variants }
  const all = [...new Set(values.flatMap((list) => list ?? []))]
  const types = new Set(variants.map((variant) => (isObject(variant) ? variant['type'] : undefined)))
  const [type] = types
  return { ...(types.size === 1 && type !== undefined && { type }), enum: all }
}

function getFixedValues(schema: unknown): readonly unknown[] | undefined {
  if (!isObject(schema) || Object.keys(schema).some((keyword) => !['const', 'enum', 'type'].includes(keyword)))
    return undefined
  if ('const' in schema) return [schema['const']]
  if (Array.isArray(schema['enum'])) return schema['enum']
  return undefined
}

function describeAlternatives(alternatives: readonly ObjectShape[], description: unknown): string | undefined {
  const sets = new Set(
    alternatives.map(({ properties, required }) => {
      const names = properties.size > 0 ? [...properties.keys()] : required
      return names.map((name) => (required.includes(name) ? name : `${name}?`)).join(', ')
    }),
  )
  const own = typeof description === 'string' ? description : undefined
  if (sets.size < 2 || sets.size > MAX_DESCRIBED_SETS || sets.has('')) return own
  const sentence = `Takes one of these sets of fields: ${[...sets].map((set) => `(${set})`).join(' or ')}.`
  if (own === undefined) return sentence
  return `${own} ${sentence}`
}
