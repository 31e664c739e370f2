import { isObject } from 'foldout-shared/values'
import { resolvePointer } from '../core/json/json-pointer.ts'
import { toObjectSchema } from '../core/schema/object-schema.ts'
import type { JsonSchema } from '../core/schema/schema.ts'
import { MAX_TOOL_SCHEMA_DEPTH, MAX_TOOL_SCHEMA_VALUES } from './limits.ts'
import { getKeywords } from '../core/schema/schema-keywords.ts'

/**
 * The provider whose rules a schema must follow. Both providers reject alternatives at the top level. OpenAI and
 * compatible servers also reject objects without `properties`, arrays without `items`, and, in the case of Gemini,
 * required fields that are not among the properties, at any level. Every schema is sent as draft 2020-12 has it.
 */
export type SchemaDialect = 'openai' | 'anthropic'

/** A schema that a provider accepts for the parameters of a tool. */
export type ToolParameters = { readonly type: 'object' } & JsonSchema

// A tool's schema is the same object in every request.
const prepared: Readonly<Record<SchemaDialect, WeakMap<JsonSchema, ToolParameters>>> = {
  openai: new WeakMap(),
  anthropic: new WeakMap(),
}

/**
 * Turns the schema of a tool into one that the provider accepts. The result may accept more than the schema does; the
 * arguments of a call are checked against the schema itself. A single rejected schema would fail every request.
 */
export function toToolParameters(schema: JsonSchema, dialect: SchemaDialect): ToolParameters {
  const known = prepared[dialect].get(schema)
  if (known !== undefined) return known
  const parameters = createParameters(schema, dialect)
  prepared[dialect].set(schema, parameters)
  return parameters
}

function createParameters(schema: JsonSchema, dialect: SchemaDialect): ToolParameters {
  const copy = copySchema(schema, 'anthropic')
  const merged = toObjectSchema(copy) ?? {}
  const { properties } = merged
  const whole: ToolParameters = {
    ...merged,
    type: 'object',
    properties: isObject(properties) ? properties : {},
  }
  if (dialect === 'anthropic' && merged === copy) return whole
  // Gaps are filled last, or they would be merged. After the alternatives are merged, references to them lead nowhere.
  return { ...copySchema(whole, dialect), type: 'object' }
}

/** Providers reject a reference that leads nowhere. Names and other documents are not looked up. */
function isDangling(reference: unknown, root: JsonSchema): boolean {
  if (typeof reference !== 'string') return true
  return /^#(\/|$)/.test(reference) && resolvePointer(root, reference) === undefined
}

/** The role of a value within a schema, which determines the roles of its own values. */
type Kind = 'schema' | 'schemas by name' | 'data'

// A map, because the keywords come from foreign servers.
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ...[
    'additionalProperties',
    'allOf',
    'anyOf',
    'contains',
    'contentSchema',
    'else',
    'if',
    'items',
    'not',
    'oneOf',
    'prefixItems',
    'propertyNames',
    'then',
    'unevaluatedItems',
    'unevaluatedProperties',
  ].map((keyword) => [keyword, 'schema'] as const),
  ...['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'].map(
    (keyword) => [keyword, 'schemas by name'] as const,
  ),
])

interface Part {
  readonly from: object
  readonly to: object
  readonly kind: Kind
  readonly depth: number
}

/** Copies a schema as far as the limits allow, without recursion, in the form that the dialect requires. */
function copySchema(schema: JsonSchema, dialect: SchemaDialect): JsonSchema {
  const root: Record<string, unknown> = {}
  const waiting: Part[] = [{ from: schema, to: root, kind: 'schema', depth: 0 }]
  let values = 0
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const { from, to, kind, depth } = part
    for (const [key, value] of getEntries(from, kind, schema)) {
      values += 1
      const inner = getInnerKind(kind, Array.isArray(from) ? undefined : key)
      if (typeof value !== 'object' || value === null) {
        setField(to, key, value)
      } else if (depth >= MAX_TOOL_SCHEMA_DEPTH || values > MAX_TOOL_SCHEMA_VALUES) {
        if (inner === 'schema' && !Array.isArray(value)) setField(to, key, {})
      } else {
        const copy = Array.isArray(value) ? [] : {}
        setField(to, key, copy)
        waiting.push({ from: value, to: copy, kind: inner, depth: depth + 1 })
      }
    }
    if (kind === 'schema' && dialect === 'openai' && !Array.isArray(to))
      fillGaps(to, from as { readonly [keyword: string]: unknown })
  }
  return root
}

/** Returns the values of a part of a schema, without those that are not valid there. */
function getEntries(from: object, kind: Kind, root: JsonSchema): readonly (readonly [string, unknown])[] {
  if (kind === 'data') return Object.entries(from)
  if (kind === 'schema' && isObject(from)) {
    const { $ref: reference } = from
    const isKept = reference === undefined || !isDangling(reference, root)
    return getKeywords(from).filter(([keyword]) => isKept || keyword !== '$ref')
  }
  return Object.entries(from).map(([key, value]) => [key, isObject(value) || isFlag(value) ? value : {}])
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean'
}

function getInnerKind(kind: Kind, key: string | undefined): Kind {
  if (kind === 'data') return 'data'
  // A list of schemas, or an object whose keys are names rather than keywords.
  if (key === undefined || kind === 'schemas by name') return 'schema'
  return KINDS.get(key) ?? 'data'
}

/** A field may have any name, even `__proto__`. */
function setField(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}

function fillGaps(schema: object, from: { readonly [keyword: string]: unknown }): void {
  const types = new Set([from['type']].flat())
  if (types.has('object')) declareRequired(schema, from)
  // Required beside `prefixItems` too.
  if (types.has('array') && !('items' in schema)) setField(schema, 'items', {})
}

function declareRequired(schema: object, { properties, required }: { readonly [keyword: string]: unknown }): void {
  if (!('properties' in schema)) setField(schema, 'properties', {})
  const known = isObject(properties) ? properties : {}
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  const declared = (schema as { readonly properties: object }).properties
  for (const name of names) if (typeof name === 'string' && !Object.hasOwn(known, name)) setField(declared, name, {})
}
