import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../core/schema/schema.ts'
import { anySchema, THEN, withOtherKeywordOrder } from './schemas.fixtures.ts'
import { describeSignature, formatSignature, type SignatureOptions } from './signature.ts'

const sign = (inputSchema: unknown, options?: SignatureOptions, outputSchema?: JsonSchema): string =>
  formatSignature({ name: 'f', inputSchema: inputSchema as JsonSchema, outputSchema }, options)

/** Formats the signature of a tool with one required argument `x` of this schema. */
const signX = (x: unknown, others: JsonSchema = {}): string =>
  sign({ type: 'object', properties: { x }, required: ['x'], ...others })

const light: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  title: 'set_light',
  properties: {
    power: { type: 'string', enum: ['on', 'off'], title: 'Power' },
    device_id: { type: 'string', description: 'Which light.' },
    brightness: { default: 100, maximum: 100, minimum: 0, type: 'integer' },
    color: {
      type: 'object',
      properties: { saturation: { type: 'number' }, hue: { type: 'number' } },
      required: ['hue'],
    },
  },
  required: ['device_id'],
}

describe('R45 a signature that is enough to call a tool', () => {
  it('R45 has types, optionals, enums, ranges, defaults and nested objects in one line, required ones first', () => {
    expect(formatSignature({ name: 'set_light', inputSchema: light, outputSchema: undefined })).toBe(
      'set_light(device_id: string, power?: "on"|"off", brightness?: int 0..100 = 100, ' +
        'color?: {hue: number, saturation?: number})',
    )
  })

  it.each<[string, unknown, string]>([
    ['an integer', { type: 'integer' }, 'int'],
    ['a boolean', { type: 'boolean' }, 'boolean'],
    ['anything', {}, 'any'],
    ['anything, said so', true, 'any'],
    ['a minimum', { type: 'integer', minimum: 1 }, 'int >=1'],
    ['a maximum', { type: 'number', maximum: 0.5 }, 'number <=0.5'],
    ['exclusive bounds', { type: 'number', exclusiveMinimum: 0, maximum: 1 }, 'number >0 <=1'],
    ['exclusive bounds of draft 4', { type: 'number', minimum: 0, exclusiveMinimum: true }, 'number >0'],
    ['bounds of the machine', { type: 'integer', minimum: -(2 ** 53 - 1), maximum: 2 ** 53 - 1 }, 'int'],
    ['a step', { type: 'integer', minimum: 0, maximum: 60, multipleOf: 15 }, 'int 0..60 step 15'],
    ['a length', { type: 'string', minLength: 3, maxLength: 9 }, 'string 3..9 chars'],
    ['a format', { type: 'string', format: 'date-time' }, 'string date-time'],
    ['a format that says nothing', { type: 'number', format: 'double' }, 'number'],
    ['a pattern', { type: 'string', pattern: '^[A-Z]{3}$' }, 'string /^[A-Z]{3}$/'],
    ['a pattern over two lines', { type: 'string', pattern: 'a\nb' }, String.raw`string /a\nb/`],
    ['a pattern beside a format', { type: 'string', format: 'email', pattern: '^.+@.+$' }, 'string email'],
    ['bytes', { type: 'string', contentEncoding: 'base64' }, 'string base64'],
    ['a constant', { const: 'on' }, '"on"'],
    ['values of several types', { enum: [1, 'a', true, null] }, '1|"a"|true|null'],
    ['a list', { type: 'array', items: { type: 'string' } }, 'string[]'],
    ['a list of anything', { type: 'array' }, 'any[]'],
    ['a list of a union', { type: 'array', items: { enum: ['a', 'b'] } }, '("a"|"b")[]'],
    ['a list of bounded numbers', { type: 'array', items: { type: 'integer', minimum: 1 } }, '(int >=1)[]'],
    ['a list of a length', { type: 'array', items: {}, minItems: 2, maxItems: 3 }, 'any[] 2..3 items'],
    ['a list of lists', { type: 'array', items: { type: 'array', items: { type: 'number' } } }, 'number[][]'],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }] }, '[number, string]'],
    [
      'a tuple of draft 7',
      { type: 'array', items: [{ type: 'number' }], additionalItems: { type: 'string' } },
      '[number, ...string[]]',
    ],
    ['a record', { type: 'object', additionalProperties: { type: 'number' } }, '{[key]: number}'],
    [
      'a record with known keys',
      { type: 'object', additionalProperties: { type: 'number' }, propertyNames: { enum: ['a', 'b'] } },
      '{["a"|"b"]: number}',
    ],
    ['a record by pattern', { type: 'object', patternProperties: { '^x-': { type: 'string' } } }, '{[/^x-/]: string}'],
    [
      'an object that takes more',
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
      '{a?: string, ...}',
    ],
    ['an object of any fields', { type: 'object' }, 'object'],
    ['a nullable', { type: ['string', 'null'] }, 'string|null'],
    ['a nullable of OpenAPI', { type: 'string', nullable: true }, 'string|null'],
    ['a nullable union', { anyOf: [{ type: 'null' }, { type: 'integer' }] }, 'int|null'],
    ['a union', { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }, 'string|string[]'],
    ['a union of constants', { anyOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, '"a"|"b"'],
    [
      'a union that shares a type',
      { type: 'string', anyOf: [{ format: 'date' }, { format: 'time' }] },
      'string date|string time',
    ],
    ['a union of one', { anyOf: [{ type: 'string' }] }, 'string'],
    [
      'parts that go together',
      {
        allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { properties: { b: { type: 'integer' } } }],
      },
      '{a: string, b?: int}',
    ],
    [
      'a field that two parts speak of',
      { allOf: [{ properties: { a: { type: 'integer' } } }, { properties: { a: { maximum: 9 } } }] },
      '{a?: int <=9}',
    ],
    ['nothing', false, ''],
  ])('R45 writes %s', (_, schema, expected) => {
    expect(signX(schema)).toBe(expected === '' ? 'f()' : `f(x: ${expected})`)
  })

  it.each<[string, unknown, string]>([
    ['a default', { type: 'integer', default: 5 }, 'x?: int = 5'],
    ['a default that is false', { type: 'boolean', default: false }, 'x?: boolean = false'],
    ['a default that is a text', { type: 'string', default: 'a"b' }, String.raw`x?: string = "a\"b"`],
    ['no empty default', { type: 'string', default: '' }, 'x?: string'],
    [
      'no null where leaving it off says it',
      { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
      'x?: string',
    ],
    ['null where it says more', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 'x?: string|null'],
  ])('R45 writes %s of an optional argument', (_, schema, expected) => {
    expect(sign({ type: 'object', properties: { x: schema } })).toBe(`f(${expected})`)
  })

  it('R45 leaves out fields that a caller does not set', () => {
    const properties = { a: { type: 'string', readOnly: true }, b: { type: 'string', deprecated: true }, c: {} }
    expect(sign({ type: 'object', properties })).toBe('f(c?: any)')
  })

  it('R45 names the fields of the result', () => {
    const properties = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`r${i}`, {}]))
    expect(sign({ type: 'object', properties: {} }, {}, { type: 'object', properties })).toBe(
      'f() -> {r0, r1, r2, r3, r4, r5, r6, +3}',
    )
  })
})

describe('R45 more detail only if a signature would mislead', () => {
  it.each<[string, string, unknown, string]>([
    ['a form of a date', 'when', { type: 'string', description: 'Day, as YYYY-MM-DD' }, 'string YYYY-MM-DD'],
    [
      'a moment',
      'at',
      { type: 'string', description: "In format 'YYYY-MM-DDTHH:MM:SSZ'" },
      'string YYYY-MM-DDTHH:MM:SSZ',
    ],
    ['two parts', 'repo', { type: 'string', description: 'The repository (owner/repo)' }, 'string owner/repo'],
    ['a format', 'view', { type: 'string', description: 'Format: lat,lng' }, 'string lat,lng'],
    [
      'a list in a string',
      'ids',
      { type: 'string', description: 'Comma-separated list of ids' },
      'string comma-separated',
    ],
    ['choices', 'mode', { type: 'string', description: "Mode, one of: 'a', 'b', or 'c'." }, 'string "a"|"b"|"c"'],
    ['an example', 'pair', { type: 'string', description: 'Trading pair (e.g., "BTC/USDT")' }, 'string e.g. BTC/USDT'],
    [
      'an example of several words',
      'city',
      { type: 'string', description: 'Such as "Paris, FR"' },
      'string e.g. "Paris, FR"',
    ],
    ['a unit', 'timeout', { type: 'number', description: 'Timeout in milliseconds' }, 'number ms'],
    ['a range', 'level', { type: 'integer', description: 'Level (1-10)' }, 'int 1..10'],
    ['a limit', 'limit', { type: 'integer', description: 'Results to return (max 50)' }, 'int <=50'],
    ['nothing the name says', 'timeout_ms', { type: 'number', description: 'Timeout in milliseconds' }, 'number'],
    [
      'nothing of prose',
      'name',
      { type: 'string', description: 'A name, like the one before. For example a word.' },
      'string',
    ],
    ['nothing of and/or', 'name', { type: 'string', description: 'Text (and/or more)' }, 'string'],
    ['nothing beside a format', 'day', { type: 'string', format: 'date', description: 'e.g. "x"' }, 'string date'],
  ])('R45 takes %s from a description', (_, name, schema, expected) => {
    expect(sign({ type: 'object', properties: { [name]: schema }, required: [name] })).toBe(`f(${name}: ${expected})`)
  })

  it('R45 says which of several arguments must be given', () => {
    const properties = { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } }
    expect(sign({ type: 'object', properties, oneOf: [{ required: ['a'] }, { required: ['b', 'c'] }] })).toBe(
      'f(a?: string, b?: string, c?: string) /* one of: a, b+c */',
    )
    expect(sign({ type: 'object', properties, dependentRequired: { a: ['b'] } })).toBe(
      'f(a?: string, b?: string, c?: string) /* a needs b */',
    )
  })

  it('R45 says which arguments depend on a value', () => {
    const properties = { mode: { enum: ['x', 'y'] }, p: {}, q: {} }
    const rule = {
      if: { properties: { mode: { const: 'x' } } },
      [THEN]: { required: ['p'] },
      else: { required: ['q'] },
    }
    expect(sign({ type: 'object', properties, ...rule })).toBe(
      'f(mode?: "x"|"y", p?: any, q?: any) /* mode="x" needs p; else needs q */',
    )
    expect(sign({ type: 'object', properties, if: { minProperties: 2 }, [THEN]: {} })).toBe(
      'f(mode?: "x"|"y", p?: any, q?: any) /* conditions in the schema */',
    )
  })

  it('R45 writes alternatives of the whole object', () => {
    const branch = (kind: string, field: string): JsonSchema => ({
      type: 'object',
      properties: { kind: { const: kind }, [field]: { type: 'string' } },
      required: ['kind', field],
    })
    const oneOf = [branch('a', 'x'), branch('b', 'y')]
    expect(sign({ oneOf })).toBe('f({kind: "a", x: string}|{kind: "b", y: string})')
    expect(sign({ type: 'object', properties: { id: { type: 'integer' } }, required: ['id'], oneOf })).toBe(
      'f({id: int} & ({kind: "a", x: string}|{kind: "b", y: string}))',
    )
  })

  it('R45 names required arguments at any depth', () => {
    const deep = (depth: number): JsonSchema =>
      depth === 0
        ? { type: 'string' }
        : { type: 'object', properties: { [`d${depth}`]: deep(depth - 1), other: {} }, required: [`d${depth}`] }
    expect(sign(deep(8))).toBe(
      'f(d8: {d7: {d6: {d5: {d4: {d3, +1 optional}, other?: any}, other?: any}, other?: any}, other?: any}, other?: any)',
    )
  })
})

describe('R45 references and recursion', () => {
  const Node = {
    type: 'object',
    properties: { value: { type: 'integer' }, children: { type: 'array', items: { $ref: '#/$defs/Node' } } },
    required: ['value'],
  }

  it('R45 follows references, and keeps the keywords next to them', () => {
    const $defs = { Name: { type: 'string', minLength: 2, description: 'e.g. "AB"' } }
    expect(sign({ type: 'object', properties: { a: { $ref: '#/$defs/Name', default: 'x' } }, $defs })).toBe(
      'f(a?: string >=2 chars = "x")',
    )
  })

  it('R45 finds definitions in the other folder and with escaped names', () => {
    const x = { $ref: '#/definitions/a~1b%20c' }
    expect(signX(x, { $defs: { 'a/b c': { type: 'boolean' } } })).toBe('f(x: boolean)')
  })

  it.each(['#/$defs/None', '#/%', 'https://example.com/schema.json', '#anchor', ''])(
    'R45 accepts anything for a broken reference: %j',
    ($ref) => {
      expect(signX({ $ref })).toBe('f(x: any)')
    },
  )

  it('R45 names a recursive type once', () => {
    const properties = { a: { $ref: '#/$defs/Node' }, b: { type: 'array', items: { $ref: '#/$defs/Node' } } }
    expect(sign({ type: 'object', properties, $defs: { Node } })).toBe(
      'f(a?: Node, b?: Node[]) where Node = {value: int, children?: Node[]}',
    )
  })

  it('R45 names two mutually recursive types', () => {
    const $defs = {
      A: { type: 'object', properties: { b: { $ref: '#/$defs/B' } } },
      B: { type: 'object', properties: { a: { $ref: '#/$defs/A' }, n: { type: 'integer' } } },
    }
    expect(signX({ $ref: '#/$defs/A' }, { $defs })).toBe('f(x: A) where A = {b?: {a?: A, n?: int}}')
  })

  it('R45 accepts arguments that contain themselves', () => {
    const properties = { q: { type: 'string' }, and: { type: 'array', items: { $ref: '#' } } }
    expect(sign({ type: 'object', properties, required: ['q'] })).toBe(
      'f(q: string, and?: Args[]) where Args = the arguments',
    )
  })

  it('R45 accepts objects that contain themselves', () => {
    const part: { type: string; properties: Record<string, unknown> } = { type: 'object', properties: {} }
    part.properties['again'] = part
    const list: Record<string, unknown> = { type: 'array' }
    list['items'] = list
    const all: Record<string, unknown> = { type: 'string' }
    all['allOf'] = [all]
    expect(sign({ type: 'object', properties: { part, list, all } })).toBe(
      'f(part?: Part, list?: List, all?: string) where Part = {again?: Part}, List = List[]',
    )
  })

  it('R45 ends a reference that leads to itself', () => {
    expect(signX({ $ref: '#/$defs/A' }, { $defs: { A: { $ref: '#/$defs/A' } } })).toBe('f(x: any)')
    const union = { anyOf: [{ $ref: '#/$defs/A' }, { type: 'string' }] }
    expect(signX({ $ref: '#/$defs/A' }, { $defs: { A: union } })).toBe('f(x: A) where A = A|string')
  })

  it('R45 ends definitions that multiply', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `D${i}`,
        { type: 'object', properties: { a: { $ref: `#/$defs/D${i + 1}` }, b: { $ref: `#/$defs/D${i + 1}` } } },
      ]),
    )
    const { text, whole } = describeSignature({
      name: 'f',
      inputSchema: { type: 'object', properties: { x: { $ref: '#/$defs/D0' } }, $defs },
      outputSchema: undefined,
    })
    expect(text.length).toBeLessThan(600)
    expect(whole).toBe(false)
  })
})

describe('R45 a signature stays within its size', () => {
  const values = Array.from({ length: 1_000 }, (_, i) => `value-${i}`)

  it('R45 shows the first of a giant enum and how many more', () => {
    expect(signX({ enum: values })).toBe('f(x: "value-0"|"value-1"|"value-2"|"value-3"|"value-4"|"value-5"|…994 more)')
    expect(signX({ anyOf: values.map((value) => ({ const: value })) })).toContain('|…994 more)')
  })

  it('R45 does not cut values', () => {
    expect(signX({ enum: ['a', 'b'.repeat(200)] })).toBe('f(x: "a"|…1 more)')
  })

  it('R45 shows the first of many alternatives', () => {
    const anyOf = Array.from({ length: 40 }, (_, i) => ({ type: 'object', properties: { [`a${i}`]: {} } }))
    expect(signX({ anyOf })).toMatch(/^f\(x: \{a0\?: any\}\|.*\|…3\d more\)$/)
  })

  const many = {
    type: 'object',
    properties: {
      q: { type: 'string', description: 'e.g. "x-1"' },
      ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`option${i}`, { type: 'string' }])),
    },
    required: ['q'],
  }

  it('R45 leaves out optional arguments first, and says how many', () => {
    expect(sign(many, { maxTokens: 30 })).toBe(
      'f(q: string e.g. x-1, option0?, option1?, option2?, option3?, option4?, option5?, +34 optional)',
    )
  })

  it('R45 drops the types of the last optional arguments before their names', () => {
    const fewer = { ...many, properties: Object.fromEntries(Object.entries(many.properties).slice(0, 6)) }
    expect(sign(fewer, { maxTokens: 32 })).toBe(
      'f(q: string e.g. x-1, option0?: string, option1?: string, option2?: string, option3?: string, option4?)',
    )
  })

  it('R45 never drops the name of a required argument before every optional one is gone', () => {
    const required = Array.from({ length: 12 }, (_, i) => `option${i}`)
    expect(sign({ ...many, required }, { maxTokens: 50 })).toMatch(
      /^f\(option0(: string)?, .*option11(: string)?, \+29 optional\)$/,
    )
  })

  it('R45 says how many required arguments there are if not even their names fit', () => {
    expect(sign({ ...many, required: Object.keys(many.properties) }, { maxTokens: 30 })).toMatch(
      /^f\(q, option0, option1, .*\+\d+ required\)$/,
    )
  })

  it('R45 says whether anything was left out', () => {
    const whole = (maxTokens: number): boolean =>
      describeSignature({ name: 'f', inputSchema: many, outputSchema: undefined }, { maxTokens }).whole
    expect([whole(1_000), whole(150), whole(30)]).toEqual([true, false, false])
  })

  it('R45 is measured with the given counter', () => {
    const counter = { name: 'letters', exact: true, count: (text: string): number => text.length }
    const text = sign(many, { maxTokens: 60, counter })
    expect(text.length).toBeLessThanOrEqual(60)
    expect(text).toBe('f(q: string e.g. x-1, option0?, option1?, +38 optional)')
  })

  it('R45 stays near its limit by a real tokenizer, whatever the schema', () => {
    fc.assert(
      fc.property(anySchema, (schema) => {
        expect(countTokens(sign(schema, { maxTokens: 140 }))).toBeLessThan(260)
      }),
      { numRuns: 200, seed: 1 },
    )
  })
})

describe('R45 broken schemas', () => {
  it.each<[string, unknown, string]>([
    ['null', null, 'f(...)'],
    ['nothing', undefined, 'f(...)'],
    ['true', true, 'f(...)'],
    ['false', false, 'f(never)'],
    ['a list', [], 'f(...)'],
    ['a text', 'schema', 'f(...)'],
    ['empty', {}, 'f(...)'],
    ['an object that names no fields', { type: 'object' }, 'f(...)'],
    ['an object without fields', { type: 'object', properties: {} }, 'f()'],
    ['an object that takes none', { type: 'object', additionalProperties: false }, 'f()'],
    ['fields that are a list', { type: 'object', properties: ['a'] }, 'f(...)'],
    ['fields that are null', { type: 'object', properties: null }, 'f(...)'],
    ['fields without the type', { properties: { a: { type: 'string' } } }, 'f(a?: string)'],
    ['a text', { type: 'string' }, 'f(string)'],
    ['a list of texts', { type: 'array', items: { type: 'string' } }, 'f(string[])'],
    ['unknown required fields', { type: 'object', properties: {}, required: ['a', 7] }, 'f(a: any)'],
    ['required that is not a list', { type: 'object', properties: { a: {} }, required: 'a' }, 'f(a?: any)'],
    [
      'required at the field',
      { type: 'object', properties: { a: { type: 'string', required: true } } },
      'f(a: string)',
    ],
    [
      'types of other languages',
      {
        type: 'dict',
        properties: {
          a: { type: 'str' },
          b: { type: 'float' },
          c: { type: 'int' },
          d: { type: 'bool' },
          e: { type: 'list', items: { type: 'String' } },
          f: { type: 'any' },
          g: { type: 'tuple' },
        },
      },
      'f(a?: string, b?: number, c?: int, d?: boolean, e?: string[], f?: any, g?: any[])',
    ],
    [
      'a type nobody knows',
      { properties: { a: { type: 'file' }, b: { type: 7 }, c: { type: '?' } } },
      'f(a?: file, b?: any, c?: any)',
    ],
    [
      'fields that are not schemas',
      { properties: { a: 'string', b: null, c: 7, d: [] } },
      'f(a?: string, b?: any, c?: any, d?: any)',
    ],
    ['a field that must not be', { properties: { a: false, b: true } }, 'f(b?: any)'],
    ['an enum that is not a list', { properties: { a: { type: 'string', enum: 'a|b' } } }, 'f(a?: string)'],
    ['an empty enum', { properties: { a: { type: 'string', enum: [] } } }, 'f(a?: string)'],
    ['alternatives that are not a list', { properties: { a: { anyOf: 'x', type: 'string' } } }, 'f(a?: string)'],
    [
      'the whole schema in view of its fields',
      { type: 'object', properties: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
      'f(a: string)',
    ],
    [
      'names that are none',
      { properties: { 'x-y': {}, 'a b\n': {}, 日本: {}, '': {} } },
      String.raw`f("x-y"?: any, "a b\n"?: any, 日本?: any, ""?: any)`,
    ],
    [
      'names of the machine',
      { properties: JSON.parse('{"__proto__":{"type":"string"},"constructor":{}}') as unknown },
      'f(__proto__?: string, constructor?: any)',
    ],
  ])('R45 writes a schema that is %s', (_, schema, expected) => {
    expect(sign(schema)).toBe(expected)
  })

  it('R45 quotes a tool name only if it would be misread', () => {
    const named = (name: string): string => formatSignature({ name, inputSchema: {}, outputSchema: undefined })
    expect(['get-weather', 'a.b/c', '天気', 'two words', 'a\nb'].map(named)).toEqual([
      'get-weather(...)',
      'a.b/c(...)',
      '天気(...)',
      '"two words"(...)',
      String.raw`"a\nb"(...)`,
    ])
  })

  it('R45 accepts values that JSON cannot represent', () => {
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    expect(
      sign({ properties: { a: { default: circular }, b: { enum: [1n, () => 1, 'x'] }, c: { default: 1n } } }),
    ).toBe('f(a?: any, b?: "x", c?: any)')
  })

  it('R45 accepts schemas of any depth', () => {
    const nest = (wrap: (inner: unknown) => JsonSchema): unknown =>
      Array.from({ length: 5_000 }).reduce<unknown>((inner) => wrap(inner), { type: 'string' })
    for (const wrap of [
      (x: unknown) => ({ type: 'array', items: x }),
      (x: unknown) => ({ type: 'object', properties: { x }, required: ['x'] }),
      (x: unknown) => ({ allOf: [x] }),
      (x: unknown) => ({ anyOf: [x, { type: 'null' }] }),
      (x: unknown) => ({ type: 'object', additionalProperties: x }),
    ]) {
      expect(signX(nest(wrap)).length).toBeLessThan(2_000)
      expect(sign({ properties: { x: nest(wrap) } }, { detail: 'schema' }).length).toBeLessThan(4_000)
    }
  })

  it('R45 is one line for any JSON, the same each time', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), anySchema),
        fc.constantFrom('names', 'signature', 'schema'),
        (schema, detail) => {
          const text = sign(schema, { detail })
          expect(text).not.toMatch(/[\n\r\u2028\u2029]/)
          expect(sign(structuredClone(schema), { detail })).toBe(text)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('R49 does not depend on the order of keywords, only on the order of fields', () => {
    fc.assert(
      fc.property(anySchema, fc.constantFrom('signature', 'schema'), (schema, detail) => {
        fc.pre(typeof schema === 'object')
        expect(sign(withOtherKeywordOrder(schema), { detail })).toBe(sign(schema, { detail }))
      }),
      { numRuns: 500 },
    )
  })
})

describe('R45 detail', () => {
  it("R45 shows only the name with detail 'names'", () => {
    expect(sign(light, { detail: 'names' })).toBe('f')
  })

  it("R45 shows the JSON Schema without noise with detail 'schema', with sorted keywords and fields in order", () => {
    expect(
      formatSignature(
        {
          name: 'set_light',
          inputSchema: {
            ...light,
            $id: 'x',
            'x-order': 1,
            $defs: { Unused: { type: 'string' }, Used: { type: 'integer', title: 'Level of it', description: ' ' } },
            additionalProperties: { $ref: '#/$defs/Used' },
          },
          outputSchema: undefined,
        },
        { detail: 'schema' },
      ),
    ).toBe(
      '{"type":"object","properties":{"power":{"type":"string","enum":["on","off"]},' +
        '"device_id":{"type":"string","description":"Which light."},' +
        '"brightness":{"type":"integer","default":100,"minimum":0,"maximum":100},' +
        '"color":{"type":"object","properties":{"saturation":{"type":"number"},"hue":{"type":"number"}},"required":["hue"]}},' +
        '"required":["device_id"],"additionalProperties":{"$ref":"#/$defs/Used"},' +
        '"$defs":{"Used":{"type":"integer","title":"Level of it"}}}',
    )
  })

  it("R45 limits detail 'schema' too", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `field${i}`,
        { type: 'string', description: 'Some words about it. '.repeat(9) },
      ]),
    )
    const text = sign({ type: 'object', properties, required: ['field3'] }, { detail: 'schema', maxTokens: 60 })
    expect(text).toBe(
      '{"type":"object","properties":{"field3":{"type":"string"}},"required":["field3"],"$comment":"29 optional left off"}',
    )
  })

  it("R45 produces JSON with detail 'schema', whatever the input", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), anySchema), (schema) => {
        expect(() => JSON.parse(sign(schema, { detail: 'schema' })) as unknown).not.toThrow()
      }),
    )
  })
})
