import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineEvent, type Event } from './event.ts'
import { defineLog } from './log.ts'
import { createSession, type Session } from './session.ts'
import { defineSlice } from './slice.ts'
import type { Snapshot } from './snapshot.ts'
import { createMemoryStore } from './stores/memory-store.ts'
import { openSession } from './stores/open-session.ts'
import { visibility, type Visibility } from './visibility.ts'

const ticked = defineEvent()('clock/ticked')
const tree = defineSlice({
  name: 'tree',
  initial: { nodes: [] as readonly { readonly id: string; readonly tags: readonly string[] }[], ticks: 0 },
  reducers: {
    grown: (state, payload: { readonly id: string; readonly tags: readonly string[] }) => ({
      ...state,
      nodes: [...state.nodes, payload],
    }),
    pruned: (state, payload: number) => ({ ...state, nodes: state.nodes.filter((_, i) => i !== payload) }),
  },
  reactions: (on) => [on(ticked, (state) => ({ ...state, ticks: state.ticks + 1 }))],
})
const words = defineSlice({
  name: 'words',
  initial: '',
  reducers: { said: (state, payload: string) => state + payload },
})
const history = defineLog({
  name: 'history',
  of: [ticked, tree.events.grown, words.events.said, visibility.events.set],
})
const slices = [tree, words, history]
const open = (snapshot?: Snapshot): Session => createSession(snapshot ? { slices, snapshot } : { slices })

const path = fc.constantFrom('a', 'a.b', 'a.b.c', 'constructor')
const plain = { noNullPrototype: true }
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.constant(ticked()),
  fc
    .record({ id: fc.string(), tags: fc.array(fc.string({ unit: 'binary' }), { maxLength: 3 }) }, plain)
    .map(tree.events.grown),
  fc.nat(5).map(tree.events.pruned),
  fc.string({ unit: 'binary' }).map(words.events.said),
  fc.record({ path, visibility: fc.constantFrom<Visibility>('full', 'summary') }, plain).map(visibility.events.set),
  fc.record({ path }, plain).map(visibility.events.cleared),
  fc.constant(visibility.events.reset()),
)
const json = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

describe('a snapshot', () => {
  it('R23 survives JSON for every slice, and the session continues the same way', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), fc.array(event, { maxLength: 10 }), (before, after) => {
        const session = open()
        for (const each of before) session.dispatch(each)
        const snapshot = session.snapshot()
        const text = JSON.stringify(snapshot)
        const restored = open(JSON.parse(text) as Snapshot)
        const same = (): void => {
          expect(restored.get(tree)).toStrictEqual(session.get(tree))
          expect(restored.get(words)).toBe(session.get(words))
          expect(restored.get(visibility)).toStrictEqual(session.get(visibility))
          expect([...restored.get(history)]).toStrictEqual([...session.get(history)])
          expect(JSON.stringify(restored.snapshot())).toBe(JSON.stringify(session.snapshot()))
        }
        same()
        for (const each of after) {
          session.dispatch(each)
          restored.dispatch(each)
        }
        same()
        expect(JSON.stringify(snapshot)).toBe(text)
      }),
    )
  })

  it('R23 R24 can be restored at any later point, and logs keep everything', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), fc.array(event, { maxLength: 20 }), (before, after) => {
        const session = open()
        for (const each of before) session.dispatch(each)
        const snapshot = json(session.snapshot())
        for (const each of after) session.dispatch(each)
        const logged = [...session.get(history)]
        session.restore(snapshot)
        const { history: _log, ...states } = session.snapshot().slices
        const { history: _before, ...expected } = snapshot.slices
        expect(states).toEqual(expected)
        expect([...session.get(history)]).toStrictEqual(logged)
      }),
    )
  })

  it('R23 has a version, and so does each slice', () => {
    expect(open().snapshot()).toEqual({
      version: 1,
      slices: expect.objectContaining({
        visibility: { version: 1, state: {} },
        tree: { version: 1, state: { nodes: [], ticks: 0 } },
        words: { version: 1, state: '' },
        history: { version: 1, state: [] },
      }),
    })
  })

  it('R23 is a copy: changes on one side do not reach the other', () => {
    const session = open()
    session.dispatch(tree.events.grown({ id: 'a', tags: ['x'] }))
    const snapshot = session.snapshot()
    const restored = open(snapshot)
    ;(snapshot.slices['tree']!.state as { nodes: unknown[] }).nodes.length = 0
    ;(snapshot.slices['history']!.state as unknown[]).length = 0
    for (const each of [session, restored]) {
      expect(each.get(tree).nodes).toEqual([{ id: 'a', tags: ['x'] }])
      expect(each.get(history).length).toBe(1)
    }
  })

  it('R23 keeps the state of slices that it does not have', () => {
    const old = createSession({ slices: [words.seed('old')] }).snapshot()
    const session = open()
    session.dispatch(ticked())
    session.restore(old)
    expect(session.get(words)).toBe('old')
    expect(session.get(tree).ticks).toBe(1)
  })

  it('R23 freezes restored states', () => {
    const session = open(
      json(createSession({ slices: [tree.seed({ nodes: [{ id: 'a', tags: [] }], ticks: 0 })] }).snapshot()),
    )
    expect(Object.isFrozen(session.get(tree).nodes[0]?.tags)).toBe(true)
  })
})

describe('a snapshot that does not fit', () => {
  const good = (): Snapshot => {
    const session = open()
    session.dispatch(words.events.said('from the snapshot'))
    return session.snapshot()
  }
  const withSlice = (name: string, entry: unknown): unknown => ({
    ...good(),
    slices: { ...good().slices, [name]: entry },
  })

  const misfits = [
    {
      case: 'an unknown slice',
      snapshot: withSlice('zoo', { version: 1, state: 0 }),
      code: 'snapshot-unknown-slice',
      message:
        "The snapshot has a slice 'zoo' that this session does not. Pass it in createSession({ slices }), or remove it from the snapshot.",
    },
    {
      case: 'an unknown version of a slice',
      snapshot: withSlice('history', { version: 2, state: [] }),
      code: 'snapshot-slice-version',
      message:
        "The snapshot has version 2 of slice 'history'; this session has version 1. Convert its state to the new shape before restoring.",
    },
    {
      case: 'an unknown version',
      snapshot: { version: 2, sections: [] },
      code: 'snapshot-version',
      message: 'The snapshot has version 2; this version of Foldout reads version 1.',
    },
    {
      case: 'a slice without a state',
      snapshot: withSlice('history', { version: 1 }),
      code: 'snapshot-invalid',
      message: "The slice 'history' in the snapshot has no state.",
    },
    {
      case: 'a log that is not a list',
      snapshot: withSlice('history', { version: 1, state: { length: 3 } }),
      code: 'snapshot-invalid',
      message: "The slice 'history' in the snapshot cannot be read: it is not a list of events.",
    },
    {
      case: 'a log of something else',
      snapshot: withSlice('history', { version: 1, state: [{ type: 'a' }, 'b'] }),
      code: 'snapshot-invalid',
      message: "The slice 'history' in the snapshot cannot be read: it is not a list of events.",
    },
    {
      case: 'what is not JSON',
      snapshot: withSlice('tree', { version: 1, state: { nodes: [new Date(0)] } }),
      code: 'snapshot-invalid',
      message: "The slice 'tree' in the snapshot holds a Date at .nodes[0], which is not JSON.",
    },
    ...[
      null,
      'text',
      [],
      {},
      { version: 1 },
      { slices: {} },
      { version: '1', slices: {} },
      { version: 1, slices: [] },
      undefined,
    ].map((snapshot) => ({
      case: JSON.stringify(snapshot) ?? 'undefined',
      snapshot: snapshot as unknown,
      code: 'snapshot-invalid',
      message:
        'This is not a snapshot of a session: it has no `version` and `slices`. Pass the return value of session.snapshot(), or its parsed JSON.',
    })),
  ]
  it.each(misfits)('R23 is rejected for $case, and nothing is restored', ({ snapshot, code, message }) => {
    const session = open()
    session.dispatch(words.events.said('before'))
    const before = session.snapshot()
    expect(() => session.restore(snapshot as Snapshot)).toThrow(expect.objectContaining({ code, message }))
    expect(session.snapshot()).toEqual(before)
  })

  it.each(misfits.slice(0, -1))('R23 does not start a session for $case', ({ snapshot, code, message }) => {
    expect(() => createSession({ slices, snapshot: snapshot as Snapshot })).toThrow(
      expect.objectContaining({ code, message }),
    )
  })

  it('R23 is rejected by a slice that reads its own state', () => {
    const age = defineSlice({
      name: 'age',
      initial: 0,
      reducers: {},
      version: 3,
      fromJson: (json) => {
        if (typeof json !== 'number') throw new Error('an age is a number.')
        return json
      },
    })
    const restore = (state: unknown) =>
      createSession({ slices: [age], snapshot: { version: 1, slices: { age: { version: 3, state } } } })
    expect(restore(7).get(age)).toBe(7)
    expect(() => restore('7')).toThrow("The slice 'age' in the snapshot cannot be read: an age is a number.")
  })
})

describe('state that JSON cannot represent', () => {
  const EMPTY: { readonly item: unknown } = { item: null }
  const bag = defineSlice({
    name: 'bag',
    initial: EMPTY,
    reducers: { put: (state, payload: unknown) => ({ ...state, item: payload }) },
  })
  it.each([
    [new Date(0), 'a Date at .item'],
    [[1, { deep: undefined }], 'undefined at .item[1].deep'],
    [Number.NaN, 'NaN at .item'],
    [new Map(), 'a Map at .item'],
    [() => 0, 'a function at .item'],
    [10n, 'a bigint at .item'],
  ])('R23 is rejected by snapshot(), with its location', (item, place) => {
    const session = createSession({ slices: [bag] })
    session.dispatch(bag.events.put(item))
    expect(() => session.snapshot()).toThrow(
      expect.objectContaining({
        code: 'snapshot-lossy',
        message: `Slice 'bag' holds ${place}, which JSON cannot represent. Keep plain objects, lists, strings, finite numbers, booleans and null in slices.`,
      }),
    )
  })

  it('R23 is rejected in logs too', () => {
    const puts = defineLog({ name: 'puts', of: [bag.events.put] })
    const session = createSession({ slices: [puts] })
    session.dispatch(bag.events.put(1))
    session.dispatch(bag.events.put(new Date(0)))
    expect(() => session.snapshot()).toThrow("Slice 'puts' holds a Date at [1].payload, which JSON cannot represent.")
  })
})

describe('logs and restores', () => {
  it('R24 roll back the state and keep the logs', () => {
    const session = open()
    session.dispatch(words.events.said('a'))
    const snapshot = session.snapshot()
    session.dispatch(words.events.said('b'))
    session.restore(snapshot)
    session.dispatch(words.events.said('c'))
    expect(session.get(words)).toBe('ac')
    expect([...session.get(history)].map((entry) => entry.payload)).toEqual(['a', 'b', 'c'])
  })

  it('R24 replace a log with a longer one that continues it', () => {
    const session = open()
    session.dispatch(words.events.said('a'))
    const copy = open(session.snapshot())
    session.dispatch(words.events.said('b'))
    copy.restore(json(session.snapshot()))
    expect([...copy.get(history)].map((entry) => entry.payload)).toEqual(['a', 'b'])
  })

  it('R24 never remove entries because of another session’s snapshot, however long it is', () => {
    const [one, two] = [open(), open()]
    one.dispatch(words.events.said('mine'))
    two.dispatch(words.events.said('theirs'))
    two.dispatch(words.events.said('theirs'))
    one.restore(two.snapshot())
    expect(one.get(words)).toBe('theirstheirs')
    expect([...one.get(history)].map((entry) => entry.payload)).toEqual(['mine'])
  })
})

describe('deeply nested state', () => {
  const nest = (depth: number): unknown => {
    let value: unknown = 1
    for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value }
    return value
  }
  const nothing: unknown = null
  const holder = defineSlice({
    name: 'holder',
    initial: nothing,
    reducers: { held: (_state, payload: unknown) => payload },
  })
  const held = defineLog({ name: 'held', of: [holder.events.held] })

  it('R23 is accepted, and a snapshot of it fails with a readable error', () => {
    const session = createSession({ slices: [holder, held] })
    session.dispatch(holder.events.held(nest(200_000)))
    expect(Object.isFrozen(session.get(holder))).toBe(true)
    expect(() => session.snapshot()).toThrow(
      expect.objectContaining({
        code: 'snapshot-lossy',
        message: expect.stringMatching(
          /^Slice 'holder' holds something nested more than 1,000 levels deep at .{20,300}, which JSON cannot represent/,
        ) as string,
      }) as Error,
    )
  })

  it('R23 is rejected when restored, and changes nothing', () => {
    const session = createSession({ slices: [holder, held] })
    const before = session.snapshot()
    for (const name of ['holder', 'held']) {
      const state = name === 'held' ? [{ type: 'holder/held', payload: nest(200_000) }] : nest(200_000)
      const snapshot: Snapshot = { version: 1, slices: { [name]: { version: 1, state } } }
      expect(() => session.restore(snapshot)).toThrow(
        expect.objectContaining({
          code: 'snapshot-invalid',
          message: expect.stringContaining('levels deep') as string,
        }) as Error,
      )
    }
    expect(session.snapshot()).toEqual(before)
  })

  it('R23 may have a thousand levels', () => {
    const session = createSession({ slices: [holder, held] })
    session.dispatch(holder.events.held(nest(900)))
    const restored = createSession({ slices: [holder, held], snapshot: session.snapshot() })
    expect(JSON.stringify(restored.snapshot())).toBe(JSON.stringify(session.snapshot()))
    session.restore(restored.snapshot())
  })

  it('R25 is rejected by stores, as an event and as a snapshot', async () => {
    const store = createMemoryStore()
    const session = await openSession({ store, id: 'one', slices: [holder] })
    expect(() => session.dispatch(holder.events.held(nest(200_000)))).toThrow(
      expect.objectContaining({ code: 'event-lossy' }) as Error,
    )
    const snapshot: Snapshot = { version: 1, slices: { holder: { version: 1, state: nest(200_000) } } }
    await expect(store.save('two', snapshot, 0)).rejects.toMatchObject({ code: 'snapshot-lossy' })
  })

  it('R24 can be compared with the log of a snapshot', () => {
    const session = createSession({ slices: [held, holder] })
    session.dispatch(holder.events.held(nest(200_000)))
    const other = createSession({ slices: [held, holder] })
    for (let i = 0; i < 2; i++) other.dispatch(holder.events.held(1))
    session.restore(other.snapshot())
    expect(session.get(held).length).toBe(1)
  })
})
