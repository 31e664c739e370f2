import { describe, expect, it, vi } from 'vitest'
import { startCpuClock } from '../cpu.fixtures.ts'
import { createCachedCounter, estimatedTokens } from './tokens.ts'

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

describe('estimatedTokens', () => {
  it.each([
    ['lines of one character', (length: number) => 'a\n'.repeat(length / 2)],
    [
      'prose and numbers',
      (length: number) => Array.from({ length: length / 32 }, (_, i) => `Order ${i} left on day ${i % 31}. `).join(''),
    ],
    [
      'a table between prose',
      (length: number) => 'It left on Monday. '.repeat(length / 40) + '| 1 | 2 |\n'.repeat(length / 20),
    ],
  ])('R41 takes no longer for 4 MB than for 400 kB of %s, and stays close', (_, write) => {
    const [small, large] = [write(400_000), write(4_000_000)]
    estimatedTokens.count(write(300_000))
    const measure = (text: string): readonly [number, number] => {
      const clock = startCpuClock()
      return [estimatedTokens.count(text), clock()]
    }
    const [fewer, shorter] = measure(small)
    const [more, longer] = measure(large)
    expect(more / fewer).toBeCloseTo(10, 0)
    expect(longer).toBeLessThan(5 * shorter + 20)
  })

  it('R41 estimates long texts as close as short ones', () => {
    const paragraph = `The carrier picked up parcel 1234 on Monday: nobody (in Oslo) has seen it since.\n`
    const whole = estimatedTokens.count(paragraph.repeat(2_000)) * 25
    expect(estimatedTokens.count(paragraph.repeat(50_000)) / whole).toBeCloseTo(1, 1)
  })
})
