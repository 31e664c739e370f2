import { InvalidArgumentError } from 'commander'
import { describe, expect, it } from 'vitest'
import { readAmount, readCount, readPort, readSeconds, readShare, readTime } from './options.ts'

const READERS = { readAmount, readCount, readPort, readSeconds, readShare }
/** What `Number` would take for a number, or for another one than a person means. */
const ODD = [
  '',
  ' ',
  ' 5',
  '5s',
  '5,0',
  '0x10',
  '0b1',
  '1e3',
  '1e999',
  '-1',
  '+1',
  'NaN',
  'Infinity',
  '１',
  '1_000',
  '.5',
  '5.',
]

describe.each(Object.entries(READERS))('%s', (_name, read) => {
  it.each(ODD)('R58 refuses %j', (text) => expect(() => read(text)).toThrow(InvalidArgumentError))

  it('R58 takes a plain number', () => expect(read('1')).toBe(1))
})

it.each([
  [readCount, ['0', '1.5', '99999999999999999999']],
  [readPort, ['1.5', '65536']],
  [readSeconds, ['0', '86401']],
  [readShare, ['1.1']],
])('R58 refuses a number that is out of range: %o', (read, texts) => {
  for (const text of texts) expect(() => read(text)).toThrow(InvalidArgumentError)
})

describe('readTime', () => {
  it.each([...ODD, '5', '2026', 'May', 'yesterday', '2026-13-01', '9999999d'])('R58 refuses %j', (text) =>
    expect(() => readTime(text)).toThrow('It must be a time'),
  )

  it('R58 takes a day, a time and a duration', () => {
    expect(readTime('2026-11-17').toISOString()).toBe('2026-11-17T00:00:00.000Z')
    expect(readTime('2026-11-17T08:00Z').toISOString()).toBe('2026-11-17T08:00:00.000Z')
    expect(readTime('2026-11-17T08:00:00.5+01:00').toISOString()).toBe('2026-11-17T07:00:00.500Z')
    expect(Date.now() - readTime('90m').getTime()).toBeGreaterThanOrEqual(90 * 60_000)
  })
})
