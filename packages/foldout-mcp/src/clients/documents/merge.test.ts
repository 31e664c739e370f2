import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeTexts } from './merge.ts'

const line = fc.constantFrom('a\n', 'b\n', 'c\n', 'd\n', '\n')
const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join(''))

describe('R52: merging the changes of two texts', () => {
  it('keeps both, in their places', () => {
    const base = 'one\ntwo\nthree\nfour\n'
    expect(mergeTexts(base, 'zero\none\ntwo\nthree\nfour\n', 'one\ntwo\nfour\n')).toBe('zero\none\ntwo\nfour\n')
    expect(mergeTexts(base, 'one\ntwo\nthree\nfour\nfive', 'one\n2\nthree\nfour\n')).toBe('one\n2\nthree\nfour\nfive')
  })

  it('gives up if both changed the same lines', () => {
    expect(mergeTexts('one\ntwo\n', 'one\n2\n', 'one\nzwei\n')).toBeUndefined()
    expect(mergeTexts('one\n', 'one\ntwo\n', 'one\nzwei\n')).toBeUndefined()
  })

  it('gives up if too many lines differ', () => {
    const many = Array.from({ length: 2_000 }, (_, i) => `${i}\n`).join('')
    expect(mergeTexts('a\n', many, 'b\n')).toBeUndefined()
  })

  it('of which one made none is the other one', () => {
    fc.assert(
      fc.property(text, text, (base, other) => {
        expect(mergeTexts(base, other, base)).toBe(other)
        expect(mergeTexts(base, base, other)).toBe(other)
        expect(mergeTexts(base, other, other)).toBe(other)
      }),
    )
  })

  it('does not depend on who made which change', () => {
    fc.assert(
      fc.property(text, text, text, (base, one, other) => {
        expect(mergeTexts(base, one, other)).toBe(mergeTexts(base, other, one))
      }),
    )
  })

  it('keeps changes at the two ends of a text', () => {
    fc.assert(
      fc.property(text, text, text, (start, end, rest) => {
        const base = `${rest}--- 1\n--- 2\n${rest}`
        const [ours, theirs] = [`${start}--- 1\n--- 2\n${rest}`, `${rest}--- 1\n--- 2\n${end}`]
        expect(mergeTexts(base, ours, theirs)).toBe(`${start}--- 1\n--- 2\n${end}`)
      }),
    )
  })
})
