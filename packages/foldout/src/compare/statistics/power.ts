/** (1.6449 + 0.8416)²: one-sided 5 % false alarms, and 80 % power. */
const FACTOR = 6.1826

/** How much runs of one kind of task vary. */
export interface Spread {
  /** The variance between runs of one case, such as p (1 − p). */
  readonly within: number
  /** The variance of the true differences between cases. */
  readonly between: number
}

/** Tasks of which about every second run fails, and stable ones, in published experiments. */
export const HARD_TASKS: Spread = { within: 0.147, between: 0.01 }
export const STABLE_TASKS: Spread = { within: 0.05, between: 0.005 }

/** The variance of a case's difference between two arms with `repeats` runs each. */
export function getDifferenceVariance({ within, between }: Spread, repeats: number): number {
  return between + (2 * within) / repeats
}

/** How many cases show a drop of this size in four of five comparisons. */
export function countCasesNeeded(variance: number, drop: number): number {
  return Math.ceil((FACTOR * variance) / (drop * drop) - 1e-9)
}

/** The smallest drop that so many cases show in four of five comparisons. */
export function findSmallestDrop(variance: number, cases: number): number {
  return Math.sqrt((FACTOR * variance) / cases)
}

/** How many cases without any difference exclude a drop of this size, with 5 % error. */
export function countCasesWithoutDifference(drop: number): number {
  return Math.ceil(Math.log(0.05) / Math.log1p(-Math.min(drop, 0.999)))
}
