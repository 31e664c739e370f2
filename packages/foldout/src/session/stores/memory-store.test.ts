import { describe, expect, it } from 'vitest'
import { sessionStoreSuite } from '../../testing/store-suite.ts'
import { createMemoryStore } from './memory-store.ts'

sessionStoreSuite('createMemoryStore', async () => createMemoryStore())

describe('error messages of the stores', () => {
  const stored = (sequence: number, payload: unknown) =>
    ({ sequence, event: { type: 'test/happened', payload }, scope: 'all' }) as const

  it('R25 name the sequence numbers of a conflict', async () => {
    const store = createMemoryStore()
    await store.append('one', [stored(1, 'first'), stored(2, 'first')])
    await expect(store.append('one', [stored(2, 'second')])).rejects.toThrow(
      "Session 'one' cannot take event 2: its next is 3. Another writer has changed or deleted the session; open it again.",
    )
  })

  it('R25 name the value that JSON would lose', async () => {
    await expect(createMemoryStore().append('one', [stored(1, { when: new Date(0) })])).rejects.toThrow(
      "The payload of the event 'test/happened' holds a Date at .when",
    )
  })
})
