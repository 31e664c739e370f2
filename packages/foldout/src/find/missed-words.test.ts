import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findMissedWords, type NeededFor } from './missed-words.ts'

const ask = (needs: string, ...texts: readonly string[]): readonly NeededFor[] =>
  texts.map((text) => ({ text, needs: [needs] }))

const REFUNDS = { name: 'refunds', text: 'Refunds: how an order is refunded.' }
const MOVES = { name: 'moves', text: 'Deliveries: another address for a parcel.' }

describe('findMissedWords', () => {
  it('R80 finds what people say who need a section, and not what everybody says', () => {
    const requests = [
      ...ask('refunds', 'My lamp is broken, I want my money back', 'A broken kettle: money back please'),
      ...ask('refunds', 'Can you refund my broken chair?'),
      ...ask(
        'moves',
        'My lamp has to go to another address',
        'A kettle for my other addresses please',
        'Send the chair',
      ),
    ]
    expect(findMissedWords([REFUNDS, MOVES], requests)).toEqual([
      { name: 'refunds', needed: 3, missed: 2, words: ['broken', 'back', 'money'] },
      { name: 'moves', needed: 3, missed: 1, words: [] },
    ])
  })

  it('R80 says nothing about a description that has a word of each request, in any form', () => {
    const requests = ask('refunds', 'REFUND A-17', 'was it refunded?', 'Two refunds for orders 3 and 4')
    expect(findMissedWords([REFUNDS], requests)).toEqual([])
    expect(findMissedWords([REFUNDS], ask('moves', 'money'))).toEqual([])
  })

  it('R80 proposes no numbers, ids and short words, and at most six', () => {
    const text = 'A-17 at 12:30 is ok: alpha beta gamma delta epsilon zeta eta theta iota kappa'
    const [found] = findMissedWords([REFUNDS], ask('refunds', text, text, text))
    expect(found?.words).toHaveLength(6)
    for (const word of found?.words ?? []) expect(text).toMatch(new RegExp(`\\b${word}\\b`))
  })

  it('R80 takes any text: scripts without spaces, names of prototypes, and very much of it', () => {
    const long = 'money back '.repeat(400_000)
    const odd = ask('refunds', '返金してください', '返金', 'constructor __proto__ toString', 'constructor', '', '🙂')
    const [found] = findMissedWords([REFUNDS], [...odd, ...ask('refunds', long)])
    expect(found).toMatchObject({ needed: 7, missed: 5 })
    expect(found?.words).toContain('constructor')
  })

  it('R80 misses no more requests than there are, whatever is said', () => {
    const word = fc.constantFrom('money', 'refunds', 'parcel', 'address', 'the', 'back', '17')
    const request = fc.record({
      text: fc.array(word).map((words) => words.join(' ')),
      needs: fc.subarray(['refunds', 'moves']),
    })
    fc.assert(
      fc.property(fc.array(request), (requests) => {
        for (const { name, needed, missed, words } of findMissedWords([REFUNDS, MOVES], requests)) {
          expect(needed).toBe(requests.filter(({ needs }) => needs.includes(name as 'moves')).length)
          expect(missed).toBeGreaterThan(0)
          expect(missed).toBeLessThanOrEqual(needed)
          for (const each of words) expect(`${REFUNDS.text} ${MOVES.text}`.toLowerCase()).not.toBe(each)
        }
      }),
    )
  })
})
