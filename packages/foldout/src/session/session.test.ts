import { describe, expect, it, vi } from 'vitest'
import { FoldoutError } from '../core/errors.ts'
import { defineEvent, type Event } from './event.ts'
import { defineLog } from './log.ts'
import { createSession, DispatchError, type Listener, type Session } from './session.ts'
import { defineSlice } from './slice.ts'
import { visibility } from './visibility.ts'
import { takeTurns } from '../../../../test/turns.ts'

const pinged = defineEvent<number>()('test/pinged')
const ponged = defineEvent<number>()('test/ponged')
const sum = defineSlice({
  name: 'sum',
  initial: 0,
  reducers: { added: (state, payload: number) => state + payload },
  reactions: (on) => [on(pinged, (state, n) => state + n)],
})
const fragile = defineSlice({
  name: 'fragile',
  initial: { pings: 0 },
  reducers: {},
  reactions: (on) => [
    on(pinged, (state, n) => {
      if (n < 0) throw new RangeError(`${n} is negative`)
      return { pings: state.pings + 1 }
    }),
  ],
})
const pings = defineLog({ name: 'pings', of: [pinged, ponged] })
const all = [fragile, sum, pings]

const typesHeard = (session: Session): string[] => {
  const heard: string[] = []
  session.subscribe((event) => heard.push(`${event.type} ${String(event.payload)}`))
  return heard
}
function thrownBy(job: () => void): DispatchError {
  try {
    job()
  } catch (error) {
    if (error instanceof DispatchError) return error
    throw error
  }
  throw new Error('Nothing was thrown.')
}

describe('dispatch', () => {
  it('R21 passes an event to every slice that handles it, and records it once', () => {
    const session = createSession({ slices: all })
    session.dispatch(pinged(2))
    session.dispatch(sum.events.added(3))
    expect(session.get(sum)).toBe(5)
    expect(session.get(fragile)).toEqual({ pings: 1 })
    expect([...session.get(pings)]).toEqual([{ type: 'test/pinged', payload: 2 }])
  })

  it('R21 keeps the identical state of a slice that does not handle the event', () => {
    const session = createSession({ slices: all })
    const before = session.get(fragile)
    session.dispatch(sum.events.added(1))
    expect(session.get(fragile)).toBe(before)
  })

  it('R21 keeps the state of a slice whose reducer throws, runs the others and reports it', () => {
    const session = createSession({ slices: all })
    const before = session.get(fragile)
    const event = pinged(-1)
    const error = thrownBy(() => session.dispatch(event))
    expect(error).toBeInstanceOf(FoldoutError)
    expect(error).toMatchObject({
      code: 'dispatch-failed',
      message:
        "While dispatching, slice 'fragile' failed on the event 'test/pinged': -1 is negative. All other slices and listeners have run.",
    })
    expect(error.event).toBe(event)
    expect(error.failures).toEqual([{ event, slice: 'fragile', error: new RangeError('-1 is negative') }])
    expect(error.cause).toBe(error.failures[0]?.error)
    expect(session.get(fragile)).toBe(before)
    expect(session.get(sum)).toBe(-1)
    expect(session.get(pings).length).toBe(1)
    session.dispatch(pinged(1))
    expect(session.get(fragile)).toEqual({ pings: 1 })
  })

  it('R21 reports every slice that failed', () => {
    const also = defineSlice({
      name: 'also',
      initial: 0,
      reducers: {},
      reactions: (on) => [
        on(pinged, () => {
          // oxlint-disable-next-line no-throw-literal -- anything can be thrown
          throw 'a text'
        }),
      ],
    })
    const error = thrownBy(() => createSession({ slices: [also, ...all] }).dispatch(pinged(-2)))
    expect(error.failures.map(({ slice }) => slice)).toEqual(['also', 'fragile'])
    expect(error.message).toContain("slice 'also' failed on the event 'test/pinged': a text; slice 'fragile' failed")
  })

  it('R21 stops a reducer from changing the old state in place: the reducer fails and the state stays', () => {
    const sloppy = defineSlice({
      name: 'sloppy',
      initial: { list: [{ n: 1 }] },
      reducers: {
        pushed: (state, payload: { n: number }) => {
          state.list.push(payload)
          return state
        },
        replaced: (_state, payload: { n: number }) => ({ list: [payload] }),
        grown: (state, payload: { n: number }) => ({ list: [...state.list, payload] }),
        changed: (state) => {
          state.list[0]!.n = 99
          return state
        },
      },
    })
    const session = createSession({ slices: [sloppy] })
    expect(() => session.dispatch(sloppy.events.pushed({ n: 2 }))).toThrow(DispatchError)
    expect(session.get(sloppy)).toEqual({ list: [{ n: 1 }] })
    session.dispatch(sloppy.events.replaced({ n: 3 }))
    session.dispatch(sloppy.events.grown({ n: 4 }))
    expect(() => session.dispatch(sloppy.events.changed())).toThrow(DispatchError)
    expect(() => session.get(sloppy).list.pop()).toThrow(TypeError)
    expect(session.get(sloppy)).toEqual({ list: [{ n: 3 }, { n: 4 }] })
  })

  it('R21 does not freeze objects that only look like plain data', () => {
    const odd = defineSlice({
      name: 'odd',
      initial: { bytes: new Uint8Array(2), seen: new Map<string, number>() },
      reducers: { filled: (_state, bytes: Uint8Array<ArrayBuffer>) => ({ bytes, seen: new Map([['a', 1]]) }) },
    })
    const session = createSession({ slices: [odd] })
    session.dispatch(odd.events.filled(new Uint8Array([1, 2])))
    expect(session.get(odd).bytes).toEqual(new Uint8Array([1, 2]))
    expect(session.get(odd).seen.get('a')).toBe(1)
  })

  it('R21 accepts a state that contains itself', () => {
    interface Ring {
      next?: Ring
    }
    const NO_RING: Ring = {}
    const ring = defineSlice({
      name: 'ring',
      initial: NO_RING,
      reducers: { closed: (_state, next: Ring) => ({ next }) },
    })
    const session = createSession({ slices: [ring] })
    const circle: Ring = {}
    circle.next = circle
    session.dispatch(ring.events.closed(circle))
    expect(session.get(ring).next?.next).toBe(circle)
  })
})

describe('dispatch inside a reducer', () => {
  /** A slice whose reducer does something forbidden, once. */
  function meddling(meddle: () => void, swallows = false) {
    return defineSlice({
      name: 'meddling',
      initial: 0,
      reducers: {
        meddled: (state) => {
          try {
            meddle()
          } catch (error) {
            if (!swallows) throw error
          }
          return state + 1
        },
      },
    })
  }

  it('R21 is rejected and reported, and the session keeps working', () => {
    const slice = meddling(() => session.dispatch(pinged(1)))
    const session = createSession({ slices: [slice, ...all] })
    const error = thrownBy(() => session.dispatch(slice.events.meddled()))
    expect(error.cause).toMatchObject({
      code: 'dispatch-in-reducer',
      message:
        "A reducer dispatched 'test/pinged'. Reducers only compute state: dispatch from a listener, or let a slice react to the event.",
    })
    expect(session.get(slice)).toBe(0)
    expect(session.get(sum)).toBe(0)
    expect(session.get(pings).length).toBe(0)
    session.dispatch(pinged(1))
    expect(session.get(sum)).toBe(1)
  })

  it('R21 is rejected even if the reducer hides it, and the session keeps working', () => {
    const slice = meddling(() => session.dispatch(pinged(1)), true)
    const session = createSession({ slices: [slice, ...all] })
    session.dispatch(slice.events.meddled())
    expect(session.get(slice)).toBe(1)
    expect(session.get(sum)).toBe(0)
    session.dispatch(pinged(1))
    expect(session.get(sum)).toBe(1)
  })

  it('R21 is rejected from a transaction to its outer session and back, and for restores and commits', () => {
    const attempts: Record<string, () => void> = {
      'dispatch outside': () => session.dispatch(pinged(1)),
      'dispatch inside': () => other.session.dispatch(pinged(1)),
      restore: () => session.restore(session.snapshot()),
      commit: () => other.commit(),
      abandon: () => other.abandon(),
    }
    let attempt = (): void => undefined
    const slice = meddling(() => attempt())
    const session = createSession({ slices: [slice, ...all] })
    const other = session.begin()
    const transaction = session.begin()
    for (const meddle of Object.values(attempts)) {
      attempt = meddle
      const error = thrownBy(() => transaction.session.dispatch(slice.events.meddled()))
      expect(error.cause).toMatchObject({ code: 'dispatch-in-reducer' })
    }
    attempt = () => undefined
    other.session.dispatch(pinged(1))
    other.commit()
    expect(session.get(sum)).toBe(1)
  })

  it('R21 an event that cannot be read does not leave the session stuck', () => {
    const session = createSession({ slices: all })
    const unreadable: Event = {
      type: pinged.type,
      get payload() {
        throw new Error('no payload')
      },
    }
    expect(() => session.dispatch(unreadable)).toThrow(DispatchError)
    expect(() => session.dispatch(undefined as unknown as Event)).toThrow(TypeError)
    session.dispatch(pinged(1))
    expect(session.get(sum)).toBe(1)
  })
})

describe('subscribe', () => {
  it('R21 calls listeners after the event, in order, until they unsubscribe', () => {
    const session = createSession({ slices: all })
    const seen: string[] = []
    session.subscribe((event) => seen.push(`first ${event.type} ${session.get(sum)}`))
    const leave = session.subscribe((event) => seen.push(`second ${event.type}`))
    session.dispatch(pinged(1))
    leave()
    leave()
    session.dispatch(sum.events.added(1))
    expect(seen).toEqual(['first test/pinged 1', 'second test/pinged', 'first sum/added 2'])
  })

  it('R21 receives events that no slice handles', () => {
    const session = createSession()
    const heard = typesHeard(session)
    session.dispatch(pinged(1))
    expect(heard).toEqual(['test/pinged 1'])
  })

  it('R21 isolates listeners that throw: the others run, the state stays, and the caller gets the error', () => {
    const session = createSession({ slices: all })
    const boom = new Error('boom')
    session.subscribe(() => {
      throw boom
    })
    const heard = typesHeard(session)
    const event = pinged(-1)
    const error = thrownBy(() => session.dispatch(event))
    expect(error.failures).toEqual([
      { event, slice: 'fragile', error: new RangeError('-1 is negative') },
      { event, slice: undefined, error: boom },
    ])
    expect(error.message).toContain("; a listener failed on the event 'test/pinged': boom.")
    expect(heard).toEqual(['test/pinged -1'])
    expect(session.get(sum)).toBe(-1)
    expect(session.get(pings).length).toBe(1)
  })

  it('R21 delivers events of listeners in dispatch order, each once', () => {
    const session = createSession({ slices: all })
    session.subscribe((event) => {
      if (event.type !== pinged.type) return
      session.dispatch(ponged(1))
      session.dispatch(ponged(2))
    })
    const heard = typesHeard(session)
    session.dispatch(pinged(0))
    expect(heard).toEqual(['test/pinged 0', 'test/ponged 1', 'test/ponged 2'])
    expect([...session.get(pings)].map((entry) => entry.payload)).toEqual([0, 1, 2])
  })

  it('R21 shows a listener the state after its own event', () => {
    const session = createSession({ slices: all })
    let after: number | undefined
    session.subscribe((event) => {
      if (event.type !== pinged.type) return
      session.dispatch(sum.events.added(10))
      after = session.get(sum)
    })
    session.dispatch(pinged(1))
    expect(after).toBe(11)
  })

  it('R21 reports failures on events that listeners dispatched to the first caller', () => {
    const session = createSession({ slices: all })
    session.subscribe((event) => {
      if (event.type === pinged.type) session.dispatch(ponged(1))
    })
    session.subscribe((event) => {
      if (event.type === ponged.type) throw new Error('no pong')
    })
    const error = thrownBy(() => session.dispatch(pinged(1)))
    expect(error.failures).toEqual([{ event: ponged(1), slice: undefined, error: new Error('no pong') }])
    expect(error.message).toContain("a listener failed on the event 'test/ponged': no pong")
  })

  it('R21 reports a failed reducer to the listener that dispatched the event', () => {
    const session = createSession({ slices: all })
    let told: unknown
    session.subscribe((event) => {
      if (event.type !== ponged.type) return
      try {
        session.dispatch(pinged(-1))
      } catch (error) {
        told = error
      }
    })
    session.dispatch(ponged(1))
    expect(told).toMatchObject({ failures: [{ slice: 'fragile' }] })
  })

  it('R21 lets listeners subscribe and unsubscribe during delivery', () => {
    const session = createSession({ slices: all })
    const late = vi.fn<Listener>()
    const second = vi.fn<Listener>()
    session.subscribe(() => {
      leaveSecond()
      session.subscribe(late)
    })
    const leaveSecond = session.subscribe(second)
    session.dispatch(pinged(1))
    expect(second).not.toHaveBeenCalled()
    expect(late).not.toHaveBeenCalled()
    session.dispatch(pinged(2))
    expect(late).toHaveBeenCalledTimes(1)
  })

  it('R21 keeps two subscriptions of one listener apart', () => {
    const session = createSession()
    const listener = vi.fn<Listener>()
    const leave = session.subscribe(listener)
    session.subscribe(listener)
    leave()
    session.dispatch(pinged(1))
    expect(listener).toHaveBeenCalledTimes(1)
  })
})

describe('createSession', () => {
  it('R21 rejects two slices with the same name', () => {
    const twin = defineSlice({ name: 'sum', initial: '', reducers: {} })
    expect(() => createSession({ slices: [sum, twin] })).toThrow(
      expect.objectContaining({
        code: 'session-invalid',
        message: "Two slices are named 'sum'. Slice names must be unique in a session; rename one of them.",
      }),
    )
  })

  it('R22 rejects another slice in place of visibility', () => {
    const impostor = defineSlice({ name: 'visibility', initial: 0, reducers: {} })
    expect(() => createSession({ slices: [impostor] })).toThrow(expect.objectContaining({ code: 'session-invalid' }))
    expect(() => createSession({ slices: [visibility] })).not.toThrow()
  })

  it('R21 names the slice that it does not have', () => {
    expect(() => createSession().get(sum)).toThrow(
      expect.objectContaining({
        code: 'slice-unknown',
        message: "This session has no slice 'sum'. Create it with createSession({ slices: [sum] }).",
      }),
    )
  })

  it('R21 keeps sessions independent', () => {
    const [one, two] = [createSession({ slices: all }), createSession({ slices: all })]
    one.dispatch(pinged(1))
    expect(two.get(sum)).toBe(0)
    expect(two.get(pings).length).toBe(0)
  })
})

describe('an event of a slice that the session does not have', () => {
  const cart = defineSlice({ name: 'cart', initial: 0, reducers: { added: (state) => state + 1 } })

  it('R21 is rejected, naming the slice, and reaches no listener', () => {
    const session = createSession({ slices: all })
    const heard = typesHeard(session)
    const refusal = expect.objectContaining({
      code: 'slice-unknown',
      message:
        "This session has no slice 'cart', so the event 'cart/added' would be lost. Create it with createSession({ slices: [cart] }).",
    }) as Error
    expect(() => session.dispatch(cart.events.added())).toThrow(refusal)
    expect(() => session.dispatch({ type: 'cart/added', payload: undefined })).toThrow(refusal)
    const transaction = session.begin()
    expect(() => transaction.session.dispatch(cart.events.added())).toThrow(refusal)
    transaction.commit()
    expect(heard).toEqual([])
  })

  it('R21 is accepted if a log or another slice handles it', () => {
    const log = defineLog({ name: 'cart-log', of: [cart.events.added] })
    const session = createSession({ slices: [log] })
    session.dispatch(cart.events.added())
    expect(session.get(log).length).toBe(1)
  })

  it('R21 differs from an event without a slice, which listeners receive', () => {
    const session = createSession()
    const heard = typesHeard(session)
    session.dispatch(defineEvent<number>()('cart/viewed')(1))
    session.dispatch(pinged(2))
    expect(heard).toEqual(['cart/viewed 1', 'test/pinged 2'])
  })
})

describe('a reducer or listener that is async', () => {
  const later = defineSlice({
    name: 'later',
    initial: { n: 1 },
    reducers: {
      failing: () => Promise.reject(new Error('late')) as never,
      // oxlint-disable-next-line unicorn/no-thenable -- the test is about thenables
      thenable: () => ({ then: (_: unknown, no: () => void) => no() }) as never,
    },
  })
  const settle = (): Promise<void> => takeTurns(5)

  it('R21 does not turn a promise into state', async () => {
    const session = createSession({ slices: [later] })
    for (const event of [later.events.failing(), later.events.thenable()]) {
      const { failures } = thrownBy(() => session.dispatch(event))
      expect(failures).toMatchObject([
        { slice: 'later', error: { message: expect.stringContaining('its reducer returned a promise') as string } },
      ])
    }
    expect(session.get(later)).toEqual({ n: 1 })
    await settle()
  })

  it('R21 turns the rejection of a listener into a warning and does not crash the process', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const session = createSession({ slices: all })
    session.subscribe(() => {
      return Promise.reject(new Error('late')) as never
    })
    session.dispatch(pinged(1))
    await settle()
    process.off('warning', onWarning)
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining("a listener failed on the event 'test/pinged': late"),
    ])
  })
})
