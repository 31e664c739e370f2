import { takeSteps } from './steps.ts'
import { FoldoutError } from 'foldout'
import { enter, type AnyDoor } from './door.ts'
import type { Shape } from './shapes.ts'

// How the cost of a door grows with its input, from n to 16 n.
//
// Time alone cannot tell: most doors handle a small input in less than a millisecond, so that compilation, garbage
// collection and other processes decide the ratio. Steps of JavaScript can be counted exactly, and are the same on every machine and
// under any load. They leave out the work of the engine itself: a search in a text, a copy of a list, a regular expression.
// Time shows that: if each of n steps of JavaScript makes the engine scan n characters, 4 times the input takes up to 16
// times as long. Code is not optimized while its steps are counted, so the time of small and large inputs can be compared.

/** The sizes at which doors are measured: characters of a text, or values in JSON. */
const SIZES = { text: 4_000, json: 1_000 } as const
const MIDDLE_FACTOR = 4
const FACTOR = 16

/** How much more 16 times the input may cost: 16 n log(16 n) is this many times n log n. About 21 for n = 4,000; n² is 256. */
export function getMaxGrowth(size: number): number {
  return (FACTOR * Math.log(FACTOR * size)) / Math.log(size)
}

/**
 * How much longer 16 n may take than 4 n, where one-time work weighs less than at n: the geometric mean of n log n and
 * n², because time is never exact. About 9 for n = 4,000; n² is 16.
 */
export function getMaxTimeGrowth(size: number): number {
  const factor = FACTOR / MIDDLE_FACTOR
  const linearithmic = (factor * Math.log(FACTOR * size)) / Math.log(MIDDLE_FACTOR * size)
  return Math.sqrt(linearithmic * factor ** 2)
}

/** The most that the largest input may cost, in milliseconds. */
export const MAX_MILLISECONDS = 2_500
/** Below this many milliseconds, growth in time is ignored: on a busy machine it may be chance. */
const UNIMPORTANT_MILLISECONDS = 100
/** The least time that counts, because a clock cannot measure less. */
const SHORTEST_MILLISECONDS = 2

/** The cost of one input. */
export interface Cost {
  readonly steps: number
  readonly milliseconds: number
}

interface Costs {
  readonly small: Cost
  /** For 4 times the input. */
  readonly middle: Cost
  /** For 16 times the input. */
  readonly large: Cost
}

export interface Growth extends Costs {
  readonly size: number
  /** How many times as many steps the largest input takes; 16 is linear. */
  readonly growth: number
  /** Why it grows too much; `undefined` if it does not. */
  readonly fault: string | undefined
}

/**
 * Measures how the cost of a door grows. If it seems to grow too fast, it is measured again, and the lowest value at each size counts:
 * some steps may belong to another door that has not finished in the background, and a machine may be busy.
 */
export async function measureGrowth(door: AnyDoor, [, make]: Shape<unknown>, attempts = 4): Promise<Growth> {
  const size = door.size ?? SIZES[door.takes]
  let costs = await measureCosts(door, make, size)
  for (let attempt = 1; attempt < attempts && findFault(costs, size) !== undefined; attempt++) {
    await waitForQuiet()
    // Doors may cache an input, so it is never the same one.
    const again = await measureCosts(door, make, size + attempt)
    costs = {
      small: getLess(costs.small, again.small),
      middle: getLess(costs.middle, again.middle),
      large: getLess(costs.large, again.large),
    }
  }
  return { size, ...costs, growth: getStepGrowth(costs), fault: findFault(costs, size) }
}

/** So few steps within a pause that nothing else can be running. */
const QUIET_STEPS = 500
const QUIET_PAUSE_MS = 20
const MAX_PAUSES = 250

/** Waits until nothing runs in the background, such as the indexing of a catalog that another door has filled. */
async function waitForQuiet(): Promise<void> {
  for (let pause = 0; pause < MAX_PAUSES; pause++) {
    takeSteps()
    await new Promise((resolve) => setTimeout(resolve, QUIET_PAUSE_MS))
    if (takeSteps() < QUIET_STEPS) return
  }
}

async function measureCosts(door: AnyDoor, make: (size: number) => unknown, size: number): Promise<Costs> {
  // One-time work does not count.
  await measureCost(door, make(Math.ceil(size / 3)))
  const small = await measureCost(door, make(size))
  const middle = await measureCost(door, make(size * MIDDLE_FACTOR))
  // Quadratic growth is already certain; the largest size would only take longer.
  const isHopeless = middle.milliseconds > 400 && middle.milliseconds > small.milliseconds * 12
  const large = isHopeless ? extrapolate(middle) : await measureCost(door, make(size * FACTOR))
  return { small, middle, large }
}

function extrapolate({ steps, milliseconds }: Cost): Cost {
  return { steps: steps * FACTOR, milliseconds: milliseconds * FACTOR }
}

function getLess(one: Cost, other: Cost): Cost {
  return {
    steps: Math.min(one.steps, other.steps),
    milliseconds: Math.min(one.milliseconds, other.milliseconds),
  }
}

function getStepGrowth({ small, large }: Costs): number {
  return large.steps / Math.max(small.steps, 1)
}

function findFault(costs: Costs, size: number): string | undefined {
  const { small, middle, large } = costs
  const steps = getStepGrowth(costs)
  if (steps > getMaxGrowth(size))
    return `${small.steps} steps became ${large.steps}: ${steps.toFixed(1)} times, at most ${getMaxGrowth(size).toFixed(1)}`
  const time = large.milliseconds / Math.max(middle.milliseconds, SHORTEST_MILLISECONDS)
  const became = `${middle.milliseconds.toFixed(1)} ms became ${large.milliseconds.toFixed(1)}`
  if (large.milliseconds > UNIMPORTANT_MILLISECONDS && time > getMaxTimeGrowth(size))
    return `${became}: ${time.toFixed(1)} times for 4 times the input, at most ${getMaxTimeGrowth(size).toFixed(1)}`
  return large.milliseconds > MAX_MILLISECONDS ? `${became}, at most ${MAX_MILLISECONDS}` : undefined
}

async function measureCost(door: AnyDoor, input: unknown): Promise<Cost> {
  const start = performance.now()
  const used = process.cpuUsage()
  await attempt(door, input)
  const { user, system } = process.cpuUsage(used)
  // Work in this process, not waiting for others.
  const milliseconds = Math.min(performance.now() - start, (user + system) / 1_000)
  return { steps: takeSteps(), milliseconds }
}

/** Lets an input in. Only Foldout errors may come out. */
export async function attempt(door: AnyDoor, input: unknown): Promise<void> {
  try {
    await enter(door, input)
  } catch (error) {
    if (!(error instanceof FoldoutError)) throw error
  }
}
