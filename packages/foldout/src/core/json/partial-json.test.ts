import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from './json.ts'
import { MAX_JSON_DEPTH } from './limits.ts'
import { parsePartialJson } from './partial-json.ts'

describe('parsePartialJson', () => {
  it.each<[string, Json | undefined]>([
    ['', undefined],
    ['  ', undefined],
    ['{', {}],
    ['[', []],
    ['{"na', {}],
    ['{"name"', {}],
    ['{"name":', {}],
    ['{"name": "Ad', { name: 'Ad' }],
    ['{"name": "Ada"', { name: 'Ada' }],
    ['{"name": "Ada", "a', { name: 'Ada' }],
    ['{"name": "Ada", "age": 3', { name: 'Ada' }],
    ['{"name": "Ada", "age": 36 ', { name: 'Ada', age: 36 }],
    ['{"list": [1, 2, tr', { list: [1, 2] }],
    ['{"list": [{"a": "x', { list: [{ a: 'x' }] }],
    ['["a\\', ['a']],
    ['["a\\u00', ['a']],
    ['["a\\\\', ['a\\']],
    ['["a\\"b', ['a"b']],
    ['["\\ud83d', ['']],
    ['["\ud83d', ['']],
    ['["\\ud83d\\ude00', ['😀']],
    ['{"a": 1} and then', { a: 1 }],
    ['{"a": 1]', undefined],
    ['{"__proto__": {"x": "y', JSON.parse('{"__proto__": {"x": "y"}}') as Json],
  ])('reads %j', (text, value) => {
    expect(parsePartialJson(text)).toEqual(value)
  })

  it('reads every beginning of any JSON text, and the whole text as it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())), (value) => {
        const text = JSON.stringify(value)
        expect(JSON.stringify(parsePartialJson(text))).toBe(JSON.stringify(JSON.parse(text)))
        for (let length = 1; length < text.length; length++)
          expect(parsePartialJson(text.slice(0, length))).toBeDefined()
      }),
      { numRuns: 40 },
    )
  })

  it('reads nothing that is nested too deeply', () => {
    expect(parsePartialJson('['.repeat(MAX_JSON_DEPTH + 1))).toBeUndefined()
    expect(parsePartialJson('{"a":'.repeat(100_000))).toBeUndefined()
  })
})
