import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { defineEvent, type Event } from './event.ts'
import { defineLog, Log } from './log.ts'
import { createSession } from './session.ts'
import { defineSlice } from './slice.ts'
import { startCpuClock } from '../core/cpu.fixtures.ts'

describe('Log', () => {
  it('R24 keeps appended entries in order, across chunks', () => {
    const entries = Array.from({ length: 5000 }, (_, i) => i)
    const log = Log.of(entries)
    expect(log.length).toBe(5000)
    expect([...log]).toEqual(entries)
    expect(log.toJSON()).toEqual(entries)
    for (const index of [0, 1023, 1024, 2047, 4999]) expect(log.at(index)).toBe(index)
    expect(log.at(-1)).toBe(4999)
    expect(log.at(-5000)).toBe(0)
    expect([log.at(5000), log.at(-5001), Log.of([]).at(0)]).toEqual([undefined, undefined, undefined])
  })

  it('R24 never changes: logs that continue the same log are independent, like copied arrays', () => {
    const operations = fc.array(fc.record({ from: fc.nat(), count: fc.constantFrom(1, 2, 1023, 1024) }), {
      minLength: 1,
      maxLength: 12,
    })
    fc.assert(
      fc.property(operations, (given) => {
        const all = [{ log: Log.of<number>([]), list: [] as readonly number[] }]
        let next = 0
        for (const { from, count } of given) {
          let { log, list } = all[from % all.length]!
          for (let i = 0; i < count; i++) {
            log = log.append(next)
            list = [...list, next++]
          }
          all.push({ log, list })
        }
        for (const { log, list } of all) {
          expect(log.length).toBe(list.length)
          expect([...log]).toEqual(list)
          expect(log.at(-1)).toBe(list.at(-1))
        }
      }),
      { numRuns: 30 },
    )
  })

  it('R24 knows which log it continues', () => {
    const log = Log.of([{ a: 1 }, { a: 2 }])
    expect(log.append({ a: 3 }).continues(log)).toBe(true)
    expect(Log.of([{ a: 1 }, { a: 2 }]).continues(log)).toBe(true)
    expect(Log.of([{ a: 1 }]).continues(log)).toBe(false)
    expect(Log.of([{ a: 1 }, { a: 9 }, { a: 3 }]).continues(log)).toBe(false)
    expect(log.continues(Log.of([]))).toBe(true)
  })

  it('R24 appends just as fast when it is long', () => {
    const getTime = (log: Log<number>): number => {
      let grown = log
      const getCpuMs = startCpuClock()
      for (let i = 0; i < 100_000; i++) grown = grown.append(i)
      return getCpuMs()
    }
    const takeFastest = (log: Log<number>): number => Math.min(...Array.from({ length: 5 }, () => getTime(log)))
    const short = Log.of<number>([])
    const long = Log.of(Array.from({ length: 1_000_000 }, (_, i) => i))
    takeFastest(short)
    // Copying the log for each entry would take about a thousand times as long.
    expect(takeFastest(long)).toBeLessThan(10 * takeFastest(short) + 20)
  })
})

describe('defineLog', () => {
  const invoked = defineEvent<{ readonly tool: string }>()('tool/invoked')
  const ended = defineEvent()('run/ended')
  const cart = defineSlice({ name: 'cart', initial: 0, reducers: { added: (state, n: number) => state + n } })
  const calls = defineLog({ name: 'calls', of: [invoked, ended, cart.events.added] })

  it('R24 keeps every event of its types and no other, typed', () => {
    const session = createSession({ slices: [calls, cart] })
    session.dispatch(invoked({ tool: 'a' }))
    session.dispatch(defineEvent()('run/begun')())
    session.dispatch(ended())
    session.dispatch(cart.events.added(2))
    expect([...session.get(calls)]).toStrictEqual([
      { type: 'tool/invoked', payload: { tool: 'a' } },
      { type: 'run/ended' },
      { type: 'cart/added', payload: 2 },
    ])
    type Entry = ReturnType<typeof calls.initial.toJSON>[number]
    expectTypeOf<Extract<Entry, { type: 'tool/invoked' }>>().toEqualTypeOf<
      Event<'tool/invoked', { readonly tool: string }>
    >()
    expectTypeOf<Entry['type']>().toEqualTypeOf<'tool/invoked' | 'run/ended' | 'cart/added'>()
  })

  it('R24 keeps immutable entries', () => {
    const session = createSession({ slices: [calls] })
    const payload = { tool: 'a' }
    session.dispatch(invoked(payload))
    expect(() => {
      payload.tool = 'b'
    }).toThrow(TypeError)
    expect(Object.isFrozen(session.get(calls).at(0))).toBe(true)
    const restored = createSession({ slices: [calls], snapshot: session.snapshot() })
    expect(Object.isFrozen(restored.get(calls).at(0)?.payload)).toBe(true)
  })

  it('R24 does not change a log that was read before', () => {
    const session = createSession({ slices: [calls] })
    session.dispatch(invoked({ tool: 'a' }))
    const before = session.get(calls)
    session.dispatch(invoked({ tool: 'b' }))
    expect(before.length).toBe(1)
    expect([...before]).toHaveLength(1)
  })
})
