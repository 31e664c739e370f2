import { describe, expect, it } from 'vitest'
import { ignore } from './promises.ts'

describe('ignore', () => {
  it('resolves with the value, or with nothing if the promise was rejected', async () => {
    expect(await ignore(Promise.resolve(3), 'for the test')).toBe(3)
    expect(await ignore(Promise.reject(new Error('gone')), 'for the test')).toBeUndefined()
  })

  it('takes thenables that are not promises, and getters that throw', async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- on purpose
    const thenable = { then: (_: unknown, reject: (error: Error) => void) => reject(new Error('gone')) }
    expect(await ignore(thenable as PromiseLike<never>, 'for the test')).toBeUndefined()
    // oxlint-disable-next-line unicorn/no-thenable -- on purpose
    const hostile = Object.defineProperty({}, 'then', {
      get() {
        throw new Error('no')
      },
    })
    expect(await ignore(hostile as PromiseLike<never>, 'for the test')).toBeUndefined()
  })

  it('reports nothing of faults that are not mistakes in the code', async () => {
    const faults = [
      new Error('ENOENT'),
      new RangeError('too deep'),
      new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }),
      Object.assign(new TypeError('Invalid state'), { code: 'ERR_INVALID_STATE' }),
      'a text',
      undefined,
    ]
    // The rejections are not errors on purpose.
    for (const fault of faults) expect(await ignore(Promise.reject(fault as Error), 'for the test')).toBeUndefined()
  })

  it.fails('fails a test in which a mistake in the code is ignored', async () => {
    const missing = undefined as unknown as { readonly name: string }
    const ignored = ignore(
      Promise.resolve().then(() => missing.name),
      'for the test',
    )
    expect(await ignored).toBeUndefined()
  })

  it.fails('fails a test whose expectation is ignored', async () => {
    await ignore(
      Promise.resolve().then(() => expect(1).toBe(2)),
      'for the test',
    )
  })
})
