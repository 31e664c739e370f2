import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../../core/schema/schema.ts'
import { schemaFragment } from './fragment.ts'
import { anySchema, THEN } from '../schemas.fixtures.ts'
import { startCpuClock } from '../../../core/cpu.fixtures.ts'

const Node: JsonSchema = {
  type: 'object',
  properties: { value: { type: 'integer' }, children: { type: 'array', items: { $ref: '#/$defs/Node' } } },
  required: ['value'],
}

const schema: JsonSchema = {
  type: 'object',
  properties: {
    plain: { type: 'string', title: 'Plain', description: 'A text.' },
    tree: { $ref: '#/$defs/Node', description: 'The tree.' },
    pair: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], items: { type: 'boolean' } },
    old: { type: 'array', items: [{ const: 1 }] },
    either: {
      anyOf: [
        { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
        { type: 'object', properties: { a: { type: 'integer' } } },
        { type: 'null' },
      ],
    },
    both: { allOf: [{ properties: { a: { type: 'integer' } } }, { properties: { a: { maximum: 5 } } }] },
    record: {
      type: 'object',
      patternProperties: { '^n': { type: 'number' } },
      additionalProperties: { type: 'string' },
    },
    closed: { type: 'object', properties: {}, additionalProperties: false },
    '0': { type: 'string', const: 'zero' },
  },
  $defs: { Node },
}

describe('R46 the fragment of a schema for a path', () => {
  it.each<[string, readonly (string | number)[], JsonSchema | undefined]>([
    ['a field', ['plain'], { type: 'string', description: 'A text.' }],
    ['a field of a reference', ['tree', 'value'], { type: 'integer' }],
    ['a field further down a recursion', ['tree', 'children', 3, 'children', 0, 'value'], { type: 'integer' }],
    ['an item of a tuple', ['pair', 1], { type: 'string' }],
    ['an item behind a tuple', ['pair', 5], { type: 'boolean' }],
    ['an item of an old tuple', ['old', 0], { const: 1 }],
    ['an item named by a text', ['pair', '0'], { type: 'number' }],
    ['a field in some alternatives', ['either', 'a'], { anyOf: [{ type: 'string' }, { type: 'integer' }] }],
    ['a field in one alternative', ['either', 'b'], { type: 'string' }],
    ['a field that two parts speak of', ['both', 'a'], { allOf: [{ type: 'integer' }, { maximum: 5 }] }],
    ['a field by pattern', ['record', 'n1'], { type: 'number' }],
    ['any other field', ['record', 'x'], { type: 'string' }],
    ['a field named by a number', ['0'], { type: 'string', const: 'zero' }],
    ['no field', ['none'], undefined],
    ['a field of a closed object', ['closed', 'x'], undefined],
    ['a field of a text', ['plain', 'x'], undefined],
    ['a name of the machine', ['constructor'], undefined],
  ])('R46 is found for %s', (_, path, expected) => {
    expect(schemaFragment(schema, path)).toEqual(expected)
  })

  it('R46 is self-contained: references are inlined once', () => {
    expect(schemaFragment(schema, ['tree'])).toEqual({
      type: 'object',
      description: 'The tree.',
      properties: { value: { type: 'integer' }, children: { type: 'array', items: { type: 'object' } } },
      required: ['value'],
    })
  })

  it('R46 follows conditions', () => {
    const conditional = {
      type: 'object',
      if: { properties: { a: { const: 1 } } },
      [THEN]: { properties: { b: { type: 'string' } } },
      dependentSchemas: { c: { properties: { d: { type: 'number' } } } },
    }
    expect([schemaFragment(conditional, ['b']), schemaFragment(conditional, ['d'])]).toEqual([
      { type: 'string' },
      { type: 'number' },
    ])
  })

  it('R46 is small however large the schema is', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [`field${i}`, { type: 'string', description: 'Words. '.repeat(50) }]),
    )
    const large = {
      type: 'object',
      properties: { x: { type: 'object', properties, required: ['field7'] }, y: { enum: Object.keys(properties) } },
    }
    expect(schemaFragment(large, ['x'])).toEqual({
      type: 'object',
      properties: { field7: { type: 'string' } },
      required: ['field7'],
      $comment: '199 optional left off',
    })
    expect(countTokens(JSON.stringify(schemaFragment(large, ['y'])))).toBeLessThan(100)
    expect(schemaFragment(large, ['y'])).toEqual({
      enum: Array.from({ length: 20 }, (_, i) => `field${i}`),
      $comment: '180 more values',
    })
  })

  it('R46 never throws, and is JSON and small', () => {
    const step = fc.constantFrom<string | number>('id', 'name', 0, 1, '__proto__', 'x-y')
    fc.assert(
      fc.property(anySchema, fc.array(step, { maxLength: 3 }), (any, path) => {
        const fragment = schemaFragment(any, path)
        expect(countTokens(JSON.stringify(fragment ?? {}))).toBeLessThan(200)
      }),
      { numRuns: 500 },
    )
  })

  it('R46 is found quickly for a name that a pattern would take forever to match', () => {
    const schema = { type: 'object', patternProperties: { '^(a+)+$': { type: 'string' }, '(b|b)*c': { type: 'null' } } }
    const getCpuMs = startCpuClock()
    expect(schemaFragment(schema, [`${'a'.repeat(5_000)}!`])).toBeUndefined()
    expect(schemaFragment(schema, ['aaa'])).toEqual({ type: 'string' })
    expect(getCpuMs()).toBeLessThan(2_000)
  })
})
