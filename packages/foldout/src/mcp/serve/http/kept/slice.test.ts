import { describe, expect, it } from 'vitest'
import { createSession } from '../../../../session/session.ts'
import { MAX_LETTERS, MAX_LETTERS_BYTES } from '../../../limits.ts'
import { clientSlice } from './slice.ts'

/** The ids of the letters that are kept when these were sent one after the other. */
function keep(sizes: readonly number[]): readonly string[] {
  const session = createSession({ slices: [clientSlice] })
  for (const [at, bytes] of sizes.entries())
    session.dispatch(clientSlice.events.sent({ id: `${at}`, to: '*', message: {}, bytes }))
  return session.get(clientSlice).letters.map(({ id }) => id)
}

describe('R65 letters that wait for another machine', () => {
  it('are the newest, up to a limit', () => {
    const kept = keep(Array.from({ length: MAX_LETTERS + 3 }, () => 1))
    expect(kept).toEqual(Array.from({ length: MAX_LETTERS }, (_, i) => `${i + 3}`))
  })

  it('are the newest, up to a limit in bytes', () => {
    const half = MAX_LETTERS_BYTES / 2
    expect(keep([half, half])).toEqual(['0', '1'])
    expect(keep([1, half, half])).toEqual(['1', '2'])
    expect(keep([half, 1, half, half])).toEqual(['2', '3'])
    expect(keep([MAX_LETTERS_BYTES, 1])).toEqual(['1'])
  })
})
