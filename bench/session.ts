import { createSession, defineSlice, type Session } from 'foldout'
import { defineEvent, defineLog, type AnySlice } from 'foldout/session'
import { collectGarbage, measure, median, QUICK, THOROUGH, type Contender } from './measure.ts'
import { goal, progress, type Bench, type BenchOptions, type Row } from './report.ts'

const worked = defineEvent<{ readonly amount: number }>()('work/done')

const ONE_REDUCER = 'dispatch, 1 slice answers'

export const sessionBench: Bench = {
  name: 'session',
  question: 'How many events per second, and does a log stay fast as it grows?',
  columns: [
    { key: 'what', label: 'what' },
    { key: 'entries', label: 'entries' },
    { key: 'nanoseconds', label: 'ns per operation' },
    { key: 'perSecond', label: 'per second' },
  ],
  async run(options) {
    progress('Dispatching ...')
    const dispatching = await measure(dispatchContenders(), options.quick ? QUICK : THOROUGH)
    const logs = appendTimes(options)
    const copies = copyTimes(options)
    progress('Snapshots and transactions ...')
    const whole = await measure(wholeSessionContenders(), options.quick ? QUICK : THOROUGH)
    return {
      rows: [
        ...[...dispatching].map(([what, nanoseconds]) => row(what, nanoseconds)),
        ...[...logs].map(([entries, nanoseconds]) => row('append to a log, last 10 %', nanoseconds, { entries })),
        ...[...copies].map(([entries, nanoseconds]) =>
          row('append in a hand-written store that copies its list', nanoseconds, { entries }),
        ),
        ...[...whole].map(([what, nanoseconds]) => row(what, nanoseconds)),
      ],
      goals: [
        goal('events a second through one reducer', 1e9 / dispatching.get(ONE_REDUCER)!, '>=', 1_000_000),
        goal('append at 1,000,000 entries / at 1,000', logs.get(1_000_000)! / logs.get(1_000)!, '<=', 1.5),
      ],
    }
  },
}

function row(what: string, nanoseconds: number, more: Row = {}): Row {
  return { what, entries: null, nanoseconds, perSecond: 1e9 / nanoseconds, ...more }
}

function counter(name: string) {
  return defineSlice({
    name,
    initial: { count: 0 },
    reducers: { reset: () => ({ count: 0 }) },
    reactions: (on) => [on(worked, (state, { amount }) => ({ count: state.count + amount }))],
  })
}

function idle(name: string) {
  return defineSlice({ name, initial: { count: 0 }, reducers: { reset: () => ({ count: 0 }) } })
}

function many(count: number, make: (name: string) => AnySlice): AnySlice[] {
  return Array.from({ length: count }, (_, i) => make(`slice-${i}`))
}

const EVENTS_PER_RUN = 100

function dispatching(name: string, session: Session): Contender {
  return {
    name,
    operations: EVENTS_PER_RUN,
    run() {
      for (let amount = 0; amount < EVENTS_PER_RUN; amount++) session.dispatch(worked({ amount }))
    },
  }
}

function dispatchContenders(): Contender[] {
  const heard = { amount: 0 }
  const listening = createSession({ slices: [counter('counter')] })
  listening.subscribe(() => {
    heard.amount++
  })
  return [
    dispatching(ONE_REDUCER, createSession({ slices: [counter('counter')] })),
    dispatching('dispatch, 10 slices answer', createSession({ slices: many(10, counter) })),
    dispatching('dispatch, 50 slices answer', createSession({ slices: many(50, counter) })),
    dispatching('dispatch, 1 of 50 slices answers', createSession({ slices: [counter('counter'), ...many(49, idle)] })),
    dispatching('dispatch, 1 slice answers, 1 listener', listening),
  ]
}

const LOG_SIZES = [1_000, 100_000, 1_000_000] as const
const TAIL = 0.1

const history = defineLog({ name: 'history', of: [worked] })

/**
 * Nanoseconds per append over the last tenth, by size. In each round, every size makes as many entries as the largest, in
 * as many sessions as that takes, and keeps them all, so that the garbage collector has the same work for each.
 */
function appendTimes({ quick }: BenchOptions): ReadonlyMap<number, number> {
  const total = LOG_SIZES.at(-1)!
  const samples = new Map<number, number[]>(LOG_SIZES.map((size) => [size, []]))
  for (let round = -1; round < (quick ? 1 : 9); round++) {
    progress(round < 0 ? 'Appending, to warm up ...' : `Appending, round ${round + 1} ...`)
    for (const size of LOG_SIZES) {
      collectGarbage('major')
      const kept: Session[] = []
      let nanoseconds = 0
      for (let made = 0; made < total; made += size) {
        const session = createSession({ slices: [history] })
        append(session, size * (1 - TAIL))
        nanoseconds += timed(() => append(session, size * TAIL))
        kept.push(session)
      }
      if (kept.some((session) => session.get(history).length !== size)) throw new Error('A log has lost entries.')
      if (round >= 0) samples.get(size)!.push(nanoseconds / (total * TAIL))
    }
  }
  return medians(samples)
}

function append(session: Session, count: number): void {
  for (let amount = 0; amount < count; amount++) session.dispatch(worked({ amount }))
}

// Copying the largest list takes milliseconds, so measuring a tenth of it would take half an hour.
const COPIES: Readonly<Record<(typeof LOG_SIZES)[number], number>> = { 1_000: 100, 100_000: 20, 1_000_000: 5 }

type WorkEvent = ReturnType<typeof worked>

/** A hand-written store, whose reducer copies the list. */
function copyingStore(initial: readonly WorkEvent[]) {
  const reducer = (list: readonly WorkEvent[], event: WorkEvent): readonly WorkEvent[] => [...list, event]
  let state = initial
  return {
    get state() {
      return state
    },
    dispatch(event: WorkEvent): void {
      state = reducer(state, event)
    },
  }
}

function copyTimes({ quick }: BenchOptions): ReadonlyMap<number, number> {
  progress('Appending by copying ...')
  const samples = new Map<number, number[]>(LOG_SIZES.map((size) => [size, []]))
  for (let round = -1; round < (quick ? 1 : 5); round++) {
    for (const size of LOG_SIZES) {
      const appends = COPIES[size]
      const store = copyingStore(Array.from({ length: size - appends }, (_, amount) => worked({ amount })))
      collectGarbage('major')
      const nanoseconds = timed(() => {
        for (let amount = 0; amount < appends; amount++) store.dispatch(worked({ amount }))
      })
      if (store.state.length !== size) throw new Error('The list has lost entries.')
      if (round >= 0) samples.get(size)!.push(nanoseconds / appends)
    }
  }
  return medians(samples)
}

function timed(work: () => void): number {
  const start = process.hrtime.bigint()
  work()
  return Number(process.hrtime.bigint() - start)
}

function medians(samples: ReadonlyMap<number, readonly number[]>): ReadonlyMap<number, number> {
  return new Map([...samples].map(([size, values]) => [size, median(values)]))
}

function wholeSessionContenders(): Contender[] {
  const slices = [counter('counter'), history]
  const full = createSession({ slices })
  append(full, 10_000)
  const transacting = createSession({ slices: [counter('counter')] })
  return [
    {
      name: 'snapshot and restore, a log of 10,000 entries',
      run: () => createSession({ slices, snapshot: full.snapshot() }),
    },
    {
      name: 'transaction: begin, 1 dispatch, commit',
      run() {
        const transaction = transacting.begin()
        transaction.session.dispatch(worked({ amount: 1 }))
        transaction.commit()
      },
    },
  ]
}
