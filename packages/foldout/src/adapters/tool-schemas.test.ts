import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../core/schema/schema.ts'
import { findSchemaFaults } from './draft-2020.fixtures.ts'
import { MAX_TOOL_SCHEMA_DEPTH } from './limits.ts'
import { toToolParameters } from './tool-schemas.ts'

const openai = (schema: JsonSchema): JsonSchema => toToolParameters(schema, 'openai')
const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city', 'kind'] }
const place = { type: 'object', properties: { lat: { type: 'number' }, kind: { const: 'b' } }, required: ['kind'] }

describe('schemas of tools', () => {
  it('leaves a schema that every provider accepts unchanged', () => {
    const schema = { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } }, required: ['a'] }
    expect(JSON.stringify(openai(schema))).toBe(JSON.stringify(schema))
    expect(JSON.stringify(toToolParameters(schema, 'anthropic'))).toBe(JSON.stringify(schema))
  })

  it('adds properties to objects and items to arrays that have none, at every level, for OpenAI', () => {
    const schema = {
      type: 'object',
      properties: {
        map: { type: ['object', 'null'], additionalProperties: { type: 'array' } },
        // A property may be named like a keyword.
        items: { anyOf: [{ type: 'array' }, { type: 'object' }] },
        pair: { type: 'array', prefixItems: [{ type: 'array' }] },
        type: { type: 'string', default: { type: 'object' }, enum: ['array'] },
      },
    }
    expect(openai(schema)).toEqual({
      type: 'object',
      properties: {
        map: { type: ['object', 'null'], additionalProperties: { type: 'array', items: {} }, properties: {} },
        items: {
          anyOf: [
            { type: 'array', items: {} },
            { type: 'object', properties: {} },
          ],
        },
        pair: { type: 'array', prefixItems: [{ type: 'array', items: {} }], items: {} },
        type: { type: 'string', default: { type: 'object' }, enum: ['array'] },
      },
    })
    expect(toToolParameters(schema, 'anthropic')).toEqual(schema)
  })

  it('declares required fields that are not among the properties, at every level, for Gemini', () => {
    const inner = { type: 'object', properties: { b: {} }, required: ['b', '__proto__'] }
    const schema = { properties: { a: inner }, required: ['c', 'a'] }
    expect(JSON.stringify(openai(schema))).toBe(
      '{"type":"object","properties":{"c":{},"a":{"type":"object","properties":{"__proto__":{},"b":{}},"required":["b","__proto__"]}},"required":["c","a"]}',
    )
  })

  it.each<[string, JsonSchema]>([
    ['references in a circle', { a: { $ref: '#/properties/b' }, b: { $ref: '#/properties/a' } }],
    ['dynamic references', { a: { $dynamicRef: '#node' }, b: { $recursiveRef: '#' } }],
    ['references that are no text', { a: { $ref: 5 }, b: { $ref: '' } }],
    ['booleans', { a: true, b: false }],
    [
      'types that are none',
      { a: { type: 'STRING' }, b: { type: [] }, c: { type: ['string', 'string'] }, d: { type: null } },
    ],
    [
      'mixed values',
      { a: { enum: [1, '1', null, { b: 1 }, [2]] }, b: { const: [{}] }, c: { enum: 'a' }, d: { enum: [] } },
    ],
    ['odd names', { '': {}, 'a\u0000b': {}, '😀': {} }],
    [
      'bounds of the wrong type',
      { a: { minimum: '1' }, b: { minimum: NaN }, c: { minLength: -1 }, d: { multipleOf: 0 } },
    ],
    ['patterns of other languages', { a: { pattern: '(?P<x>a)\\Z' }, b: { patternProperties: { '(': 5 } } }],
    ['schemas that are none', { a: 'string', b: 5, c: null, d: [] }],
    ['dependencies of draft 07', { a: { dependencies: { b: ['c'], d: { type: 'object' } } } }],
    ['annotations of the wrong type', { a: { description: 5, title: {}, format: 7, examples: 1, deprecated: 'yes' } }],
    ['conditions', { a: { if: 5, else: null, not: 'x', contains: 1, propertyNames: [] } }],
  ])('accepts a foreign definition with %s', (_name, properties) => {
    for (const schema of [
      { type: 'object', properties },
      { properties, required: [null, 'z'] },
    ])
      for (const dialect of ['openai', 'anthropic'] as const)
        expect(findSchemaFaults(toToolParameters(schema, dialect))).toEqual([])
  })

  it.each<[string, JsonSchema, JsonSchema]>([
    ['a tuple of draft 07', { items: [{ type: 'number' }, true] }, { prefixItems: [{ type: 'number' }, true] }],
    ['a closed tuple', { items: [{}], additionalItems: false }, { prefixItems: [{}], items: false }],
    ['an empty tuple', { items: [], additionalItems: { type: 'null' } }, { items: { type: 'null' } }],
    ['a tuple in both forms', { items: [{}], prefixItems: [{ const: 1 }] }, { prefixItems: [{ const: 1 }] }],
    ['more items without a tuple', { items: {}, additionalItems: false }, { items: {} }],
    ['exclusive bounds of draft 04', { minimum: 1, exclusiveMinimum: true }, { exclusiveMinimum: 1 }],
    ['inclusive bounds of draft 04', { maximum: 9, exclusiveMaximum: false }, { maximum: 9 }],
    ['an exclusive bound without its number', { exclusiveMaximum: true }, {}],
    ['bounds of draft 06', { minimum: 0, exclusiveMinimum: 1 }, { minimum: 0, exclusiveMinimum: 1 }],
    ['a required field of draft 03', { type: 'string', required: true }, { type: 'string' }],
    ['a field required twice', { required: ['a', 'a'] }, {}],
    ['an unknown type', { type: 'any', title: 'A' }, { title: 'A' }],
    ['an unknown type among others', { type: ['string', 'file'] }, {}],
    ['no alternatives', { anyOf: [], enum: [] }, {}],
    ['values of the wrong type', { title: 1, minLength: '2', pattern: null, properties: [], uniqueItems: 1 }, {}],
    [
      'schemas that are none',
      { properties: { b: 'string', c: null }, anyOf: [1] },
      { properties: { b: {}, c: {} }, anyOf: [{}] },
    ],
    ['references that lead nowhere', { anyOf: [{ $ref: '#/$defs/b' }, { $ref: 5 }] }, { anyOf: [{}, {}] }],
    ['unknown keywords', { nullable: true, 'x-items': [1] }, { nullable: true, 'x-items': [1] }],
    [
      'data like schemas',
      { default: { items: [1] }, enum: [{ required: true }] },
      { default: { items: [1] }, enum: [{ required: true }] },
    ],
  ])('writes %s as draft 2020-12 has it', (_what, given, sent) => {
    const wrap = (schema: JsonSchema): JsonSchema => ({ type: 'object', properties: { a: schema, items: schema } })
    expect(toToolParameters(wrap(given), 'anthropic')).toEqual(wrap(sent))
    expect(findSchemaFaults(toToolParameters(wrap(given), 'anthropic'))).toEqual([])
  })

  it('follows a tuple with the references to its items', () => {
    const schema = {
      type: 'object',
      properties: { a: { items: [{ type: 'number' }] }, b: { $ref: '#/properties/a/items/0' } },
    }
    expect(toToolParameters(schema, 'anthropic')['properties']).toEqual({
      a: { prefixItems: [{ type: 'number' }] },
      b: { $ref: '#/properties/a/prefixItems/0' },
    })
  })

  it('keeps references that it cannot look up, and those to the whole', () => {
    const properties = { a: { $ref: '#' }, b: { $ref: '#name' }, c: { $ref: 'https://schemas.test/a' } }
    expect(toToolParameters({ type: 'object', properties }, 'anthropic')['properties']).toEqual(properties)
  })

  it.each<[string, JsonSchema]>([
    ['no type at all', {}],
    ['no properties', { type: 'object' }],
    ['null beside the object', { type: ['object', 'null'] }],
    ['not an object', { type: 'string' }],
    ['properties that are not an object', { type: 'object', properties: [] }],
  ])('sends an object with properties if there is %s', (_what, schema) => {
    expect(openai(schema)).toEqual({ type: 'object', properties: {} })
    expect(toToolParameters(schema, 'anthropic')).toEqual({ type: 'object', properties: {} })
  })

  it.each(['anyOf', 'oneOf'])(
    'merges %s at the top, and requires the fields that every alternative requires',
    (keyword) => {
      const merged = openai({ [keyword]: [city, place], required: ['id'], properties: { id: { type: 'array' } } })
      expect(merged).toMatchObject({
        type: 'object',
        properties: { id: { type: 'array', items: {} }, city: { type: 'string' }, lat: { type: 'number' } },
        required: ['id', 'kind'],
      })
      expect(merged).not.toHaveProperty(keyword)
    },
  )

  it('merges allOf at the top, and requires the fields that any part requires', () => {
    const merged = openai({ type: 'object', allOf: [city, place] })
    expect(merged).toMatchObject({
      properties: { city: {}, lat: {}, kind: { const: 'b' } },
      required: ['city', 'kind'],
    })
    expect(merged).not.toHaveProperty('allOf')
  })

  it('follows references to the alternatives, and leaves no reference into the merged parts', () => {
    const merged = openai({
      $defs: { city },
      anyOf: [{ $ref: '#/$defs/city' }, { properties: { twin: { $ref: '#/anyOf/0/properties/city' } } }],
    })
    expect(merged).toMatchObject({ $defs: { city }, properties: { city: { type: 'string' } } })
    expect(merged['properties']).toHaveProperty('twin', {})
  })

  it('prepares a schema once for each dialect', () => {
    const schema = { type: 'object' }
    expect(openai(schema)).toBe(openai(schema))
    expect(schema).toEqual({ type: 'object' })
  })

  it.each(['properties', 'items', 'anyOf', 'default', '$defs', 'x'])(
    'sends a schema nested 100,000 levels deep in %s down to the limit',
    (keyword) => {
      let schema: JsonSchema = { type: 'object' }
      for (let depth = 0; depth < 100_000; depth++) {
        const inner = keyword === 'anyOf' ? [schema] : schema
        schema = { type: 'object', [keyword]: keyword === 'properties' || keyword === '$defs' ? { a: inner } : inner }
      }
      const text = JSON.stringify(openai(schema))
      expect(text.length).toBeLessThan(100 * MAX_TOOL_SCHEMA_DEPTH)
    },
  )

  it('sends a schema with too many values, or one that contains itself, only in part', () => {
    const wide = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`p${at}`, { enum: [{ at }] }]))
    const text = JSON.stringify(openai({ type: 'object', properties: wide }))
    expect(text).toContain('"p59999":{}')
    const loop: Record<string, unknown> = { type: 'object' }
    loop['properties'] = { a: loop, b: loop }
    expect(JSON.stringify(openai(loop)).length).toBeLessThan(10_000_000)
  })

  it('keeps fields named like properties of Object.prototype', () => {
    const text = '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"array"}}}'
    expect(JSON.stringify(openai(JSON.parse(text) as JsonSchema))).toBe(text.replace('"array"}', '"array","items":{}}'))
  })

  it('writes the definitions of real servers as draft 2020-12 has it', () => {
    const corpus = join(import.meta.dirname, '../../../../test/data/mcp-tools/tools.jsonl')
    const lines = readFileSync(corpus, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
    for (const line of lines) {
      const { inputSchema } = JSON.parse(line) as { readonly inputSchema: JsonSchema }
      expect(findSchemaFaults(openai(inputSchema))).toEqual([])
      expect(findSchemaFaults(toToolParameters(inputSchema, 'anthropic'))).toEqual([])
    }
  })

  it("turns any server's schema into a valid object without alternatives at the top", () => {
    const structure = 'type properties items additionalItems anyOf oneOf allOf $ref $defs required'
    const details = 'minimum exclusiveMinimum maxLength enum not description dependentRequired'
    const keyword = fc.constantFrom(...`${structure} ${details}`.split(' '))
    const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('object', 'array', '#', '#/anyOf/0', null, true, false, 0),
        fc.dictionary(fc.oneof(keyword, fc.constant('__proto__')), tie('schema'), { noNullPrototype: true }),
        fc.array(tie('schema'), { maxLength: 3 }),
      ),
    }))
    fc.assert(
      fc.property(fc.dictionary(keyword, schema, { noNullPrototype: true }), (input) => {
        const output = openai(input)
        expect(output['type']).toBe('object')
        expect(Array.isArray(output['properties']) || typeof output['properties'] !== 'object').toBe(false)
        expect(findSchemaFaults(output)).toEqual([])
        for (const refused of ['anyOf', 'oneOf', 'allOf', 'enum', 'not', '$ref'])
          expect(output).not.toHaveProperty(refused)
      }),
    )
  })
})
