import { expect, it } from 'vitest'
import { dropUndefined, isObject } from './values.ts'

it('tells objects from lists and other values', () => {
  expect([{}, Object.create(null), new Date(0)].every(isObject)).toBe(true)
  expect([[], null, undefined, 'text', 1, () => 1].some(isObject)).toBe(false)
})

it('leaves out undefined fields, and keeps those with any other value', () => {
  expect(dropUndefined({ a: undefined, b: null, c: 0, d: '' })).toStrictEqual({ b: null, c: 0, d: '' })
})

it('keeps a field called __proto__ as a field', () => {
  const fields = JSON.parse('{ "__proto__": { "isAdmin": true } }') as object
  const kept = dropUndefined(fields)
  expect(Object.keys(kept)).toEqual(['__proto__'])
  expect('isAdmin' in kept).toBe(false)
})
