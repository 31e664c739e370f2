import { measure, QUICK, THOROUGH } from './measure.ts'
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
  question:
    'What does a render cost, from nothing and after one section was opened, beside joining the strings by hand?',
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
    return { rows: toRows(times), goals: toGoals(times) }
  },
}

function toRows(times: Times): Row[] {
  return SIZES.flatMap((size) =>
    CONTENDERS.map((contender): Row => {
      const nanoseconds = times.get(size)!.get(contender)!
      return {
        sections: size,
        contender,
        microseconds: nanoseconds / 1_000,
        nanosecondsPerSection: nanoseconds / size,
        timesBareJoin: nanoseconds / times.get(size)!.get(BARE_JOIN)!,
        growthFrom100: growth(times, contender, size),
      }
    }),
  )
}

/** Time per section in relation to that at 100 sections. */
function growth(times: Times, contender: string, size: number): number {
  return times.get(size)!.get(contender)! / size / (times.get(100)!.get(contender)! / 100)
}

function toGoals(times: Times): Goal[] {
  const at1000 = times.get(1_000)!
  const fromNothing = at1000.get(FROM_NOTHING)!
  return [
    // Joining gives a string in one piece, so ours is read too.
    goal('from nothing / bare join at 1,000', at1000.get(FROM_NOTHING_READ)! / at1000.get(BARE_JOIN)!, '<=', 4),
    goal('from nothing / after one opening at 1,000', fromNothing / at1000.get(AFTER_OPENING)!, '>=', 20),
    goal('time per section at 10,000 / at 100, from nothing', growth(times, FROM_NOTHING, 10_000), '<=', 1.5),
  ]
}
