import { describe, expect, it } from 'vitest'
import { describeIssues, fromJsonSchema, type JsonSchema } from '../schema.ts'
import { MAX_CHECK_DEPTH } from './limits.ts'
import { createValueCheck } from './check.ts'
import { startCpuClock } from '../../cpu.fixtures.ts'

/** The message that a model reads about an invalid value. */
const describeFault = (schema: JsonSchema, value: unknown): string => {
  const result = fromJsonSchema(schema)['~standard'].validate(value)
  if (result instanceof Promise) throw new Error('It must answer at once.')
  return describeIssues(result.issues ?? [])
}
const isValid = (schema: unknown, value: unknown): boolean => createValueCheck(schema)(value).length === 0
const nested = (depth: number, wrap: (inner: unknown) => unknown, inner: unknown = {}): unknown => {
  let value = inner
  for (let level = 0; level < depth; level++) value = wrap(value)
  return value
}

describe('R46 messages about invalid arguments', () => {
  const field = (schema: JsonSchema): JsonSchema => ({ type: 'object', properties: { a: schema } })
  it.each<[JsonSchema, unknown, string]>([
    [{ type: 'string' }, [], 'a must be a string, not a list'],
    [{ type: 'string' }, null, 'a must be a string, not null'],
    [{ type: 'array' }, 'x', 'a must be a list, not a string'],
    [{ type: 'object' }, true, 'a must be an object, not a boolean'],
    [{ type: 'integer' }, 1.5, 'a must be a whole number, not 1.5'],
    [{ type: 'integer' }, '1', 'a must be a whole number, not a string'],
    [{ type: ['string', 'null'] }, 5, 'a must be a string or null, not a number'],
    [{ type: 'boolean' }, 'yes', 'a must be true or false, not a string'],
    [{ enum: ['north', 'south'] }, 'up', 'a must be "north" or "south"'],
    [
      { enum: Array.from({ length: 30 }, (_, i) => i) },
      'x',
      `a must be one of ${Array.from({ length: 20 }, (_, i) => i).join(', ')} or 10 others`,
    ],
    [{ enum: [] }, 'x', 'a has no value that is allowed'],
    [{ enum: [{ b: 1 }] }, {}, 'a must be {"b":1}'],
    [{ const: 5 }, 6, 'a must be 5'],
    [{ minimum: 3 }, 2, 'a must be at least 3'],
    [{ maximum: 3 }, 4, 'a must be at most 3'],
    [{ exclusiveMinimum: 3 }, 3, 'a must be more than 3'],
    [{ exclusiveMaximum: 3 }, 3, 'a must be less than 3'],
    [{ multipleOf: 0.1 }, 0.35, 'a must be a multiple of 0.1'],
    [{ minLength: 1 }, '', 'a must not be empty'],
    [{ minLength: 3 }, 'ab', 'a must have at least 3 characters'],
    [{ maxLength: 1 }, 'ab', 'a must have at most 1 character'],
    [{ pattern: '^x' }, 'ab', 'a must match the pattern ^x'],
    [{ format: 'date-time' }, 'today', 'a must be a date and time such as 2026-01-31T12:00:00Z'],
    [{ format: 'email' }, 'me', 'a must be an email address'],
    [{ items: { type: 'string' } }, ['x', 5], 'a[1] must be a string, not a number'],
    [{ prefixItems: [{}, { type: 'string' }] }, ['x', 5], 'a[1] must be a string, not a number'],
    [{ items: [{}, { type: 'string' }], additionalItems: false }, ['x', 'y', 5], 'a[2] is not allowed'],
    [{ minItems: 1 }, [], 'a must not be empty'],
    [{ minItems: 2 }, [1], 'a must have at least 2 items'],
    [{ maxItems: 1 }, [1, 2], 'a must have at most 1 item'],
    [
      { uniqueItems: true },
      [
        { x: 1, y: 2 },
        { y: 2, x: 1 },
      ],
      'a must not contain the same item twice',
    ],
    [{ contains: { type: 'string' } }, [1], 'a must contain at least 1 item of the kind its schema asks for'],
    [
      { contains: { type: 'string' }, maxContains: 1 },
      ['a', 'b'],
      'a must contain at most 1 item of the kind its schema names',
    ],
    [{ required: ['b'] }, {}, 'a.b is required'],
    [{ dependentRequired: { b: ['c'] } }, { b: 1 }, 'a.c is required where b is given'],
    [{ dependencies: { b: ['c'] } }, { b: 1 }, 'a.c is required where b is given'],
    [{ dependentSchemas: { b: { required: ['c'] } } }, { b: 1 }, 'a.c is required'],
    [{ properties: { b: false } }, { b: 1 }, 'a.b is not allowed'],
    [{ additionalProperties: false, properties: { c: {} } }, { b: 1 }, 'there is no field b in a; there are: c'],
    [{ additionalProperties: false }, { b: 1 }, 'there is no field b in a; that takes none'],
    [{ additionalProperties: { type: 'string' } }, { b: 1 }, 'a.b must be a string, not a number'],
    [{ patternProperties: { '^b': { type: 'string' } } }, { b: 1 }, 'a.b must be a string, not a number'],
    [
      { unevaluatedProperties: false, allOf: [{ properties: { c: {} } }] },
      { b: 1, c: 1 },
      'there is no field b in a; that takes none',
    ],
    [{ unevaluatedItems: false, prefixItems: [{}] }, [1, 2], 'a[1] is not allowed'],
    [
      { propertyNames: { maxLength: 1 } },
      { bb: 1 },
      'a.bb cannot be the name of a field here: it must have at most 1 character',
    ],
    [{ minProperties: 1 }, {}, 'a must have at least 1 field'],
    [{ maxProperties: 0 }, { b: 1 }, 'a must have at most 0 fields'],
    [{ not: { type: 'string' } }, 'x', 'a has a value that its schema excludes'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 5, 'a must be a string or null, not a number'],
    [{ anyOf: [{ const: 'x' }, { const: 'y' }] }, 'z', 'a must be "x" or "y"'],
    [{ anyOf: [{ type: 'string', minLength: 2 }, { type: 'number' }] }, 'x', 'a must have at least 2 characters'],
    [
      {
        oneOf: [
          { properties: { kind: { const: 'one' }, size: { type: 'number' } }, required: ['kind', 'size'] },
          { properties: { kind: { const: 'two' }, name: { type: 'string' } }, required: ['kind', 'name'] },
        ],
      },
      { kind: 'two' },
      'a.name is required',
    ],
    [
      { oneOf: [{}, { type: 'string' }] },
      'x',
      'a must fit exactly one of the 2 alternatives in its schema, and fits 2',
    ],
    [
      JSON.parse('{"if":{"type":"string"},"then":{"minLength":2}}') as JsonSchema,
      'x',
      'a must have at least 2 characters',
    ],
    [{ if: { type: 'string' }, else: { minimum: 2 } }, 1, 'a must be at least 2'],
    [false as unknown as JsonSchema, 1, 'a is not allowed'],
  ])('%j of %j', (schema, value, message) => {
    expect(describeFault(field(schema), { a: value })).toBe(message)
  })

  it('names the known arguments', () => {
    const schema = { type: 'object', properties: { name: {}, age: {} }, additionalProperties: false }
    expect(describeFault(schema, { who: 1 })).toBe('there is no argument who; there are: name, age')
    expect(describeFault({ ...schema, properties: {} }, { who: 1 })).toBe('there is no argument who; it takes none')
    expect(describeFault(schema, { 'a\nb': 1 })).toBe('there is no argument "a\\nb"; there are: name, age')
    expect(describeFault(schema, 'x')).toBe('the value must be an object, not a string')
  })
})

describe('R46 schemas and values from outside', () => {
  const doubling = (levels: number): JsonSchema => ({
    $defs: Object.fromEntries(
      Array.from({ length: levels }, (_, level) => [
        `l${level}`,
        level === levels - 1
          ? { type: 'string' }
          : { allOf: [{ $ref: `#/$defs/l${level + 1}` }, { $ref: `#/$defs/l${level + 1}` }] },
      ]),
    ),
    $ref: '#/$defs/l0',
  })
  const shared = (levels: number): JsonSchema =>
    nested(levels, (inner) => ({ allOf: [inner, inner] }), { type: 'string' }) as JsonSchema

  it.each<[string, () => unknown, unknown, boolean]>([
    ['references that double per level', () => doubling(300), 'x', true],
    ['references that double per level, and do not fit', () => doubling(300), 5, false],
    ['shared objects that double per level', () => shared(300), 'x', true],
    [
      'anyOf that doubles through properties',
      () => ({
        $defs: {
          node: {
            anyOf: [{ properties: { a: { $ref: '#/$defs/node' } } }, { properties: { a: { $ref: '#/$defs/node' } } }],
            type: 'object',
          },
        },
        $ref: '#/$defs/node',
      }),
      nested(100, (a) => ({ a }), 5),
      false,
    ],
    [
      'many objects that must differ',
      () => ({ uniqueItems: true }),
      Array.from({ length: 50_000 }, (_, i) => ({ i, b: 'x' })),
      true,
    ],
    [
      'nested lists that must differ at each level',
      () => ({ uniqueItems: true, items: { $ref: '#' } }),
      nested(300, (inner) => [inner, 1], []),
      true,
    ],
    [
      'many anchors',
      () => ({
        $defs: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`d${i}`, { $anchor: `a${i}` }])),
        allOf: Array.from({ length: 20_000 }, (_, i) => ({ $ref: `#a${i}` })),
      }),
      'x',
      true,
    ],
    ['a pattern that backtracks', () => ({ pattern: '^(a+)+$' }), `${'a'.repeat(100_000)}b`, false],
    [
      'a pattern of names that backtracks',
      () => ({ patternProperties: { '^(a+)+$': false } }),
      { [`${'a'.repeat(50_000)}b`]: 1 },
      true,
    ],
    ['a pattern that cannot be run here', () => ({ pattern: '^(a)\\1$' }), 'b', true],
    ['a reference to itself', () => ({ $ref: '#' }), 'x', true],
    [
      'references in a circle',
      () => ({ $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }),
      'x',
      true,
    ],
    ['a reference to nothing', () => ({ $ref: '#/gone' }), 'x', true],
    [
      'a field called __proto__',
      () => ({ properties: JSON.parse('{"__proto__":{"type":"string"}}') }),
      JSON.parse('{"__proto__":5}'),
      false,
    ],
    ['required names of every object', () => ({ required: ['toString', 'constructor', '__proto__'] }), {}, false],
    [
      'properties called as those of every object',
      () => ({ properties: { constructor: { type: 'string' } } }),
      {},
      true,
    ],
    ['a format called toString', () => ({ format: 'toString' }), 'x', true],
    ['a format called constructor', () => ({ format: 'constructor' }), 'x', true],
    [
      'keywords with values that mean nothing',
      () => ({
        type: 'any',
        enum: 5,
        required: 'x',
        items: 'y',
        pattern: 5,
        allOf: {},
        properties: [],
        minimum: 'z',
        $ref: 7,
      }),
      { a: 1 },
      true,
    ],
    [
      'a large enum and many items',
      () => ({ items: { enum: Array.from({ length: 20_000 }, (_, i) => `v${i}`) } }),
      Array.from({ length: 20_000 }, (_, i) => `v${i}`),
      true,
    ],
    [
      'many properties and many small objects',
      () => ({ items: { properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`p${i}`, {}])) } }),
      Array.from({ length: 5_000 }, () => ({})),
      true,
    ],
    [
      'a value nested deeper than a check goes',
      () => ({ items: { $ref: '#' } }),
      nested(100_000, (inner) => [inner]),
      false,
    ],
    [
      'a value that contains itself',
      () => ({ properties: { self: { $ref: '#' } } }),
      (() => {
        const value: Record<string, unknown> = {}
        value['self'] = value
        return value
      })(),
      false,
    ],
    ['a deep value that is not looked into', () => ({ type: 'array' }), nested(100_000, (inner) => [inner]), true],
    [
      'deep values that must differ',
      () => ({ uniqueItems: true }),
      [nested(50_000, (inner) => [inner]), nested(50_001, (inner) => [inner])],
      true,
    ],
  ])('%s', (_, schema, value, expected) => {
    const getCpuMs = startCpuClock()
    expect(isValid(schema(), value)).toBe(expected)
    expect(getCpuMs()).toBeLessThan(2_500)
  })

  it('checks a schema nested 100,000 levels deep down to the limit', () => {
    expect(
      isValid(
        nested(100_000, (items) => ({ items })),
        [[[5]]],
      ),
    ).toBe(true)
    const all = nested(100_000, (inner) => ({ allOf: [inner] }), { type: 'string' }) as JsonSchema
    expect(describeFault(all, 'x')).toBe('the value is nested too deeply to be checked')
    expect(
      describeFault(
        { items: { $ref: '#' } },
        nested(MAX_CHECK_DEPTH + 1, (inner) => [inner]),
      ),
    ).toBe('the value is nested too deeply to be checked')
  })

  it('rejects a check that would take too long, in bounded time', () => {
    const schema = { items: { allOf: Array.from({ length: 3_000 }, (_, i) => ({ not: { const: i } })) } }
    expect(
      describeFault(
        schema,
        Array.from({ length: 3_000 }, () => -1),
      ),
    ).toBe('the value is too large to be checked')
  })

  it('gives the same answer each time', () => {
    const check = createValueCheck({ $defs: { s: { type: 'string' } }, items: { $ref: '#/$defs/s' } })
    for (let round = 0; round < 3; round++) {
      expect(check(['a', 'b'])).toEqual([])
      expect(check(['a', 5])).toEqual([{ message: 'must be a string, not a number', path: [1] }])
    }
  })

  it('neither changes nor retains its input', () => {
    const schema = Object.freeze({
      type: 'object',
      properties: Object.freeze({ a: Object.freeze({ type: 'string' }) }),
    })
    expect(isValid(schema, Object.freeze({ a: 'x' }))).toBe(true)
  })
})
