import { describe, expect, it } from 'vitest'
import { describeShape, getKinds, rootShape } from './shape.ts'

describe('shapes of foreign schemas', () => {
  it.each([
    [{ type: [Object.create(null), { toString: null }] }, undefined],
    [{ type: 'constructor' }, 'constructor'],
    [{ type: ['string', 5, null] }, 'a string'],
    [{ type: '__proto__' }, '__proto__'],
  ])('%j is described or ignored', (schema, words) => {
    const shape = rootShape(schema)
    expect(describeShape(shape)).toBe(words)
    expect(() => getKinds(shape)).not.toThrow()
  })
})
