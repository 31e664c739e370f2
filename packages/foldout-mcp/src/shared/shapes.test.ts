import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { describeMistake, int, list, looseObject, number, object, parse, read, record, ShapeError } from './shapes.ts'
import { shortList, strictObject, string, text, union, upTo } from './shapes.ts'

function describeWrong(schema: v.GenericSchema, value: unknown): string | undefined {
  const { mistake } = read(schema, value)
  return mistake && describeMistake(mistake, (field) => `"${field}"`)
}

const one = { name: text, size: v.exactOptional(int) }

describe('a shape', () => {
  it.each([
    [object(one), [], 'The entry must be an object.'],
    [looseObject(one), ['name'], 'The entry must be an object.'],
    [strictObject(one), null, 'The entry must be an object.'],
    [object(one), {}, '"name" must be a string.'],
    [object({ one: object(one) }), {}, '"one" must be an object.'],
    [object(one), { name: '' }, '"name" must not be empty.'],
    [object(one), { name: 'a', size: undefined }, '"size" must be a number.'],
    [object(one), { name: 'a', size: 1.5 }, '"size" must be a whole number.'],
    [strictObject(one), { name: 'a', b: 1, constructor: 2 }, 'The entry has no setting called b, constructor.'],
    [list(strictObject(one)), [{ name: 'a' }, { name: 'a', b: 1 }], '"1" has no setting called b.'],
    [record(strictObject(one)), { toString: { name: 'a', b: 1 } }, '"toString" has no setting called b.'],
    [record(number), { a: 1, b: Infinity }, '"b" must be a number.'],
    [record(number), new Date(0), 'The entry must be an object.'],
    [shortList(number, 2), ['a', 'b', 'c'], 'The entry must have at most 2 items.'],
    [shortList(number, 2), ['a'], '"0" must be a number.'],
    [union([string, object(one)], 'a string or an object'), 7, 'The entry must be a string or an object.'],
    [union([string, strictObject(one)], 'a string'), { name: 'a', b: 1 }, 'The entry has no setting called b.'],
    [union([string, object(one)], 'a string'), { name: '' }, '"name" must not be empty.'],
    [union([string, object(one)], 'a string'), {}, '"name" must be a string.'],
    [union([object(one), object({ age: int })], 'one of two'), { age: 'a' }, '"age" must be a number.'],
    [union([object(one), object({ age: int })], 'one of two'), {}, 'The entry must be one of two.'],
    [upTo(3), 'abcd', 'The entry must have at most 3 characters.'],
  ] as const)('%# describes the first mistake', (schema, value, message) => {
    expect(describeWrong(schema, value)).toBe(message)
    expect(() => parse(schema, value)).toThrow(new ShapeError(message))
  })

  it('keeps every key of a record but __proto__', () => {
    const given = JSON.parse('{"__proto__": 1, "constructor": 2, "prototype": 3, "": 4}') as object
    const data = parse(record(number), given)
    expect(Object.entries(data)).toEqual([
      ['constructor', 2],
      ['prototype', 3],
      ['', 4],
    ])
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype)
  })

  it('leaves out or keeps other fields', () => {
    const given = { name: 'a', other: 1 }
    expect(parse(object(one), given)).toEqual({ name: 'a' })
    expect(parse(looseObject(one), given)).toEqual(given)
    expect(parse(union([number, object(one)], 'either'), given)).toEqual({ name: 'a' })
  })
})
