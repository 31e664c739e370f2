import { describe, expect, expectTypeOf, it } from 'vitest'
import { defineEvent, type Event } from './event.ts'
import { createSession } from './session.ts'
import { defineSlice, type Reducer } from './slice.ts'

interface Item {
  readonly sku: string
  readonly count: number
}
const cart = defineSlice({
  name: 'cart',
  initial: [] as readonly Item[],
  reducers: {
    added: (state, payload: Item) => [...state, payload],
    trimmed: (state, payload?: number) => state.slice(0, payload ?? 1),
    emptied: () => [],
  },
})

describe('defineSlice', () => {
  it('R21 derives typed events from reducers', () => {
    expect(cart.events.added({ sku: 'a', count: 1 })).toEqual({
      type: 'cart/added',
      payload: { sku: 'a', count: 1 },
    })
    expect(cart.events.emptied()).toEqual({ type: 'cart/emptied', payload: undefined })
    expect(cart.events.added.type).toBe('cart/added')

    expectTypeOf(cart.events.added).parameters.toEqualTypeOf<[payload: Item]>()
    expectTypeOf(cart.events.added).returns.toEqualTypeOf<Event<'cart/added', Item>>()
    expectTypeOf(cart.events.emptied).parameters.toEqualTypeOf<[]>()
    expectTypeOf(cart.events.trimmed).parameters.toEqualTypeOf<[payload?: number | undefined]>()
    expectTypeOf<keyof typeof cart.events>().toEqualTypeOf<'added' | 'trimmed' | 'emptied'>()
    // @ts-expect-error -- the payload has a type
    cart.events.added({ sku: 'a' })
    // @ts-expect-error -- this reducer takes no payload
    cart.events.emptied(1)
    // @ts-expect-error -- there is no such reducer
    expect(cart.events.removed).toBeUndefined()
  })

  it('R21 types the state that a session returns', () => {
    const session = createSession({ slices: [cart] })
    expectTypeOf(session.get(cart)).toEqualTypeOf<readonly Item[]>()
    expect(session.get(cart)).toEqual([])
  })

  it('R21 reacts to events of other slices and of none, with their payload types', () => {
    const invoked = defineEvent<{ readonly tool: string }>()('tool/invoked')
    const ended = defineEvent()('run/ended')
    const activity = defineSlice({
      name: 'activity',
      initial: '',
      reducers: { noted: (state, payload: string) => state + payload },
      reactions: (on) => [
        on(invoked, (state, payload) => {
          expectTypeOf(payload).toEqualTypeOf<{ readonly tool: string }>()
          return `${state}[${payload.tool}]`
        }),
        on(cart.events.added, (state, { sku }) => `${state}+${sku}`),
        on(ended, (state) => `${state}.`),
      ],
    })
    const session = createSession({ slices: [activity, cart] })
    session.dispatch(invoked({ tool: 'buy' }))
    session.dispatch(cart.events.added({ sku: 'a', count: 2 }))
    session.dispatch(activity.events.noted('!'))
    session.dispatch(ended())
    expect(session.get(activity)).toBe('[buy]+a!.')
    expect(session.get(cart)).toEqual([{ sku: 'a', count: 2 }])
  })

  it('R21 rejects a slice that handles an event twice', () => {
    const define = () =>
      defineSlice({
        name: 'twice',
        initial: 0,
        reducers: {},
        reactions: (on) => [on(cart.events.emptied, () => 0), on(cart.events.emptied, () => 1)],
      })
    expect(define).toThrow(
      expect.objectContaining({
        code: 'slice-invalid',
        message: "Slice 'twice' handles the event 'cart/emptied' twice. Merge the two reducers.",
      }),
    )
  })

  it.each(['', 'a/b', '1st', 'a b', '__proto__'])('R21 rejects the name %j', (name) => {
    expect(() => defineSlice({ name, initial: 0, reducers: {} })).toThrow(
      expect.objectContaining({ code: 'slice-invalid' }),
    )
  })

  it('R21 is frozen, including its initial state, which all sessions share', () => {
    const list = defineSlice({ name: 'list', initial: { items: [{ done: false }] }, reducers: {} })
    expect(Object.isFrozen(list)).toBe(true)
    expect(Object.isFrozen(list.events)).toBe(true)
    expect(Object.isFrozen(cart.events.added)).toBe(true)
    const first = createSession({ slices: [list] })
    expect(() => {
      first.get(list).items[0]!.done = true
    }).toThrow(TypeError)
    expect(createSession({ slices: [list] }).get(list)).toEqual({ items: [{ done: false }] })
  })

  it('R21 seeds a copy and leaves the slice unchanged', () => {
    const seeded = cart.seed([{ sku: 'a', count: 1 }])
    const session = createSession({ slices: [seeded] })
    session.dispatch(cart.events.added({ sku: 'b', count: 1 }))
    expect(session.get(cart).map((item) => item.sku)).toEqual(['a', 'b'])
    expect(createSession({ slices: [cart] }).get(cart)).toEqual([])
    expectTypeOf(seeded).toEqualTypeOf<typeof cart>()
  })

  it('R21 checks that reducers return the state', () => {
    // @ts-expect-error -- a number is not a list of items
    const wrong: Reducer<readonly Item[]> = () => 1
    expect(wrong).toBeTypeOf('function')
  })
})

describe('defineEvent', () => {
  it('R21 creates events that do not belong to a slice', () => {
    const invoked = defineEvent<{ readonly tool: string }>()('tool/invoked')
    const ended = defineEvent()('run/ended')
    expect(invoked({ tool: 'buy' })).toEqual({ type: 'tool/invoked', payload: { tool: 'buy' } })
    expect(ended().type).toBe('run/ended')
    expectTypeOf(invoked).parameters.toEqualTypeOf<[payload: { readonly tool: string }]>()
    expectTypeOf(invoked).returns.toEqualTypeOf<Event<'tool/invoked', { readonly tool: string }>>()
    expectTypeOf(ended).parameters.toEqualTypeOf<[]>()
  })

  it('R21 is accepted by a session without a slice that handles it', () => {
    const session = createSession()
    const before = session.snapshot()
    session.dispatch(defineEvent()('run/ended')())
    expect(session.snapshot()).toEqual(before)
  })
})
