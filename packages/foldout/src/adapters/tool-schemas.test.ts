import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../core/schema/schema.ts'
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
        pair: { type: 'array', prefixItems: [{ type: 'array', items: {} }] },
        type: { type: 'string', default: { type: 'object' }, enum: ['array'] },
      },
    })
    expect(toToolParameters(schema, 'anthropic')).toEqual(schema)
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

  it("turns any server's schema into an object without alternatives at the top", () => {
    const keyword = fc.constantFrom(
      'type',
      'properties',
      'items',
      'anyOf',
      'oneOf',
      'allOf',
      '$ref',
      '$defs',
      'required',
    )
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
        for (const refused of ['anyOf', 'oneOf', 'allOf', 'enum', 'not', '$ref'])
          expect(output).not.toHaveProperty(refused)
      }),
    )
  })
})
