import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hideEnd, hideStart } from './cut.ts'
import { CUT_MARGIN } from './limits.ts'
import { createSecrets } from './secrets.ts'

const SECRET = 'secret-0123456789-abcdefghijklmnopqrstuvwxyz'
const { hide } = createSecrets([SECRET])
/** The longest beginning and end of the secret that could be left by accident. */
const PARTS = [SECRET.slice(0, 3), SECRET.slice(-3)]

/** A text of secrets and other characters. */
const text = fc
  .array(
    fc.oneof(
      fc.constant(SECRET),
      fc.integer({ min: 0, max: 3_000 }).map((length) => '.'.repeat(length)),
    ),
    {
      maxLength: 300,
    },
  )
  .map((parts) => parts.join(''))

describe('R56 a text that is cut', () => {
  it('has no part of a secret at its end, however much was hidden before', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 2_000 }), (given, most) => {
        const start = hideStart(given, most, hide)
        expect(start.length).toBeLessThanOrEqual(most)
        for (const part of PARTS) expect(start).not.toContain(part)
      }),
    )
  })

  it('has no part of a secret at its start, however much was hidden after', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 2_000 }), (given, most) => {
        const end = hideEnd(given.slice(-most - CUT_MARGIN), most, hide)
        expect(end.length).toBeLessThanOrEqual(most)
        for (const part of PARTS) expect(end).not.toContain(part)
      }),
    )
  })

  it('keeps what it can', () => {
    const long = '.'.repeat(20_000)
    expect(hideStart(`${long}${SECRET}`, 1_000, hide)).toBe('.'.repeat(1_000))
    expect(hideStart(`ab ${SECRET} cd`, 1_000, hide)).toBe('ab *** cd')
    expect(hideStart(SECRET.repeat(1_000), 1_000, hide)).toBe('***')
    expect(hideEnd(`ab ${SECRET} cd`, 1_000, hide)).toBe('ab *** cd')
  })
})
