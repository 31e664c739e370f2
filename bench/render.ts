import { measure, QUICK, THOROUGH } from './measure.ts'
import { COLD, COLD_JOIN, coldContenders, DESCRIPTOR, timeDescriptor } from './render-cold.ts'
import {
  AFTER_OPENING,
  AFTER_OPENING_READ,
  BARE_JOIN,
  FROM_NOTHING,
  FROM_NOTHING_READ,
  HANDLEBARS,
  ONE_COPY,
  PROMPT_TSX,
  renderContenders,
} from './render-contenders.ts'
import { goal, progress, type Bench, type Goal, type Row } from './report.ts'

const SIZES = [10, 100, 1_000, 10_000] as const
const CONTENDERS = [
  FROM_NOTHING,
  FROM_NOTHING_READ,
  AFTER_OPENING,
  AFTER_OPENING_READ,
  BARE_JOIN,
  ONE_COPY,
  HANDLEBARS,
  PROMPT_TSX,
] as const

type Times = ReadonlyMap<number, ReadonlyMap<string, number>>

export const renderBench: Bench = {
  name: 'render',
  question: 'What does a render cost, from nothing and after opening one section?',
  columns: [
    { key: 'sections', label: 'sections' },
    { key: 'contender', label: 'contender' },
    { key: 'microseconds', label: 'µs per render' },
    { key: 'nanosecondsPerSection', label: 'ns per section' },
    { key: 'timesBareJoin', label: '× bare join' },
    { key: 'growthFrom100', label: 'growth from 100' },
  ],
  async run({ quick }) {
    const times = new Map<number, ReadonlyMap<string, number>>()
    for (const size of SIZES) {
      progress(`${size.toLocaleString('en')} sections ...`)
      const contenders = await renderContenders(size)
      times.set(size, await measure(contenders, quick ? QUICK : THOROUGH))
    }
    // Measured separately, so that the others do not pay for their garbage.
    const cold = new Map<number, ReadonlyMap<string, number>>()
    for (const size of SIZES) {
      progress(`${size.toLocaleString('en')} sections, from nothing ...`)
      const measured = await measure(coldContenders(size), quick ? QUICK : THOROUGH)
      cold.set(size, new Map([...measured, [DESCRIPTOR, timeDescriptor(size, quick ? 5 : 25)]]))
    }
    return {
      rows: [...toRows(times, CONTENDERS, BARE_JOIN), ...toRows(cold, [COLD, DESCRIPTOR, COLD_JOIN], COLD_JOIN)],
      goals: [...toGoals(times), ...toColdGoals(cold)],
    }
  },
}

function toRows(times: Times, contenders: readonly string[], join: string): Row[] {
  return SIZES.flatMap((size) =>
    contenders.map((contender): Row => {
      const nanoseconds = getTime(times, contender, size)
      return {
        sections: size,
        contender,
        microseconds: nanoseconds / 1_000,
        nanosecondsPerSection: nanoseconds / size,
        timesBareJoin: nanoseconds / getTime(times, join, size),
        growthFrom100: computeGrowth(times, contender, 100, size),
      }
    }),
  )
}

function getTime(times: Times, contender: string, size: number): number {
  const time = times.get(size)?.get(contender)
  if (time === undefined) throw new Error(`'${contender}' was not measured with ${size} sections.`)
  return time
}

/** Time per section in relation to that at another size. */
function computeGrowth(times: Times, contender: string, from: number, to: number): number {
  return getTime(times, contender, to) / to / (getTime(times, contender, from) / from)
}

function toGoals(times: Times): Goal[] {
  const at = (contender: string): number => getTime(times, contender, 1_000)
  const growth = (contender: string): number => computeGrowth(times, contender, 100, 10_000)
  return [
    // Joining gives a flat string, so ours is flattened too.
    goal('from nothing / bare join at 1,000', at(FROM_NOTHING_READ) / at(BARE_JOIN), '<=', 4),
    goal('from nothing / after one opening at 1,000', at(FROM_NOTHING) / at(AFTER_OPENING), '>=', 20),
    // The bare join grows too, because memory is slower the more of it is touched.
    goal('growth from 100 to 10,000 / that of the bare join', growth(FROM_NOTHING_READ) / growth(BARE_JOIN), '<=', 1),
  ]
}

function toColdGoals(times: Times): Goal[] {
  const ratio = (contender: string): number => getTime(times, contender, 1_000) / getTime(times, COLD_JOIN, 1_000)
  return [
    goal('cold / bare join at 1,000', ratio(COLD), '<=', 20),
    goal('the descriptor / bare join at 1,000', ratio(DESCRIPTOR), '<=', 20),
    goal('cold: time per section at 10,000 / at 1,000', computeGrowth(times, COLD, 1_000, 10_000), '<=', 1.5),
  ]
}
