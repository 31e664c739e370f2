import { describe, expect, it } from 'vitest'
import { describeLoadFailure } from './load-failure.ts'

const FILE = 'C:\\work\\foldout.config.ts'

describe('R51 the reason why a configuration cannot be loaded', () => {
  it.each([
    ['ParseError: C:\\: Unexpected token  \n C:/work/foldout.config.ts:1:16', 'Line 1: Unexpected token.'],
    ['ParseError: C:\\: Missing semicolon.  \n C:/work/c.ts:2:3', 'Line 2 of C:/work/c.ts: Missing semicolon.'],
  ])('has a line on Windows: %j', (message, expected) => {
    expect(describeLoadFailure(FILE, new Error(message))).toBe(expected)
  })

  it('has the line of an error that is thrown on Windows', () => {
    const error = Object.assign(new Error('boom'), { stack: 'Error: boom\n    at C:/work/foldout.config.ts:3:7' })
    expect(describeLoadFailure(FILE, error)).toBe('Line 3: boom.')
  })
})
