import { describe, expect, it, vi } from 'vitest'
import { createCachedCounter } from './tokens.ts'

describe('createCachedCounter', () => {
  const counting = () => vi.fn<(text: string) => number>((text) => text.length)

  it('R41 counts a text once, and forgets the oldest first', () => {
    const count = counting()
    const counter = createCachedCounter({ name: 'test', exact: true, count }, 2)
    for (const text of ['a', 'b', 'a', 'c', 'b', 'a']) counter.count(text)
    expect(count.mock.calls.map(([text]) => text)).toEqual(['a', 'b', 'c', 'a'])
  })

  it('R41 bounds the memory for long texts', () => {
    const count = counting()
    const counter = createCachedCounter({ name: 'test', exact: true, count })
    const long = (i: number): string => String(i).padEnd(5_000_000, 'x')
    for (const i of [1, 2, 3, 4, 4, 1]) expect(counter.count(long(i))).toBe(5_000_000)
    expect(count).toHaveBeenCalledTimes(5)
  })
})
