import { describe, expect, it } from 'vitest'
import { schemaFault, findUncheckedPatterns } from './fault.ts'

const inField = (field: unknown) => ({ type: 'object', properties: { outer: { properties: { inner: field } } } })

const broken: readonly (readonly [schema: unknown, fault: string])[] = [
  ['text', 'it is not a schema.'],
  [null, 'it is not a schema.'],
  [[], 'it is not a schema.'],
  [{ type: 'any' }, 'it has the type "any", which does not exist in JSON Schema.'],
  [{ type: ['string', 'date'] }, 'it has the type ["string","date"], which does not exist in JSON Schema.'],
  [{ type: null }, 'it has the type null, which does not exist in JSON Schema.'],
  [{ enum: 'a' }, "it has an 'enum' that is not a list."],
  [{ required: true }, "it has a 'required' that is not a list of names."],
  [{ required: ['a', 1] }, "it has a 'required' that is not a list of names."],
  [{ pattern: '[a-z' }, "it has a 'pattern' that is not a regular expression."],
  [{ pattern: 5 }, "it has a 'pattern' that is not a regular expression."],
  [{ minimum: '1' }, "it has a 'minimum' that is not a number."],
  [{ exclusiveMinimum: true }, "it has an 'exclusiveMinimum' that is not a number."],
  [{ maxLength: -1 }, "it has a 'maxLength' that is not a non-negative integer."],
  [{ minItems: 1.5 }, "it has a 'minItems' that is not a non-negative integer."],
  [{ properties: [] }, "it has a 'properties' that is not an object."],
  [{ properties: null }, "it has a 'properties' that is not an object."],
  [{ anyOf: {} }, "it has an 'anyOf' that is not a list."],
  [{ $defs: 1 }, "it has a '$defs' that is not an object."],
  [
    { patternProperties: { '(': {} } },
    "it has a 'patternProperties' that is not an object whose names are regular expressions.",
  ],
  [{ $ref: 5 }, "it has a '$ref' that is not a string."],
  [{ $ref: '#/$defs/gone' }, 'it refers to #/$defs/gone, which does not exist.'],
  [{ $ref: '#/toString' }, 'it refers to #/toString, which does not exist.'],
  [{ $ref: '#gone' }, 'it refers to #gone, which does not exist.'],
  [{ $ref: 'https://example.com/other.json' }, 'it refers to https://example.com/other.json, which does not exist.'],
  [inField('text'), "'outer.inner' is not a schema."],
  [inField({ type: 'str' }), '\'outer.inner\' has the type "str", which does not exist in JSON Schema.'],
  [inField({ items: { items: 5 } }), "'outer.inner.items.items' is not a schema."],
  [inField({ items: [{}, 5] }), "'outer.inner.items[1]' is not a schema."],
  [inField({ oneOf: [{}, { enum: 1 }] }), "'outer.inner.oneOf[1]' has an 'enum' that is not a list."],
  [{ $defs: { a: { not: 1 } } }, "'$defs.a.not' is not a schema."],
]

const fine: readonly unknown[] = [
  true,
  {},
  { type: ['string', 'null'], enum: [] },
  { properties: { a: true, b: false, properties: { type: 'string' }, required: {} }, required: ['a'] },
  { unknownKeyword: 5, default: { type: 'any' }, const: { $ref: '#/gone' }, examples: [{ required: true }] },
  { $ref: '#' },
  { $defs: { 'a/b': {}, 'c d': {} }, anyOf: [{ $ref: '#/$defs/a~1b' }, { $ref: '#/$defs/c%20d' }] },
  { $defs: { node: { properties: { next: { $ref: '#/$defs/node' } } } }, $ref: '#/$defs/node' },
  { $defs: { a: { $anchor: 'here' }, b: { $id: 'there' } }, allOf: [{ $ref: '#here' }, { $ref: 'there' }] },
  { items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
]

describe('R43 faults of a schema', () => {
  it.each(broken)('R43 %j', (schema, fault) => expect(schemaFault(schema)).toBe(fault))

  it.each(fine.map((schema) => [schema]))('R43 finds none in %j', (schema) =>
    expect(schemaFault(schema)).toBeUndefined(),
  )

  it('R43 visits a schema that contains itself only once', () => {
    const schema: Record<string, unknown> = { type: 'object' }
    schema['properties'] = { self: schema }
    expect(schemaFault(schema)).toBeUndefined()
  })

  it('R43 reports a schema that is nested too deeply', () => {
    let schema: unknown = {}
    for (let depth = 0; depth < 100_000; depth++) schema = { items: schema }
    expect(schemaFault(schema)).toBe('it is nested too deeply.')
  })
})

describe('R43 patterns that are not checked here', () => {
  it('R43 are reported with their location and the reason', () => {
    const schema = {
      properties: { a: { pattern: '^(x)\\1$' }, b: { pattern: '^(?=a)a+$' } },
      patternProperties: { '(?<n>a)\\k<n>': {} },
    }
    expect(schemaFault(schema)).toBeUndefined()
    expect(findUncheckedPatterns(schema)).toEqual([
      'it has the pattern (?<n>a)\\k<n>, which refers back to a group.',
      "'a' has the pattern ^(x)\\1$, which refers back to a group.",
    ])
  })

  it('R43 are limited to ten', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, { pattern: '(a)\\1' }]))
    expect(findUncheckedPatterns({ properties: many })).toHaveLength(10)
  })
})
