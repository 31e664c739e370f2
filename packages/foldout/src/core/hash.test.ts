import { describe, expect, it, vi } from 'vitest'
import { hashInJavaScript, sha256Hex } from './hash.ts'
import { canonicalJson } from './json/json.ts'

describe('sha256Hex', () => {
  const texts = ['', 'abc', 'Zoë 😀', '\ud800 alone', 'x'.repeat(100_000), '\0\n']

  it("R16 is the same with the runtime's hash and in JavaScript", () => {
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(texts.map(sha256Hex)).toEqual(texts.map(hashInJavaScript))
  })

  it.each([
    ['has no built-in modules', undefined],
    ['has none of that name', () => undefined],
    [
      'refuses them',
      () => {
        throw new Error('not here')
      },
    ],
  ])('R16 works if the runtime %s', async (_, getBuiltinModule) => {
    vi.resetModules()
    const spy = vi.spyOn(process, 'getBuiltinModule').mockImplementation(getBuiltinModule as never)
    if (!getBuiltinModule) Object.defineProperty(process, 'getBuiltinModule', { value: undefined, configurable: true })
    const fresh = await import('./hash.ts')
    const hashes = texts.map(fresh.sha256Hex)
    spy.mockRestore()
    expect(hashes).toEqual(texts.map(sha256Hex))
  })
})

describe('canonicalJson', () => {
  it('R16 is the same for equal values, in any order of keys', () => {
    const values = [
      { a: 1, b: { c: [1, { d: 2, e: 3 }], f: null } },
      { b: { f: null, c: [1, { e: 3, d: 2 }] }, a: 1 },
    ]
    expect(values.map(canonicalJson)).toEqual(Array(2).fill('{"a":1,"b":{"c":[1,{"d":2,"e":3}],"f":null}}'))
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"z":1,"a":2}}'))).toBe('{"__proto__":{"a":2,"z":1},"b":1}')
    expect(canonicalJson([undefined, { b: undefined, a: new Date(0) }])).toBe('[null,{"a":"1970-01-01T00:00:00.000Z"}]')
  })
})
