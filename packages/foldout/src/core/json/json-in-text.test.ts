import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJson, MAX_JSON_DEPTH } from './json-in-text.ts'
import { startCpuClock } from '../cpu.fixtures.ts'

const valuesIn = (text: string): unknown[] => findJson(text).found.map(({ value }) => value)

describe('R17 finds the JSON in a text', () => {
  it.each([
    ['bare', '{"a":1}', [{ a: 1 }]],
    ['with space and a byte order mark around it', '\uFEFF \r\n[1, 2]\n\t', [[1, 2]]],
    ['a word alone', ' "hello" ', ['hello']],
    ['in a fenced block', 'Here:\n```json\n{"a": 1}\n```\nDone.', [{ a: 1 }]],
    ['in a block without a name', '```\n[1]\n```', [[1]]],
    ['in a block of tildes', '~~~\n[1]\n~~~', [[1]]],
    ['in a block with words behind the fence', '``` json title="a{b" x\n[1]\n```', [[1]]],
    ['in a block with Windows lines', 'So:\r\n```json\r\n[1]\r\n```\r\n', [[1]]],
    ['in an indented block', '- so:\n\n    ```json\n    [1]\n    ```', [[1]]],
    ['in a block that is never closed', 'So:\n```json\n[1]\n', [[1]]],
    ['in a longer fence around a shorter one', '````md\n```json\n[1]\n```\n````', [[1]]],
    ['behind a fence that is closed in its line', 'So ```[1]``` is it', [[1]]],
    ['in a block that is closed behind the JSON', 'So:\n```json\n[1]```\nand [2]', [[1], [2]]],
    ['blocks before what stands between other words', 'First {"a":1}.\n```\n[2]\n```\nThen [3].', [[2], { a: 1 }, [3]]],
    ['a word in a block', 'So:\n```\ntrue\n```\n', [true]],
    ['between other words', 'Sure! {"a": [1, {"b": null}]} is it.', [{ a: [1, { b: null }] }]],
    ['the outermost only', 'x [{"a":1}] y', [[{ a: 1 }]]],
    ['behind a lone brace', 'Mind the { here: {"a":1}', [{ a: 1 }]],
    ['directly behind a lone brace', 'Mind {{"a":1}', [{ a: 1 }]],
    ['directly behind a lone bracket', 'Mind [{"a":1} there', [{ a: 1 }]],
    ['before a lone brace', '{"a":1} and } and { then', [{ a: 1 }]],
    ['beside citations', 'As in [1] and [2, 3]: {"a":1} [a]', [[1], [2, 3], { a: 1 }]],
    ['inside other brackets', 'See (a [b {"a":1} c] d)', [{ a: 1 }]],
    ['behind a brace and a quote', 'It begins with `{"` and is: {"a":1}', [{ a: 1 }]],
    ['behind a quote', 'He said "so: {"a":1}', [{ a: 1 }]],
    ['behind JSON that was begun and left', 'It begins {"a": like this: {"a":1}', [{ a: 1 }]],
    ['with brackets, quotes and fences in strings', String.raw`x {"a":"}] \"{ \\"} y`, [{ a: '}] "{ \\' }]],
    ['with a fence in a string', 'x\n```json\n{"a":"```\\n~~~"}\n```', [{ a: '```\n~~~' }]],
    ['two in a row', '{"a":1}{"a":2}', [{ a: 1 }, { a: 2 }]],
    ['with every kind of number and escape', String.raw`x [-0.5e+3, 0, 1E2, "\u00e9\/\t"] y`, [[-500, 0, 100, 'é/\t']]],
    ['a field called __proto__', 'x {"__proto__":1} y', [JSON.parse('{"__proto__":1}')]],
    ['nowhere', 'Nothing { to ] see "here" [', []],
    ['nowhere in nothing', '', []],
  ])('R17 %s', (_, text, expected) => {
    expect(valuesIn(text)).toEqual(expected)
  })

  it.each([
    ['a comma too many', '{"name":"a","inner":[{"name":"b"},]}', 'malformed', 34],
    ['single quotes', '{"name": \'a\', "inner": {"name":"b"}}', 'malformed', 9],
    ['a string that is not closed', '{"name": "a, "inner": {"name":"b"}}', 'malformed', 14],
    ['a comment', '{"name": "a", // so\n"inner": {"name":"b"}}', 'malformed', 14],
    ['an end too soon', 'So: {"name": "a", "inner": [{"name": "b"}', 'cut-off', 41],
    ['an end within a string', '[{"name": "b"}, {"name": "c', 'cut-off', 27],
    ['a bad escape', String.raw`{"name": "\x", "inner": {"name":"b"}}`, 'malformed', 11],
    ['a bad code point', String.raw`{"name": "\u00g0", "inner": {"name":"b"}}`, 'malformed', 11],
    ['a line break in a string', '{"name": "a\nb", "inner": {"name":"b"}}', 'malformed', 11],
    ['a leading zero', '{"name": 01, "inner": {"name":"b"}}', 'malformed', 10],
    ['a wrong bracket', '{"name": [{"name":"b"}}', 'malformed', 22],
  ])('R17 does not extract part of JSON that is broken by %s', (_, text, reason, offset) => {
    expect(findJson(text)).toEqual({ found: [], broken: expect.objectContaining({ reason, offset }) as unknown })
  })

  it('R17 continues after broken JSON', () => {
    expect(valuesIn('{"a": {"b": 1}, oops} better: {"a": 2}')).toEqual([{ a: 2 }])
  })

  it('R17 remembers the longest broken piece', () => {
    expect(findJson('[1, x] {"a": 1, "b": x} [1, x]').broken).toEqual({
      container: 'object',
      length: 14,
      reason: 'malformed',
      offset: 21,
    })
  })

  it('R17 rejects JSON that is nested too deeply to be validated', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    expect(valuesIn(nested(MAX_JSON_DEPTH))).toHaveLength(1)
    expect(valuesIn(`so ${nested(MAX_JSON_DEPTH)}`)).toHaveLength(1)
    expect(findJson(nested(MAX_JSON_DEPTH + 1))).toEqual({
      found: [],
      broken: { container: 'array', length: MAX_JSON_DEPTH, reason: 'too-deep', offset: MAX_JSON_DEPTH },
    })
  })

  it('R17 accepts exactly what JSON.parse accepts', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ':',
      ',',
      '-',
      '0',
      '1.5',
      'e1',
      'true',
      'nul',
      'l',
      ' ',
      '\n',
      'u00e9',
      '"a":',
    ]
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(''))
    const container = fc.oneof(
      text.map((inner) => `{${inner}}`),
      text.map((inner) => `[${inner}]`),
      fc.json().map((json) => `[${json}]`),
    )
    fc.assert(
      fc.property(container, (candidate) => {
        let expected: { value: unknown } | undefined
        try {
          expected = { value: JSON.parse(candidate) }
        } catch {
          expected = undefined
        }
        const whole = findJson(candidate).found.find(({ length }) => length === candidate.length)
        const inProse = findJson(`x ${candidate}`).found.find(({ length }) => length === candidate.length)
        expect(whole && { value: whole.value }).toEqual(expected)
        expect(inProse && { value: inProse.value }).toEqual(expected)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('R17 stays linear on hostile text', () => {
  const LENGTH = 200_000
  it.each([
    '{',
    '[',
    '{"',
    '["',
    '{"a',
    '{"a":',
    '["[",',
    '[",',
    '[{"',
    '{"a":[',
    '[1,',
    '[1,[',
    '[[1],',
    '{[',
    '[{',
    '"[',
    '\\"[',
    '["\\',
    '{"\\"{',
    '[]',
    '{}',
    '[1]',
    '[{}',
    '[{"a":1}',
    '[{"a":1} x',
    '[1,]',
    '{"a":1,}',
    '[-',
    '[1',
    '[tru',
    '```\n',
    '```\n[',
    '~~~ `\n',
    '` ',
    ' ',
    '\n',
    '```',
    '```\r',
  ])('R17 %j repeated', (unit) => {
    const text = unit.repeat(Math.ceil(LENGTH / unit.length))
    // Linear work takes a tenth of this; quadratic work takes minutes.
    const getCpuMs = startCpuClock()
    findJson(text)
    findJson(`x${text}x`)
    findJson(`["${text}`)
    findJson(`[1,${text}]`)
    expect(getCpuMs()).toBeLessThan(3000)
  })
})

describe('R17 four megabytes of brackets', () => {
  const repeat = (text: string): string => text.repeat(Math.floor(4_000_000 / text.length))
  it.each([
    '{',
    '[',
    '{[',
    '[]',
    '{} ',
    '["',
    '{"',
    '["\\"',
    '[1',
    '[1,',
    '[1,]',
    '[true ',
    '{"a":',
    '[ \n',
    '```\n{\n',
  ])('are read quickly if they repeat %j', (text) => {
    const getCpuMs = startCpuClock()
    findJson(repeat(text))
    expect(getCpuMs()).toBeLessThan(4_000)
  })

  it('do not overflow the stack if they are closed again', () => {
    const deep = '['.repeat(2_000_000) + ']'.repeat(2_000_000)
    expect(findJson(deep)).toMatchObject({ found: [], broken: { reason: 'too-deep' } })
    expect(findJson(`So: ${'{"a":'.repeat(500_000)}1${'}'.repeat(500_000)}. Or {"b":2}`).found).toEqual([
      { value: { b: 2 }, length: 7 },
    ])
  })
})
