import { describe, expect, it } from 'vitest'
import { getErrorMessage, getErrorType } from './errors.ts'
import { MAX_ERROR_MESSAGE } from './limits.ts'

const throwing = (): never => {
  throw new Error('trap')
}
const everyTrap = new Proxy({}, { get: () => throwing })
const hostileError = Object.defineProperties(new Error('x'), {
  message: { get: throwing },
  code: { get: throwing },
  name: { get: throwing },
})

describe('messages of thrown values', () => {
  it.each([
    ['an error', new Error('Broken.'), 'Broken.', 'Error'],
    ['an error with a code', Object.assign(new Error('Gone.'), { code: 'ENOENT' }), 'Gone.', 'ENOENT'],
    ['a text', 'plain', 'plain', 'string'],
    ['a number', 5, '5', 'number'],
    ['null', null, 'null', 'object'],
    ['undefined', undefined, 'undefined', 'undefined'],
    ['a symbol', Symbol('s'), 'Symbol(s)', 'symbol'],
    ['an object without a prototype', Object.create(null), 'a thrown value that cannot be shown (object)', 'object'],
    [
      'an object whose toString throws',
      { toString: throwing },
      'a thrown value that cannot be shown (object)',
      'object',
    ],
    [
      'a proxy that throws at everything',
      new Proxy({}, everyTrap),
      'a thrown value that cannot be shown (object)',
      'object',
    ],
    [
      'a function proxy that throws at everything',
      new Proxy(() => 0, everyTrap),
      'a thrown value that cannot be shown (function)',
      'function',
    ],
    ['a revoked proxy', revoked(), 'a thrown value that cannot be shown (object)', 'object'],
    ['an error whose getters throw', hostileError, 'a thrown value that cannot be shown (object)', 'Error'],
    [
      'an error whose message is not text',
      Object.assign(new Error('x'), { message: { a: 1 } }),
      'Error: [object Object]',
      'Error',
    ],
    ['an error whose name is not text', Object.assign(new Error('x'), { name: 5 }), 'x', 'Error'],
  ])('%s', (_, thrown, message, type) => {
    expect(getErrorMessage(thrown)).toBe(message)
    expect(getErrorType(thrown)).toBe(type)
  })

  it('cuts a message that is too long, never within a surrogate pair', () => {
    const message = getErrorMessage(new Error(`a${'😀'.repeat(MAX_ERROR_MESSAGE)}`))
    expect(message).toBe(`a${'😀'.repeat(MAX_ERROR_MESSAGE / 2 - 1)}… (10002 more characters)`)
    expect(message).not.toMatch(/\p{Surrogate}/u)
    expect(getErrorType(Object.assign(new Error('x'), { code: 'c'.repeat(1e6) }))).toHaveLength(200)
  })
})

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
