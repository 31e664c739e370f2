import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createQuickCheck } from './quick-check.ts'
import { createWholeCheck } from './check.ts'

const NAMES = ['a', 'b', '__proto__']
const scalar = fc.constantFrom<unknown>('', 'x', -1, 0, 1, 2, 0.5, true, null)

/** An object as JSON.parse creates it, where `__proto__` is a field like any other. */
const toObject = (entries: readonly (readonly [string, unknown])[]): unknown => {
  const text = entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()
  return JSON.parse(`{${text}}`)
}
const objectOf = (value: fc.Arbitrary<unknown>, ...more: readonly string[]): fc.Arbitrary<unknown> =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...NAMES, ...more), value), { maxLength: 3, selector: ([name]) => name })
    .map(toObject)

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    scalar,
    { arbitrary: fc.array(tie('value'), { maxLength: 2 }), weight: 1 },
    { arbitrary: objectOf(tie('value'), 'c'), weight: 2 },
  ),
}))

/** Few values for each keyword, so that many of the values above satisfy it. */
const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const inner = fc.oneof({ maxDepth: 2 }, fc.constantFrom<unknown>(true, false, {}), tie('schema'))
  return {
    schema: fc
      .record(
        {
          type: fc.constantFrom<unknown>('object', 'array', 'number', 'integer', ['object', 'array'], 'thing'),
          enum: fc.constantFrom<unknown>(['x', 1, null], [{}, []]),
          required: fc.constantFrom<unknown>(['a'], ['__proto__'], [1]),
          properties: objectOf(inner),
          additionalProperties: inner,
          patternProperties: fc.constant({ '^b': { type: 'string' } }),
          items: fc.oneof(inner, fc.tuple(inner)),
          minimum: fc.constantFrom<unknown>(0, 1, '1'),
          maximum: fc.constantFrom<unknown>(1, '1'),
          minLength: fc.constant(1),
          description: fc.constant('A text.'),
          not: inner,
        },
        { requiredKeys: [] },
      )
      .chain((whole) => {
        const keywords = Object.entries(whole)
        return fc.subarray(keywords, { maxLength: Math.min(3, keywords.length) })
      })
      .map((keywords): unknown => Object.fromEntries(keywords)),
  }
})

describe('the quick check', () => {
  it('R37 is never sure of a value that the whole check refuses', () => {
    let sure = 0
    fc.assert(
      fc.property(schema, value, (one, given) => {
        if (!createQuickCheck(one)(given)) return
        sure++
        expect(createWholeCheck(one)(given)).toEqual([])
      }),
      { numRuns: 10_000 },
    )
    // Otherwise this would test nothing.
    expect(sure).toBeGreaterThan(500)
  })

  const tool = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      text: { type: 'string', description: 'What to say.' },
      times: { type: 'integer', minimum: 1, maximum: 9 },
      tone: { enum: ['calm', 'loud'] },
      to: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
    },
    required: ['text'],
    additionalProperties: false,
  }

  it.each([
    [{ text: 'a' }, true],
    [{ text: 'a', times: 9, tone: 'loud', to: [{ name: 'Ada' }] }, true],
    [{}, false],
    [{ text: 'a', times: 0 }, false],
    [{ text: 'a', times: 1.5 }, false],
    [{ text: 'a', tone: 'soft' }, false],
    [{ text: 'a', to: [{}] }, false],
    [{ text: 'a', more: 1 }, false],
    [['a'], false],
  ])('decides about the arguments of an ordinary tool: %j', (given, isSure) => {
    expect(createQuickCheck(tool)(given)).toBe(isSure)
    expect(createWholeCheck(tool)(given).length === 0).toBe(isSure)
  })

  it.each([
    ['a reference', { $ref: '#/$defs/a', $defs: { a: {} } }, {}],
    ['a pattern', { type: 'string', pattern: '^a' }, 'a'],
    ['a keyword that it does not know', { anyOf: [{}] }, 'a'],
    ['a schema that is nested too deeply', toDeepSchema(20), toDeepValue(20)],
    ['a value that is large', { items: { type: 'number' } }, Array.from({ length: 1_000 }, () => 1)],
  ])('leaves %s to the whole check', (_, given, one) => {
    expect(createQuickCheck(given)(one)).toBe(false)
    expect(createWholeCheck(given)(one)).toEqual([])
  })
})

function toDeepSchema(depth: number): unknown {
  return depth === 0 ? { type: 'string' } : { properties: { a: toDeepSchema(depth - 1) } }
}

function toDeepValue(depth: number): unknown {
  return depth === 0 ? 'x' : { a: toDeepValue(depth - 1) }
}
