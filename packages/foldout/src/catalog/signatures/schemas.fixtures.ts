import fc from 'fast-check'
import type { JsonSchema } from '../../core/schema/schema.ts'

/** A constant, because an object that has a `then` looks like a promise. */
export const THEN = 'then'

const names = fc.constantFrom('id', 'name', 'x-y', 'class', '__proto__', 'constructor', '日本', 'a b\n', '', '1', '*/')
const words = fc.constantFrom(
  'string',
  'integer',
  'number',
  'boolean',
  'null',
  'object',
  'array',
  'str',
  'file',
  'any',
  '',
)
const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('One of "a" or \'b\'.', 'in YYYY-MM-DD\n*/ format', 'e.g. "x,y"', '(0-100) ms\u2028'),
)
const values = fc.oneof(fc.constantFrom<unknown>(null, 0, -1.5, 'a', '*/', true, [], {}, [1], { a: 1 }), texts)

/** Schemas as servers write them, right and wrong, with references that may lead anywhere. */
export const anySchema: fc.Arbitrary<JsonSchema> = fc
  .letrec<{ schema: unknown }>((tie) => {
    const schema = tie('schema')
    const list = fc.array(schema, { maxLength: 3 })
    const map = fc
      .array(fc.tuple(names, schema), { maxLength: 3 })
      .map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))) as unknown)
    const keywords: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
      type: fc.oneof(words, fc.array(words, { maxLength: 2 }), values),
      description: fc.oneof(texts, values),
      enum: fc.oneof(fc.array(values, { maxLength: 5 }), fc.constant('no list')),
      const: values,
      default: values,
      format: fc.constantFrom<unknown>('date', 'uri', 'int32', 7),
      pattern: texts,
      minimum: fc.constantFrom<unknown>(0, -0.5, Infinity, '1'),
      maximum: fc.integer(),
      exclusiveMinimum: fc.constantFrom<unknown>(true, 0),
      maxLength: fc.integer(),
      minItems: fc.nat(5),
      multipleOf: fc.constantFrom(0, 0.5, 5),
      title: texts,
      nullable: fc.boolean(),
      properties: fc.oneof({ weight: 5, arbitrary: map }, { weight: 1, arbitrary: values }),
      required: fc.oneof(fc.array(names, { maxLength: 3 }), fc.boolean()),
      items: fc.oneof(schema, list),
      prefixItems: list,
      additionalProperties: schema,
      patternProperties: fc
        .tuple(fc.constantFrom('^x-', '(', '*/'), schema)
        .map((entry) => Object.fromEntries([entry])),
      propertyNames: schema,
      anyOf: list,
      oneOf: list,
      allOf: list,
      ...Object.fromEntries(['if', THEN, 'not'].map((keyword) => [keyword, schema])),
      dependentRequired: fc.tuple(names, fc.array(names, { maxLength: 2 })).map((entry) => Object.fromEntries([entry])),
      dependentSchemas: map,
      $ref: fc.constantFrom('#', '#/$defs/id', '#/$defs/name', '#/definitions/id', '#/%', '#/properties/id', 'a.json'),
      $defs: map,
      definitions: map,
    }
    const keyword = fc
      .constantFrom(...Object.keys(keywords))
      .chain((name) => fc.tuple(fc.constant(name), keywords[name]!))
    return {
      schema: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        fc.constantFrom<unknown>(true, false, null, {}, 'string', 7, []),
        fc.array(keyword, { minLength: 1, maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
      ),
    }
  })
  .schema.map((schema) => schema as JsonSchema)

const MAPS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependentRequired',
])
const DATA = new Set(['enum', 'const', 'default', 'required', 'type'])

/** Returns the same schema with the keywords in another order. Fields and lists keep their order. */
export function withOtherKeywordOrder(schema: unknown, isMap = false): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withOtherKeywordOrder(part))
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => [
    key,
    !isMap && DATA.has(key) ? value : withOtherKeywordOrder(value, !isMap && MAPS.has(key)),
  ])
  return Object.fromEntries(isMap ? entries : entries.toReversed())
}
