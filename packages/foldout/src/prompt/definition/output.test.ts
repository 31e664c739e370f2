import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { FoldoutError, PromptValidationError } from '../../core/errors.ts'
import { fromJsonSchema, type JsonSchema, type StandardSchemaV1, type ToolSchema } from '../../core/schema/schema.ts'
import { OutputParseError, outputSpec, parseOutput } from './output.ts'
import { startCpuClock } from '../../core/cpu.fixtures.ts'

/** The same output, defined in every supported way. */
const REPORT: readonly (readonly [string, ToolSchema | JsonSchema])[] = [
  [
    'zod',
    z.object({
      title: z.string(),
      items: z.array(z.object({ name: z.string(), count: z.number().optional() })),
    }),
  ],
  [
    'valibot',
    toStandardJsonSchema(
      v.object({ title: v.string(), items: v.array(v.object({ name: v.string(), count: v.optional(v.number()) })) }),
    ),
  ],
  ['arktype', type({ title: 'string', items: type({ name: 'string', 'count?': 'number' }).array() })],
  [
    'JSON Schema',
    {
      type: 'object',
      properties: {
        title: { type: 'string' },
        items: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: { type: 'string' }, count: { type: 'number' } },
            required: ['name'],
          },
        },
      },
      required: ['title', 'items'],
    },
  ],
]

const Point = z.object({ x: z.number(), y: z.number() })

function failure(schema: ToolSchema | JsonSchema, text: string): OutputParseError {
  try {
    parseOutput(schema, text)
  } catch (error) {
    if (error instanceof OutputParseError) return error
    throw error
  }
  throw new Error('It was parsed.')
}

/** The parts of an error that programs and models see. */
function seen(schema: ToolSchema | JsonSchema, text: string): unknown {
  const { kind, fields, message } = failure(schema, text)
  return { kind, fields, message }
}

describe.each(REPORT)('R17 output defined with %s', (_, schema) => {
  const good = { title: 'T', items: [{ name: 'a' }, { name: 'b', count: 2 }] }

  it.each([
    ['bare', JSON.stringify(good)],
    ['with space and a byte order mark', `\uFEFF\n ${JSON.stringify(good, null, 2)}\n`],
    ['in a fenced block', `Here you are:\n\n\`\`\`json\n${JSON.stringify(good, null, 2)}\n\`\`\`\nDone.`],
    ['between other words', `I looked at {this} and [1]: ${JSON.stringify(good)} [2]`],
    ['behind JSON that does not fit', `You gave {"title": 1}.\n\`\`\`\n{}\n\`\`\`\n${JSON.stringify(good)}`],
  ])('R17 reads JSON %s', (_, text) => {
    expect(parseOutput(schema, text)).toEqual(good)
  })

  it('R17 reports that there is no JSON', () => {
    expect(seen(schema, 'I cannot do that.')).toEqual({
      kind: 'no-json',
      fields: [],
      message: expect.stringMatching(
        /^The answer contains no JSON\. Answer with a JSON object with the fields '(title' and 'items|items' and 'title)'\.$/,
      ) as unknown,
    })
  })

  it('R17 reports the wrong container', () => {
    expect(seen(schema, `[${JSON.stringify(good)}]`)).toEqual({
      kind: 'wrong-container',
      fields: [],
      message: expect.stringMatching(
        /^The answer must be a JSON object with the fields .*, but it is a JSON array\.$/,
      ) as unknown,
    })
  })

  it('R17 names missing fields', () => {
    expect(seen(schema, '{"title": "T", "items": [{"name": "a"}, {"count": 1}]}')).toEqual({
      kind: 'missing-field',
      fields: ['items[1].name'],
      message: "The field 'items[1].name' is missing; it must be a string.",
    })
  })

  it('R17 names unknown fields, even where the library would drop them', () => {
    expect(seen(schema, '{"title": "T", "items": [{"name": "a", "size": {"x": 1}}]}')).toEqual({
      kind: 'extra-field',
      fields: ['items[0].size'],
      message: "The field 'items[0].size' is not allowed; only 'name' and 'count' are allowed there.",
    })
  })

  it('R17 names fields with wrong values', () => {
    expect(seen(schema, '{"title": "T", "items": [{"name": 1, "count": "many"}, "b"]}')).toEqual({
      kind: 'invalid-value',
      fields: expect.toSatisfy((fields: string[]) =>
        ['items[0].count', 'items[0].name', 'items[1]'].every((field) => fields.includes(field)),
      ) as unknown,
      message: expect.stringContaining("The field 'items[0].name' must be a string, but it is a number.") as unknown,
    })
    expect(failure(schema, '{"title": "T", "items": [{"name": "a"}, "b"]}').message).toBe(
      "The item 'items[1]' must be an object with the fields 'name' and 'count', but it is a string.",
    )
  })

  it('R17 reports problems of every kind, missing fields first', () => {
    const { kind, fields, message } = failure(schema, '{"items": [{"name": 1}], "extra": 1}')
    expect({ kind, fields }).toEqual({ kind: 'missing-field', fields: ['title'] })
    expect(message).toMatch(
      /^The field 'title' is missing; it must be a string\. The field 'extra' is not allowed; only '\w+' and '\w+' are allowed there\. The field 'items\[0\]\.name' must be a string, but it is a number\.$/,
    )
    expect(failure(schema, '{"title": 1, "items": [], "extra": 1}')).toMatchObject({
      kind: 'extra-field',
      fields: ['extra'],
    })
  })
})

describe('R17 OutputParseError', () => {
  it('R17 keeps the raw text, but does not repeat it', () => {
    const raw = `Well: {"x": ${JSON.stringify('long '.repeat(1000))}, "y": 1}`
    const error = failure(z.object({ x: z.enum(['a', 'b']), y: z.number() }), raw)
    expect(error).toBeInstanceOf(FoldoutError)
    expect(error).toMatchObject({ name: 'OutputParseError', code: 'output-parse', raw, fields: ['x'] })
    expect(error.message).toBe(`The field 'x' must be "a" or "b", but it is "${'long '.repeat(1000).slice(0, 199)}….`)
  })

  it('R17 keeps the message short for many problems, but lists every field', () => {
    const { fields, message } = failure(z.array(z.string()), JSON.stringify(Array.from({ length: 50 }, (_, i) => i)))
    expect(fields).toHaveLength(50)
    expect(fields.at(-1)).toBe('[49]')
    expect(message).toMatch(
      /^The item '\[0\]' must be a string, but it is a number\. .* The item '\[29\]' must be .* There are more problems like these\.$/,
    )
  })

  it.each([
    [
      '{"x": 1, "y": ',
      "The JSON in the answer is cut off before it ends. Answer with a JSON object with the fields 'x' and 'y'.",
    ],
    [
      'So:\n{"x": 1,\n  y: 2}',
      "The JSON in the answer is malformed at line 3, column 3, before \"y: 2}\". Answer with a JSON object with the fields 'x' and 'y'.",
    ],
    [
      'See [1]: {"x": 1, "y": {"z": 1}, ',
      "The JSON in the answer is cut off before it ends. Answer with a JSON object with the fields 'x' and 'y'.",
    ],
    [
      '['.repeat(200),
      "The JSON in the answer is nested more than 100 levels deep. Answer with a JSON object with the fields 'x' and 'y'.",
    ],
  ])('R17 distinguishes broken JSON from no JSON: %j', (text, message) => {
    expect(seen(Point, text)).toEqual({ kind: 'no-json', fields: [], message })
  })

  it('R17 never mistakes a part of a broken answer for the answer', () => {
    const Tree = z.object({
      name: z.string(),
      get children() {
        return z.array(Tree).optional()
      },
    })
    for (const broken of [
      '{"name": "root", "children": [{"name": "leaf"}',
      '{"name": "root", "children": [{"name": "leaf"},]}',
      '{"name": undefined, "children": [], "x": {"name": "leaf"}}',
    ]) {
      expect(failure(Tree, broken).kind).toBe('no-json')
    }
  })

  it('R17 reports on the most likely candidate: the right container, then the longest', () => {
    expect(failure(Point, '{"x": 1} [1, 2, 3, 4, 5, 6] {"x": 1, "y": "2"} {}')).toMatchObject({
      kind: 'invalid-value',
      fields: ['y'],
    })
    expect(failure(Point, 'See [1] and "x": [[1]]').message).toBe(
      "The answer must be a JSON object with the fields 'x' and 'y', but it is a JSON array.",
    )
    expect(failure(Point, '"x"').message).toBe(
      "The answer must be a JSON object with the fields 'x' and 'y', but it is a string.",
    )
    expect(failure(z.array(Point), '{"x": 1, "y": 2}').message).toBe(
      "The answer must be a JSON array in which each item is an object with the fields 'x' and 'y', but it is a JSON object.",
    )
    expect(failure(z.array(Point), 'See [1] and [{"x": 1, "y": 2}, {').kind).toBe('no-json')
    expect(failure(Point, 'See [1] and [{"x": 1, "y": 2}, {').kind).toBe('no-json')
    expect(failure(Point, 'See [1, 2, 3, 4, 5, 6] and [1, 2').kind).toBe('wrong-container')
  })
})

describe('R17 extra fields', () => {
  const read = (schema: ToolSchema | JsonSchema, value: unknown): unknown => parseOutput(schema, JSON.stringify(value))
  const extra = (schema: ToolSchema | JsonSchema, value: unknown): readonly string[] => {
    const { kind, fields } = failure(schema, JSON.stringify(value))
    expect(kind).toBe('extra-field')
    return fields
  }

  it('R17 are allowed where the schema says so', () => {
    expect(read(z.looseObject({ a: z.number() }), { a: 1, b: 2 })).toEqual({ a: 1, b: 2 })
    expect(read(z.object({ a: z.number() }).catchall(z.number()), { a: 1, b: 2 })).toEqual({ a: 1, b: 2 })
    expect(read(z.record(z.string(), z.number()), { a: 1, b: 2 })).toEqual({ a: 1, b: 2 })
    expect(read(z.object({ a: z.unknown() }), { a: { b: 1 } })).toEqual({ a: { b: 1 } })
    expect(read(toStandardJsonSchema(v.objectWithRest({ a: v.number() }, v.number())), { a: 1, b: 2 })).toEqual({
      a: 1,
      b: 2,
    })
    expect(read(type({ a: 'number', '[string]': 'unknown' }), { a: 1, b: 2 })).toEqual({ a: 1, b: 2 })
    expect(read({ type: 'object' }, { a: 1 })).toEqual({ a: 1 })
    expect(read({ type: 'object', properties: { a: {} }, additionalProperties: true }, { a: 1, b: 2 })).toEqual({
      a: 1,
      b: 2,
    })
    expect(read({ type: 'object', properties: { a: {} }, additionalProperties: {} }, { a: 1, b: 2 })).toEqual({
      a: 1,
      b: 2,
    })
    expect(
      read({ type: 'object', properties: { a: {} }, patternProperties: { '^b': {} } }, { a: 1, b: { c: 1 } }),
    ).toEqual({ a: 1, b: { c: 1 } })
    expect(
      read({ type: 'object', properties: { a: true }, unevaluatedProperties: true }, { a: { c: 1 }, b: 2 }),
    ).toEqual({ a: { c: 1 }, b: 2 })
  })

  it('R17 are found at any depth of the schema', () => {
    expect(extra(z.object({}), { a: 1 })).toEqual(['a'])
    expect(extra(z.strictObject({ a: z.number() }), { a: 1, b: 2, c: 3 })).toEqual(['b', 'c'])
    expect(extra(z.record(z.string(), Point), { p: { x: 1, y: 2, z: 3 } })).toEqual(['p.z'])
    expect(extra(z.array(z.array(Point)), [[{ x: 1, y: 2, z: 3 }]])).toEqual(['[0][0].z'])
    expect(extra(z.tuple([z.number(), Point]), [1, { x: 1, y: 2, z: 3 }])).toEqual(['[1].z'])
    expect(extra(toStandardJsonSchema(v.strictObject({ a: v.number() })), { a: 1, b: 2 })).toEqual(['b'])
    expect(extra(type({ a: 'number', '+': 'reject' }), { a: 1, b: 2 })).toEqual(['b'])
    expect(
      extra(
        { type: 'object', properties: { a: { type: 'number' } }, additionalProperties: false },
        { a: 1, b: { c: 1 } },
      ),
    ).toEqual(['b'])
    expect(extra(z.object({ a: z.number() }), JSON.parse('{"a": 1, "__proto__": 1, "constructor": 1}'))).toEqual([
      '__proto__',
      'constructor',
    ])
  })

  it('R17 are found behind references, even recursive ones', () => {
    const Tree = z.object({
      name: z.string(),
      get children() {
        return z.array(Tree)
      },
    })
    const tree = { name: 'a', children: [{ name: 'b', children: [] }] }
    expect(read(Tree, tree)).toEqual(tree)
    expect(extra(Tree, { ...tree, children: [{ name: 'b', children: [], size: 1 }] })).toEqual(['children[0].size'])
    const list: JsonSchema = {
      $ref: '#/$defs/a~1list',
      $defs: { 'a/list': { type: 'object', properties: { next: { $ref: '#/$defs/a~1list' } } } },
    }
    expect(read(list, { next: { next: {} } })).toEqual({ next: { next: {} } })
    expect(extra(list, { next: { next: { other: 1 } } })).toEqual(['next.next.other'])
  })

  it('R17 are, in merged parts, the fields that no part names', () => {
    const Both = toStandardJsonSchema(v.intersect([v.object({ a: v.number() }), v.object({ b: v.number() })]))
    expect(read(Both, { a: 1, b: 2 })).toEqual({ a: 1, b: 2 })
    expect(extra(Both, { a: 1, b: 2, c: 3 })).toEqual(['c'])
    expect(failure(Both, '{"a": 1}').message).toBe("The field 'b' is missing; it must be a number.")
    expect(failure(Both, 'Hm.').message).toBe(
      "The answer contains no JSON. Answer with a JSON object with the fields 'a' and 'b'.",
    )
  })

  it('R17 are, in alternatives, the fields that no branch names', () => {
    const Shape = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('circle'), r: z.number() }),
      z.object({ kind: z.literal('square'), side: z.number() }),
    ])
    expect(read(Shape, { kind: 'circle', r: 1 })).toEqual({ kind: 'circle', r: 1 })
    expect(extra(Shape, { kind: 'circle', r: 1, color: 'red' })).toEqual(['color'])
    const Wrapped = z.object({ at: z.union([Point, z.null()]) })
    expect(read(Wrapped, { at: null })).toEqual({ at: null })
    expect(extra(Wrapped, { at: { x: 1, y: 2, z: 3 } })).toEqual(['at.z'])
    expect(read(z.object({ at: z.union([Point, z.record(z.string(), z.string())]) }), { at: { z: 'a' } })).toEqual({
      at: { z: 'a' },
    })
    const conditional: JsonSchema = {
      type: 'object',
      properties: { a: {}, b: {} },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    }
    expect(read(conditional, { b: 1 })).toEqual({ b: 1 })
    expect(extra(conditional, { a: 1, c: 1 })).toEqual(['c'])
    expect(
      read({ type: 'object', properties: { a: {} }, anyOf: [{ type: 'object' }, { type: 'null' }] }, { c: 1 }),
    ).toEqual({ c: 1 })
  })

  it('R17 are ignored below a branch that accepts anything', () => {
    for (const free of [{ type: 'object' }, { additionalProperties: true }, { properties: { a: true } }]) {
      const schema = { type: 'object', anyOf: [{ properties: { a: { properties: { x: {} } } } }, free] }
      expect(read(schema, { a: { y: 1 } })).toEqual({ a: { y: 1 } })
    }
  })

  it('R17 are ignored where a reference leads out of the schema', () => {
    const opaque: ToolSchema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) => ({ value }),
        jsonSchema: {
          input: () => ({ type: 'object', properties: { a: { $ref: 'https://example.com/a', properties: {} } } }),
          output: () => ({}),
        },
      },
    }
    expect(read(opaque, { a: { b: 1 } })).toEqual({ a: { b: 1 } })
    expect(extra(opaque, { a: 1, b: 1 })).toEqual(['b'])
  })
})

describe('R17 values', () => {
  it('R17 are returned as the schema transforms them', () => {
    const schema = z.object({ n: z.string().transform(Number), d: z.number().default(7) })
    expect(parseOutput(schema, '{"n": "12"}')).toEqual({ n: 12, d: 7 })
    expectTypeOf(outputSpec(schema).parse).returns.toEqualTypeOf<{ n: number; d: number }>()
  })

  it('R17 have the type of the schema', () => {
    const points = outputSpec(z.array(Point))
    expectTypeOf(points.parse).returns.toEqualTypeOf<{ x: number; y: number }[]>()
    expectTypeOf(outputSpec(type({ a: 'string' })).parse).returns.toEqualTypeOf<{ a: string }>()
    expectTypeOf(outputSpec(toStandardJsonSchema(v.object({ a: v.string() }))).parse).returns.toEqualTypeOf<{
      a: string
    }>()
    expectTypeOf(outputSpec({ type: 'object' }).parse).returns.toEqualTypeOf<unknown>()
    expectTypeOf(outputSpec(fromJsonSchema<{ a: 1 }>({ type: 'object' })).parse).returns.toEqualTypeOf<{ a: 1 }>()
    expect(points.parse('[{"x": 1, "y": 2}]')).toEqual([{ x: 1, y: 2 }])
  })

  it.each([
    [z.object({ n: z.number().min(3) }), '{"n": 1}', "The field 'n' is invalid: Too small: expected number to be >=3."],
    [z.object({ k: z.literal('a') }), '{"k": "b"}', 'The field \'k\' must be "a", but it is "b".'],
    [
      z.object({ u: z.union([z.string(), Point]) }),
      '{"u": {"x": "1"}}',
      "The field 'u' is invalid: Invalid input. It must be a string or an object with the fields 'x' and 'y'.",
    ],
    [
      z.object({ u: z.union([z.string(), Point]) }),
      '{"u": 1}',
      "The field 'u' must be a string or an object with the fields 'x' and 'y', but it is a number.",
    ],
    [
      {
        type: 'object',
        properties: { u: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'integer' } }] } },
      },
      '{"u": ["a"]}',
      "The item 'u[0]' is invalid: must be a whole number, not a string.",
    ],
    [
      Point.refine(({ x, y }) => x < y, 'x must be below y.'),
      '{"x": 2, "y": 1}',
      'The answer is invalid: x must be below y.',
    ],
    [
      type({ a: 'string' }).or({ b: 'string' }),
      '{}',
      "The answer is invalid: a must be a string (was missing) or b must be a string (was missing). It must be an object with the field 'a' or an object with the field 'b'.",
    ],
    [
      z.object({ when: z.iso.datetime().nullable() }),
      '{}',
      "The field 'when' is missing; it must be a string (format: date-time) or null.",
    ],
    [z.object({ when: z.date() }), '{}', "The field 'when' is missing."],
    [
      z
        .object({ a: z.string().optional() })
        .refine(({ a }) => a !== undefined, { path: ['a'], message: 'give it here' }),
      '{}',
      "The field 'a' is missing: give it here.",
    ],
    [
      z.object({ a: z.object({ b: z.number() }) }),
      '{"a": "b"}',
      "The field 'a' must be an object with the field 'b', but it is a string.",
    ],
    [
      {
        type: 'object',
        properties: { a: { type: 'number' }, b: {} },
        minProperties: 2,
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      '{"a": "1"}',
      "The field 'a' must be a number, but it is a string. The answer is invalid: must have at least 2 fields.",
    ],
    [
      z.object({ a: z.json() }),
      '{}',
      "The field 'a' is missing; it must be a string, a number, a boolean, null, an array or an object.",
    ],
    [z.object({}), '{"a": 1}', "The field 'a' is not allowed; no field is allowed there."],
    [
      z.union([z.object({ x: z.number() }), z.object({ y: z.string() })]),
      '{"x": 1, "y": "s"}',
      "The field 'y' cannot be combined with the other fields there. The answer must be an object with the field 'x' or an object with the field 'y'.",
    ],
    [
      z.object({ a: z.number().int() }),
      '{"a": 1.5}',
      "The field 'a' is invalid: Invalid input: expected int, received number.",
    ],
  ])('R17 are reported with the expected form if they are wrong (%#)', (schema, text, message) => {
    expect(failure(schema, text).message).toBe(message)
  })

  it('R17 are not missing if only the JSON Schema requires them', () => {
    const required = { type: 'object', properties: { a: {}, n: {} }, required: ['a', 'n'] }
    const easy: ToolSchema = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => ({ issues: [{ message: 'no', path: ['n'] }] }),
        jsonSchema: { input: () => required, output: () => required },
      },
    }
    expect(seen(easy, '{"n": 1}')).toEqual({
      kind: 'invalid-value',
      fields: ['n'],
      message: "The field 'n' is invalid: no.",
    })
  })
})

describe('R17 outputSpec', () => {
  it('R17 has the schema for the provider: the input side, frozen', () => {
    const spec = outputSpec(z.object({ n: z.string().transform(Number), d: z.number().default(7) }))
    expect(spec.container).toBe('object')
    expect(spec.jsonSchema).toEqual({
      type: 'object',
      properties: { n: { type: 'string' }, d: { type: 'number', default: 7 } },
      required: ['n'],
    })
    expect(Object.isFrozen(spec.jsonSchema['properties'])).toBe(true)
    expect(Object.isFrozen(spec)).toBe(true)
    expect(outputSpec(z.array(Point)).container).toBe('array')
  })

  it('R17 accepts a raw JSON Schema and does not change it', () => {
    const raw = Object.freeze({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'array',
      items: Object.freeze({ type: 'number' }),
    })
    const spec = outputSpec(raw)
    expect(spec.parse('[1, 2]')).toEqual([1, 2])
    expect(spec.jsonSchema).toEqual({ type: 'array', items: { type: 'number' } })
    expect(Reflect.ownKeys(raw.items)).toEqual(['type'])
  })

  it('R17 accepts anything for parts that cannot be converted to JSON Schema', () => {
    expect(outputSpec(z.object({ when: z.date() })).jsonSchema['properties']).toEqual({ when: {} })
  })

  it('R17 accepts alternatives with one container, and schemas without a type', () => {
    expect(outputSpec(z.union([Point, z.object({ r: z.number() })])).container).toBe('object')
    expect(outputSpec({ properties: { a: {} } }).container).toBe('object')
    expect(outputSpec({ items: {} }).container).toBe('array')
    expect(outputSpec({ $ref: '#/$defs/a', $defs: { a: { allOf: [{}, { type: 'array' }] } } }).container).toBe('array')
  })

  it.each([
    [z.string(), 'a string'],
    [z.number().int(), 'a number'],
    [z.boolean(), 'a boolean'],
    [z.enum(['a', 'b']), 'a string'],
    [z.any(), 'anything'],
    [Point.nullable(), 'an object or null'],
    [z.union([Point, z.array(Point)]), 'an object or an array'],
    [{ type: ['object', 'string'] }, 'an object or a string'],
    [{ const: null }, 'null'],
    [{}, 'anything'],
    [{ $ref: '#' }, 'anything'],
  ])('R17 rejects schemas that are not an object or array at the top (%#)', (schema, what) => {
    expect(() => outputSpec(schema)).toThrow(
      new PromptValidationError(
        `The output must be an object or an array, but its schema says ${what}. Put it in a field of an object.`,
      ),
    )
  })

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['object', 'a string'],
    [[Point], 'an array'],
    [() => Point, 'a function'],
  ])('R17 rejects anything that is not a schema: %s', (schema, what) => {
    expect(() => outputSpec(schema as never)).toThrow(
      new PromptValidationError(
        `The output is ${what}, not a schema. Use a schema from zod, valibot, arktype or a similar library, or a JSON Schema.`,
      ),
    )
  })

  it('R17 rejects a schema that cannot be converted to JSON Schema', () => {
    expect(() => outputSpec(v.object({ a: v.string() }) as never)).toThrow(
      new PromptValidationError(
        'The output is a valibot schema that cannot be converted to JSON Schema, which the model needs. Wrap it in toStandardJsonSchema() from @valibot/to-json-schema.',
      ),
    )
    const silent: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'other', validate: (value) => ({ value }) } }
    expect(() => outputSpec(silent as never)).toThrow(
      'The output is a other schema that cannot be converted to JSON Schema, which the model needs. Pass the JSON Schema itself, or use fromJsonSchema().',
    )
    const refuse = (): never => {
      throw new Error('No words for that.')
    }
    const refusing = { '~standard': { ...silent['~standard'], jsonSchema: { input: refuse, output: refuse } } }
    expect(() => outputSpec(refusing)).toThrow(
      new PromptValidationError(
        'The output cannot be converted to JSON Schema: No words for that. Use types that JSON has, or pass the JSON Schema itself.',
      ),
    )
  })

  it('R17 rejects a schema that validates asynchronously', () => {
    const message =
      'The output schema validates asynchronously, but answers are parsed synchronously. Remove its asynchronous checks, and run them on the parsed value.'
    const slow = z.object({ a: z.string().refine(async () => Promise.resolve(true)) })
    expect(() => parseOutput(slow, '{"a": "b"}')).toThrow(new PromptValidationError(message))
    const failing: ToolSchema = {
      '~standard': { ...slow['~standard'], validate: async () => Promise.reject(new Error('late')) },
    }
    expect(() => parseOutput(failing, '{"a": "b"}')).toThrow(new PromptValidationError(message))
    const valibot = toStandardJsonSchema(v.objectAsync({ a: v.string() }) as never) as ToolSchema
    expect(() => parseOutput(valibot, '{"a": "b"}')).toThrow(new PromptValidationError(message))
  })
})

describe('R17 for any value and any prose around it', () => {
  const prose = fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replaceAll(/[[\]{}]/g, ''))
  const layout = fc.record({
    before: prose,
    after: prose,
    indent: fc.constantFrom(0, 2, '\t'),
    form: fc.constantFrom('bare', 'fenced', 'tildes', 'prose'),
  })
  const written = (
    value: unknown,
    { before, after, indent, form }: typeof layout extends fc.Arbitrary<infer L> ? L : never,
  ) => {
    const json = JSON.stringify(value, null, indent)
    if (form === 'bare') return ` \n${json}\n`
    if (form === 'prose') return `${before}${json}${after}`
    const fence = form === 'tildes' ? '~~~' : '```'
    return `${before}\n${fence}json\n${json}\n${fence}\n${after}`
  }
  const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  const text = fc.oneof(fc.string(), fc.constantFrom('{', '}]', '```json\n{}\n```', '"', '\\', '{"a":1}', '[1]', '~~~'))

  it('R17 reads any object with a schema of its fields', () => {
    const object = fc.record(
      { title: text, items: fc.array(fc.record({ name: text, tags: fc.array(text) })), count: fc.integer() },
      { requiredKeys: ['title', 'items'] },
    )
    const spec = outputSpec(
      z.object({
        title: z.string(),
        items: z.array(z.object({ name: z.string(), tags: z.array(z.string()) })),
        count: z.number().optional(),
      }),
    )
    fc.assert(
      fc.property(object, layout, (value, how) => {
        expect(spec.parse(written(value, how))).toEqual(json(value))
      }),
    )
  })

  it('R17 reads any JSON in a free container', () => {
    const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor'))
    const object = outputSpec({ type: 'object' })
    const array = outputSpec({ type: 'array' })
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue()), layout, (value, how) => {
        expect(object.parse(written(value, how))).toEqual(json(value))
      }),
    )
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), layout, (value, how) => {
        expect(array.parse(written(value, how))).toEqual(json(value))
      }),
    )
  })
})

describe('R17 hostile answers', () => {
  const LENGTH = 200_000
  const units = ['{', '[', '{"', '{"a":', '[1]', '{}', '{"a":1}', '{"b":{}} ', '["', '{"a":[', '```\n{}\n```\n']
  it.each(units)('R17 are rejected in bounded time: %j repeated', (unit) => {
    const text = unit.repeat(Math.ceil(LENGTH / unit.length))
    const getCpuMs = startCpuClock()
    for (const schema of [Point, z.array(Point), REPORT[3]![1]]) {
      const spec = outputSpec(schema)
      expect(() => spec.parse(text)).toThrow(OutputParseError)
      expect(() => spec.parse(`x${text}x`)).toThrow(OutputParseError)
    }
    // Linear work takes a small part of this; quadratic work takes minutes.
    expect(getCpuMs()).toBeLessThan(6000)
  })

  it('R17 are reported in bounded time and space: a hundred thousand wrong items', () => {
    const getCpuMs = startCpuClock()
    const error = failure(z.array(Point), JSON.stringify(Array.from({ length: 100_000 }, () => 1)))
    expect(getCpuMs()).toBeLessThan(6000)
    expect(error.fields).toHaveLength(1000)
    expect(error.message.length).toBeLessThan(10_000)
  })

  it('R17 cannot overflow the stack of a recursive schema', () => {
    const recursive = {
      type: 'object',
      properties: { a: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
      required: ['a'],
    }
    const nested = (depth: number): string => '{"a":'.repeat(depth) + 'null' + '}'.repeat(depth)
    expect(parseOutput(recursive, nested(100))).toEqual(JSON.parse(nested(100)))
    expect(failure(recursive, nested(100_000)).kind).toBe('no-json')
  })
})

describe('a field of another branch of a union', () => {
  const circle = {
    type: 'object',
    properties: { kind: { const: 'circle' }, r: { type: 'number' } },
    required: ['kind', 'r'],
  }
  const square = {
    type: 'object',
    properties: { kind: { const: 'square' }, side: { type: 'number' } },
    required: ['kind', 'side'],
  }
  const zCircle = z.object({ kind: z.literal('circle'), r: z.number() })
  const zSquare = z.object({ kind: z.literal('square'), side: z.number() })
  const SHAPES: readonly (readonly [string, ToolSchema | JsonSchema])[] = [
    ['zod discriminated union', z.discriminatedUnion('kind', [zCircle, zSquare])],
    ['zod union', z.union([zCircle, zSquare])],
    [
      'valibot',
      toStandardJsonSchema(
        v.variant('kind', [
          v.object({ kind: v.literal('circle'), r: v.number() }),
          v.object({ kind: v.literal('square'), side: v.number() }),
        ]),
      ),
    ],
    ['arktype', type({ kind: '"circle"', r: 'number' }).or({ kind: '"square"', side: 'number' })],
    ['JSON Schema, anyOf', { anyOf: [circle, square] }],
    ['JSON Schema, oneOf', { type: 'object', oneOf: [circle, square] }],
    [
      'JSON Schema, references',
      { $ref: '#/$defs/u', $defs: { u: { anyOf: [{ $ref: '#/$defs/c' }, square] }, c: circle } },
    ],
    [
      'JSON Schema, a base',
      { type: 'object', properties: { kind: { enum: ['circle', 'square'] } }, anyOf: [circle, square] },
    ],
  ]

  it.each(SHAPES)('R17 is rejected like any unknown field: %s', (_, schema) => {
    const read = (value: unknown): unknown => parseOutput(schema, JSON.stringify(value))
    expect(read({ kind: 'circle', r: 1 })).toEqual({ kind: 'circle', r: 1 })
    expect(read({ kind: 'square', side: 1 })).toEqual({ kind: 'square', side: 1 })
    const error = expect.objectContaining({ kind: 'extra-field', fields: ['side'] })
    expect(() => read({ kind: 'circle', r: 1, side: 2 })).toThrow(error)
    expect(() => read({ kind: 'circle', r: 1, other: 2 })).toThrow(expect.objectContaining({ fields: ['other'] }))
    expect(() => read({ kind: 'triangle', side: 2 })).toThrow(OutputParseError)
  })

  it('R17 is rejected in lists and fields, with its location and the allowed fields', () => {
    const schema = z.object({ shapes: z.array(z.discriminatedUnion('kind', [zCircle, zSquare])) })
    const text = JSON.stringify({
      shapes: [
        { kind: 'square', side: 1 },
        { kind: 'square', side: 1, r: 2 },
      ],
    })
    expect(() => parseOutput(schema, text)).toThrow(
      "The field 'shapes[1].r' is not allowed; only 'kind' and 'side' are allowed there.",
    )
  })

  it('R17 is rejected if no field distinguishes the branches and the library picks one', () => {
    const schema = z.union([z.object({ a: z.number() }), z.object({ b: z.number() })])
    expect(parseOutput(schema, '{"b":1}')).toEqual({ b: 1 })
    expect(() => parseOutput(schema, '{"a":1,"b":1}')).toThrow(
      expect.objectContaining({ kind: 'extra-field', fields: ['b'] }),
    )
  })

  it('R17 is accepted if several branches may match, and nothing is dropped', () => {
    const contact = (name: string) => ({ properties: { [name]: { type: 'string' } }, required: [name] })
    const schema = { type: 'object', anyOf: [contact('mail'), contact('phone')] }
    expect(parseOutput(schema, '{"mail":"a","phone":"b"}')).toEqual({ mail: 'a', phone: 'b' })
    const both = z.intersection(
      z.object({ a: z.number() }),
      z.union([z.object({ b: z.number() }), z.object({ c: z.number() })]),
    )
    expect(parseOutput(both, '{"a":1,"c":2}')).toEqual({ a: 1, c: 2 })
  })

  it('R17 is not a field that a branch leaves out on purpose', () => {
    const branch = z.object({ kind: z.literal('a'), raw: z.string() }).transform(({ kind }) => ({ kind }))
    const schema = z.union([branch, z.object({ kind: z.literal('b') })])
    expect(parseOutput(schema, '{"kind":"a","raw":"x"}')).toEqual({ kind: 'a' })
  })

  it('R17 is accepted by a branch that accepts any field', () => {
    const schema = z.discriminatedUnion('kind', [zCircle.loose(), zSquare])
    expect(parseOutput(schema, '{"kind":"circle","r":1,"side":2}')).toEqual({ kind: 'circle', r: 1, side: 2 })
    expect(() => parseOutput(schema, '{"kind":"square","r":1,"side":2}')).toThrow(
      expect.objectContaining({ fields: ['r'] }),
    )
  })
})
