import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineLog } from './log.ts'
import { createSession, DispatchError, type SessionTransaction } from './session.ts'
import { defineSlice } from './slice.ts'
import { visibility } from './visibility.ts'

const sum = defineSlice({
  name: 'sum',
  initial: 0,
  reducers: {
    added: (state, payload: number) => {
      if (payload === 13) throw new Error('unlucky')
      return state + payload
    },
    doubled: (state) => state * 2,
  },
})
const changes = defineLog({ name: 'changes', of: [sum.events.added, sum.events.doubled] })
const open = () => createSession({ slices: [sum, changes] })
const logged = (session: ReturnType<typeof open>): unknown[] =>
  [...session.get(changes)].map((entry) => entry.payload ?? 'doubled')

describe('a transaction', () => {
  it('R20 shows its changes inside at once, and outside after the commit', () => {
    const session = open()
    const transaction = session.begin()
    transaction.session.dispatch(sum.events.added(2))
    expect(transaction.session.get(sum)).toBe(2)
    expect(session.get(sum)).toBe(0)
    expect(logged(session)).toEqual([])
    transaction.commit()
    expect(session.get(sum)).toBe(2)
    expect(logged(session)).toEqual([2])
  })

  it('R20 R24 leaves nothing behind when it is abandoned, except log entries', () => {
    const session = open()
    session.dispatch(sum.events.added(1))
    const heard: string[] = []
    session.subscribe((event) => heard.push(event.type))
    const transaction = session.begin()
    transaction.session.dispatch(sum.events.added(2))
    transaction.session.dispatch(visibility.events.set({ path: 'a', visibility: 'full' }))
    transaction.abandon()
    expect(session.get(sum)).toBe(1)
    expect(session.get(visibility)).toEqual({})
    expect(logged(session)).toEqual([1, 2])
    expect(heard).toEqual([])
  })

  it('R20 runs alongside others: each commit applies to the state at that time', () => {
    const session = open()
    session.dispatch(sum.events.added(1))
    const [one, two, three] = [session.begin(), session.begin(), session.begin()]
    one.session.dispatch(sum.events.added(10))
    two.session.dispatch(sum.events.doubled())
    three.session.dispatch(sum.events.added(100))
    expect([one, two, three].map(({ session }) => session.get(sum))).toEqual([11, 2, 101])
    one.commit()
    three.abandon()
    two.commit()
    expect(session.get(sum)).toBe(22)
    expect(logged(session)).toEqual([1, 10, 100, 'doubled'])
  })

  it('R20 notifies outer listeners at the commit, in order, and its own at once', () => {
    const session = open()
    const outer: unknown[] = []
    const inner: unknown[] = []
    session.subscribe((event) => outer.push(event.payload))
    const transaction = session.begin()
    transaction.session.subscribe((event) => inner.push(event.payload))
    transaction.session.dispatch(sum.events.added(1))
    transaction.session.dispatch(sum.events.added(2))
    expect([outer, inner]).toEqual([[], [1, 2]])
    transaction.commit()
    expect([outer, inner]).toEqual([
      [1, 2],
      [1, 2],
    ])
  })

  it('R20 nests: the outer transaction decides whether an inner commit is kept', () => {
    const session = open()
    const outer = session.begin()
    const kept = outer.session.begin()
    kept.session.dispatch(sum.events.added(1))
    kept.commit()
    const dropped = outer.session.begin()
    dropped.session.dispatch(sum.events.added(10))
    dropped.abandon()
    expect(outer.session.get(sum)).toBe(1)
    expect(session.get(sum)).toBe(0)
    outer.commit()
    expect(session.get(sum)).toBe(1)
    expect(logged(session)).toEqual([1, 10])
  })

  it('R21 reports all failures of a commit, after everything has run', () => {
    const session = open()
    const transaction = session.begin()
    expect(() => transaction.session.dispatch(sum.events.added(13))).toThrow(DispatchError)
    transaction.session.dispatch(sum.events.added(2))
    session.subscribe((event) => {
      if (event.payload === 2) throw new Error('not two')
    })
    expect(() => transaction.commit()).toThrow(
      expect.objectContaining({
        failures: [
          { event: sum.events.added(13), slice: 'sum', error: new Error('unlucky') },
          { event: sum.events.added(2), slice: undefined, error: new Error('not two') },
        ],
      }),
    )
    expect(session.get(sum)).toBe(2)
    expect(logged(session)).toEqual([13, 2])
  })

  it.each(['commit', 'abandon'] as const)('R20 can be ended once (%s) and then accepts no more events', (end) => {
    const session = open()
    const transaction = session.begin()
    transaction.session.dispatch(sum.events.added(1))
    const child = transaction.session.begin()
    child.session.dispatch(sum.events.added(5))
    transaction[end]()
    const was = end === 'commit' ? 'committed' : 'abandoned'
    expect(() => transaction.commit()).toThrow(`This transaction was already ${was}; it cannot be committed now.`)
    expect(() => transaction.abandon()).toThrow(expect.objectContaining({ code: 'transaction-ended' }))
    expect(() => transaction.session.dispatch(sum.events.added(1))).toThrow(
      `This transaction was already ${was}; it cannot take the event 'sum/added' now. Dispatch to the outer session.`,
    )
    expect(() => child.commit()).toThrow(expect.objectContaining({ code: 'transaction-ended' }))
    expect(session.get(sum)).toBe(end === 'commit' ? 1 : 0)
    expect(logged(session)).toEqual([1])
  })

  it('R20 rejects a restore inside and stays unchanged', () => {
    const session = open()
    const before = session.snapshot()
    const transaction = session.begin()
    transaction.session.dispatch(sum.events.added(1))
    expect(() => transaction.session.restore(before)).toThrow(expect.objectContaining({ code: 'transaction-restore' }))
    expect(transaction.session.get(sum)).toBe(1)
    transaction.commit()
    expect(session.get(sum)).toBe(1)
  })

  it('R24 continues after the outer session was restored', () => {
    const session = open()
    const before = session.snapshot()
    session.dispatch(sum.events.added(5))
    const transaction = session.begin()
    transaction.session.dispatch(sum.events.added(1))
    session.restore(before)
    transaction.commit()
    expect(session.get(sum)).toBe(1)
    expect(logged(session)).toEqual([5, 1])
  })

  it('R20 R24 ends as if only the committed events had been dispatched, in the order of the commits', () => {
    const operations = fc.array(
      fc.record({
        transaction: fc.nat(3),
        kind: fc.constantFrom('add', 'add', 'double', 'commit', 'abandon'),
        amount: fc.integer({ min: 1, max: 9 }),
      }),
      { maxLength: 40 },
    )
    fc.assert(
      fc.property(operations, (given) => {
        const session = open()
        let expected = 0
        const ended: unknown[] = []
        const running = new Map<number, { transaction: SessionTransaction; payloads: (number | 'doubled')[] }>()
        for (const { transaction: id, kind, amount } of given) {
          const current = running.get(id) ?? { transaction: session.begin(), payloads: [] }
          running.set(id, current)
          if (kind === 'add' || kind === 'double') {
            current.transaction.session.dispatch(kind === 'add' ? sum.events.added(amount) : sum.events.doubled())
            current.payloads.push(kind === 'add' ? amount : 'doubled')
            continue
          }
          current.transaction[kind]()
          running.delete(id)
          ended.push(...current.payloads)
          if (kind === 'abandon') continue
          for (const payload of current.payloads) expected = payload === 'doubled' ? expected * 2 : expected + payload
        }
        expect(session.get(sum)).toBe(expected)
        expect(logged(session)).toEqual(ended)
      }),
    )
  })
})
