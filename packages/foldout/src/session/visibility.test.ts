import { describe, expect, expectTypeOf, it } from 'vitest'
import { defineLog } from './log.ts'
import { createSession } from './session.ts'
import type { Snapshot } from './snapshot.ts'
import { createMemoryStore } from './stores/memory-store.ts'
import { openSession } from './stores/open-session.ts'
import { isVisibility, visibility, type VisibilityOverrides } from './visibility.ts'

describe('visibility', () => {
  it('R22 has the events visibility/set, visibility/cleared and visibility/reset', () => {
    expect(visibility.events.set({ path: 'a.b', visibility: 'full' })).toEqual({
      type: 'visibility/set',
      payload: { path: 'a.b', visibility: 'full' },
    })
    expect(visibility.events.cleared({ path: 'a.b' })).toEqual({ type: 'visibility/cleared', payload: { path: 'a.b' } })
    expect(visibility.events.reset().type).toBe('visibility/reset')
    expectTypeOf(visibility.events.set.type).toEqualTypeOf<'visibility/set'>()
    expectTypeOf(visibility.initial).toEqualTypeOf<VisibilityOverrides>()
    // @ts-expect-error -- there are two visibilities
    visibility.events.set({ path: 'a', visibility: 'hidden' })
  })

  it('R22 is in every session', () => {
    const session = createSession()
    expect(session.get(visibility)).toEqual({})
    session.dispatch(visibility.events.set({ path: 'context', visibility: 'full' }))
    session.dispatch(visibility.events.set({ path: 'context.examples', visibility: 'summary' }))
    session.dispatch(visibility.events.set({ path: 'context', visibility: 'summary' }))
    expect(session.get(visibility)).toEqual({ context: 'summary', 'context.examples': 'summary' })
    session.dispatch(visibility.events.cleared({ path: 'context' }))
    expect(session.get(visibility)).toEqual({ 'context.examples': 'summary' })
    session.dispatch(visibility.events.reset())
    expect(session.get(visibility)).toEqual({})
  })

  it('R22 can be seeded', () => {
    const session = createSession({ slices: [visibility.seed({ context: 'full' })] })
    expect(session.get(visibility)).toEqual({ context: 'full' })
    expect(createSession().get(visibility)).toEqual({})
    session.dispatch(visibility.events.reset())
    expect(session.get(visibility)).toEqual({})
  })

  it('R22 is immutable, however it was created', () => {
    const session = createSession({ slices: [visibility.seed({ context: 'full' })] })
    const states = [session.get(visibility)]
    session.dispatch(visibility.events.set({ path: 'a', visibility: 'full' }))
    states.push(session.get(visibility))
    session.dispatch(visibility.events.cleared({ path: 'a' }))
    states.push(session.get(visibility))
    session.restore(session.snapshot())
    states.push(session.get(visibility))
    session.dispatch(visibility.events.reset())
    states.push(session.get(visibility))
    expect(states.map((state) => Object.isFrozen(state))).toEqual([true, true, true, true, true])
    expect(states).toEqual([
      { context: 'full' },
      { context: 'full', a: 'full' },
      { context: 'full' },
      { context: 'full' },
      {},
    ])
  })

  it('R22 stays the same object when nothing changes', () => {
    const session = createSession({ slices: [visibility.seed({ context: 'full' })] })
    const before = session.get(visibility)
    session.dispatch(visibility.events.set({ path: 'context', visibility: 'full' }))
    session.dispatch(visibility.events.cleared({ path: 'unknown' }))
    session.dispatch(visibility.events.cleared({ path: 'constructor' }))
    expect(session.get(visibility)).toBe(before)
  })

  it('R22 is a plain, frozen object for callers, and the same one each time', () => {
    const session = createSession()
    session.dispatch(visibility.events.set({ path: 'context', visibility: 'full' }))
    const state = session.get(visibility)
    expect(state).toBe(session.get(visibility))
    expect(Object.isFrozen(state)).toBe(true)
    expect(structuredClone(state)).toEqual({ context: 'full' })
    expect(session.snapshot().slices['visibility']).toEqual({ version: 1, state: { context: 'full' } })
    const transaction = session.begin()
    transaction.session.dispatch(visibility.events.cleared({ path: 'context' }))
    expect(transaction.session.get(visibility)).toEqual({})
    expect(session.get(visibility)).toBe(state)
    transaction.commit()
    expect(session.get(visibility)).toEqual({})
  })

  it('R22 accepts paths that are also properties of Object.prototype', () => {
    const session = createSession()
    session.dispatch(visibility.events.set({ path: 'constructor', visibility: 'full' }))
    session.dispatch(visibility.events.set({ path: '__proto__', visibility: 'summary' }))
    const restored = createSession({ snapshot: JSON.parse(JSON.stringify(session.snapshot())) })
    expect(Object.entries(restored.get(visibility))).toEqual([
      ['constructor', 'full'],
      ['__proto__', 'summary'],
    ])
  })

  it.each([[[]], [{ context: 'open' }], [{ context: true }], ['full'], [null]])(
    'R22 R23 rejects %j from a snapshot',
    (state) => {
      const session = createSession({ slices: [visibility.seed({ context: 'full' })] })
      expect(() => session.restore({ version: 1, slices: { visibility: { version: 1, state } } })).toThrow(
        expect.objectContaining({
          code: 'snapshot-invalid',
          message:
            "The slice 'visibility' in the snapshot cannot be read: it is not an object of 'full' and 'summary' by path.",
        }),
      )
      expect(session.get(visibility)).toEqual({ context: 'full' })
    },
  )

  it('R1 knows the two visibilities', () => {
    expect(['full', 'summary', 'hidden', undefined, {}].map(isVisibility)).toEqual([true, true, false, false, false])
  })
})

describe('an invalid payload', () => {
  it.each([
    { case: 'another visibility', payload: { path: 'a', visibility: 'open' }, fault: "its visibility is 'open'" },
    { case: 'no visibility', payload: { path: 'a' }, fault: 'its visibility is undefined' },
    {
      case: 'a path that is a number',
      payload: { path: 1, visibility: 'full' },
      fault: 'its path is not a non-empty string',
    },
    { case: 'no payload', payload: undefined, fault: 'its payload is not an object' },
    { case: 'a list', payload: [], fault: 'its payload is not an object' },
  ])('R22 is rejected before anything happens: $case', ({ payload, fault }) => {
    const log = defineLog({ name: 'openings', of: [visibility.events.set] })
    const session = createSession({ slices: [log] })
    session.dispatch(visibility.events.set({ path: 'a', visibility: 'summary' }))
    const before = session.snapshot()
    expect(() => session.dispatch({ type: 'visibility/set', payload })).toThrow(
      expect.objectContaining({ code: 'event-invalid', message: expect.stringContaining(fault) as string }) as Error,
    )
    expect(session.snapshot()).toEqual(before)
  })

  it('R22 is rejected by visibility/cleared too', () => {
    const session = createSession()
    expect(() => session.dispatch({ type: 'visibility/cleared', payload: null })).toThrow(
      'its payload is not an object',
    )
  })

  it('R22 in an old journal is skipped', async () => {
    const store = createMemoryStore()
    const events = ['open', 'full'].map((wanted, i) => ({
      sequence: i + 1,
      event: { type: 'visibility/set', payload: { path: wanted, visibility: wanted } },
      scope: 'all' as const,
    }))
    await store.append('one', events)
    const session = await openSession({ store, id: 'one' })
    expect(session.get(visibility)).toEqual({ full: 'full' })
  })

  it.each(['__proto__', 'constructor', 'toString'])('R22 can name the path %s', (path) => {
    const session = createSession()
    session.dispatch(visibility.events.set({ path, visibility: 'full' }))
    const restored = createSession({ snapshot: JSON.parse(JSON.stringify(session.snapshot())) as Snapshot })
    expect(Object.entries(restored.get(visibility))).toEqual([[path, 'full']])
    restored.dispatch(visibility.events.cleared({ path }))
    expect(Object.entries(restored.get(visibility))).toEqual([])
  })
})
