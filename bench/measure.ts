import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface Contender {
  readonly name: string
  /** Does the work. Its result is used, so that the work cannot be optimized away. */
  readonly run: () => unknown
  /** How many operations one run is. Default 1. */
  readonly operations?: number
}

interface MeasureOptions {
  readonly rounds: number
  /** The minimum time each contender runs per round. */
  readonly roundMilliseconds: number
  /** How long each contender runs before anything counts. */
  readonly warmUpMilliseconds: number
}

// Rounds are long enough to collect garbage in the round that produced it, so that each contender pays for its own.
export const THOROUGH: MeasureOptions = { rounds: 15, roundMilliseconds: 100, warmUpMilliseconds: 500 }
export const QUICK: MeasureOptions = { rounds: 3, roundMilliseconds: 3, warmUpMilliseconds: 30 }

/**
 * Nanoseconds per operation, by name. The contenders take turns in rounds, each in a different order, and the median
 * round counts: temporary load on the machine affects all alike, so that the ratio of two of them is fair.
 */
export async function measure(
  contenders: readonly Contender[],
  options: MeasureOptions,
): Promise<ReadonlyMap<string, number>> {
  const runs = new Map<Contender, number>()
  for (const contender of contenders) runs.set(contender, await warmUp(contender, options))
  const samples = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]))
  for (let round = 0; round < options.rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const contender = contenders[(round + turn) % contenders.length]!
      const times = runs.get(contender)!
      collectGarbage('minor')
      samples.get(contender)!.push((await time(contender, times)) / times / (contender.operations ?? 1))
    }
  }
  return new Map(contenders.map((contender) => [contender.name, median(samples.get(contender)!)]))
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as (options: { readonly type: 'minor' | 'major' }) => void

/** Collects garbage, so that no contender pays for another's. A major collection also discards compiled code. */
export function collectGarbage(type: 'minor' | 'major'): void {
  gc({ type })
}

const sink: { seen?: unknown } = {}

/** The nanoseconds for a number of runs. */
async function time({ run }: Contender, times: number): Promise<number> {
  const start = process.hrtime.bigint()
  for (let i = 0; i < times; i++) {
    const result = run()
    sink.seen = result instanceof Promise ? await result : result
  }
  return Number(process.hrtime.bigint() - start)
}

/** Runs until the code is compiled, and returns the number of runs that fill a round. */
async function warmUp(contender: Contender, options: MeasureOptions): Promise<number> {
  let times = 1
  let spent = 0
  for (;;) {
    const taken = (await time(contender, times)) / 1e6
    spent += taken
    if (spent >= options.warmUpMilliseconds) {
      return Math.max(1, Math.ceil((options.roundMilliseconds / taken) * times))
    }
    if (taken < options.roundMilliseconds / 2) times *= 2
  }
}
