import { isObject } from 'foldout-shared/values'

const TYPES: ReadonlySet<unknown> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0
const isNumber = (value: unknown): boolean => typeof value === 'number'
const isSchema = (value: unknown): boolean => isObject(value) || isBoolean(value)
const isText = (value: unknown): boolean => typeof value === 'string'
const isFilledList = (value: unknown): boolean => Array.isArray(value) && value.length > 0

/** What the values of keywords must be in draft 2020-12. Unknown keywords may have any value. */
const RULES: readonly (readonly [keywords: readonly string[], isValid: (value: unknown) => boolean])[] = [
  [['$anchor', '$comment', '$id', '$ref', '$schema', 'description', 'format', 'pattern', 'title'], isText],
  [['deprecated', 'readOnly', 'uniqueItems', 'writeOnly'], isBoolean],
  [['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum'], isNumber],
  [['multipleOf'], (value) => isNumber(value) && Number(value) > 0],
  [['maxContains', 'maxItems', 'maxLength', 'maxProperties'], isCount],
  [['minContains', 'minItems', 'minLength', 'minProperties'], isCount],
  [['additionalProperties', 'contains', 'contentSchema', 'items', 'propertyNames', 'unevaluatedItems'], isSchema],
  [['else', 'if', 'not', 'then', 'unevaluatedProperties'], isSchema],
  [['allOf', 'anyOf', 'enum', 'oneOf', 'prefixItems'], isFilledList],
  [['examples'], Array.isArray],
  [['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'], isObject],
  [['required'], isListOfNames],
  [['dependentRequired'], (value) => isObject(value) && Object.values(value).every(isListOfNames)],
  [['type'], isType],
]

// A map, because the keywords come from foreign servers.
const VALID: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  RULES.flatMap(([keywords, isValid]) => keywords.map((keyword) => [keyword, isValid] as const)),
)

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText) && new Set(value).size === value.length
}

function isType(value: unknown): boolean {
  if (!Array.isArray(value)) return TYPES.has(value)
  return value.length > 0 && value.every((type) => TYPES.has(type)) && new Set(value).size === value.length
}

/**
 * Returns the keywords of a schema as draft 2020-12 has them, which providers check: one invalid keyword fails every
 * request. Tuples of draft 07 and boolean bounds of draft 04 are translated; a value that is not valid is left out, so
 * the result accepts more.
 */
export function getKeywords(schema: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  return Object.entries(schema)
    .flatMap(([keyword, value]) => translate(schema, keyword, value))
    .filter(([keyword, value]) => VALID.get(keyword)?.(value) ?? true)
}

function translate(
  schema: Readonly<Record<string, unknown>>,
  keyword: string,
  value: unknown,
): readonly (readonly [string, unknown])[] {
  const { items, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const isTuple = Array.isArray(items)
  switch (keyword) {
    case 'items':
      return isTuple ? getTuple(schema, items) : [[keyword, value]]
    case 'additionalItems':
      return isTuple ? [['items', value]] : []
    case 'exclusiveMinimum':
      return [[keyword, value === true ? minimum : value]]
    case 'exclusiveMaximum':
      return [[keyword, value === true ? maximum : value]]
    case 'minimum':
      return exclusiveMinimum === true ? [] : [[keyword, value]]
    case 'maximum':
      return exclusiveMaximum === true ? [] : [[keyword, value]]
    case '$ref':
      return [[keyword, typeof value === 'string' ? value.replace(TUPLE_ITEM, '/prefixItems/$1') : value]]
    default:
      return [[keyword, value]]
  }
}

function getTuple(
  schema: Readonly<Record<string, unknown>>,
  items: readonly unknown[],
): readonly (readonly [string, unknown])[] {
  if ('prefixItems' in schema) return []
  return [['prefixItems', items]]
}

/** A reference to an item of a tuple. */
const TUPLE_ITEM = /\/items\/(\d+)(?=\/|$)/g
