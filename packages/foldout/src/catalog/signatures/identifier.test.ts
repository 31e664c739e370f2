import { Script } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toIdentifier } from './identifier.ts'

describe('R44 the name of a tool in code', () => {
  it.each([
    ['get_weather', 'get_weather'],
    ['get-weather', 'get_weather'],
    ['server/get.weather', 'server_get_weather'],
    ['2fa', '_2fa'],
    ['', '_'],
    ['delete', 'delete_'],
    ['await', 'await_'],
    ['then', 'then_'],
    ['__proto__', '__proto___'],
    ['get', 'get'],
    ['天気', '天気'],
    ['a b\n*/', 'a_b___'],
    ['😀', '_'],
    ['a\u2E2Fb', 'a_b'],
  ])('R44 makes an identifier of %j', (name, expected) => {
    expect(toIdentifier(name)).toBe(expected)
  })

  it('R44 numbers names that would be the same', () => {
    const taken = new Set<string>()
    for (const name of ['a-b', 'a_b', 'a.b', 'a_b_2']) taken.add(toIdentifier(name, taken))
    expect([...taken]).toEqual(['a_b', 'a_b_2', 'a_b_3', 'a_b_2_2'])
  })

  it('R44 is always valid in JavaScript', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const identifier = toIdentifier(name)
        expect(() => new Script(`'use strict'; function ${identifier}() {}`)).not.toThrow()
        expect(toIdentifier(name, new Set([identifier]))).not.toBe(identifier)
      }),
      { numRuns: 1_000 },
    )
  })
})
