import { createFault } from '../contract/fault.ts'
import { untilAborted } from '../../core/abort.ts'
import { getErrorMessage } from '../../core/errors.ts'
import { shorten } from '../../core/text.ts'
import type { CompareCase } from '../contract/cases.ts'
import type { GradedRun, Grader } from '../contract/options.ts'
import { graders as ready, type ReadyGrader } from './graders.ts'

export type Graders<World> = Readonly<Record<string, Grader<World>>>

/** The graders of runs: those that were passed, or every ready-made one for which a case has an expectation. */
export function chooseGraders<World>(given: Graders<World> | undefined, cases: readonly CompareCase[]): Graders<World> {
  const all = { calls: ready.calls(), includes: ready.includes(), matches: ready.matches(), output: ready.output() }
  const usual = Object.entries(all).filter(([, { expects }]) => cases.some((task) => task[expects] !== undefined))
  const chosen = given ?? Object.fromEntries(usual)
  for (const task of cases) {
    if (task.state !== undefined && !Object.values(chosen).some((one) => getExpected(one) === 'state'))
      throw createFault(
        `The case '${shorten(task.id)}' has a state, but nothing reads it. Pass graders.state(read) as a grade.`,
      )
  }
  return chosen
}

/** A comparison needs a grade for every case. */
export function checkGraded<World>(graders: Graders<World>, cases: readonly CompareCase[]): void {
  const ungraded = cases.find((task) => listGraders(graders, task).length === 0)
  if (ungraded)
    throw createFault(
      `Nothing grades the case '${shorten(ungraded.id)}'. Give it calls, includes, matches or output, or pass a function as a grade.`,
    )
}

/** The graders of one case, by name. A ready-made one leaves cases without its expectation to the others. */
export function listGraders<World>(
  graders: Graders<World>,
  task: CompareCase,
): readonly (readonly [string, Grader<World>])[] {
  return Object.entries(graders).filter(([, grader]) => {
    const expected = getExpected(grader)
    return expected === undefined || task[expected] !== undefined
  })
}

function getExpected<World>(grader: Grader<World>): ReadyGrader['expects'] | undefined {
  if ('expects' in grader) return (grader as ReadyGrader<World>).expects
  return undefined
}

/** Grades a run by every grader of its case. Throws if one fails, or does not return a grade. */
export async function gradeRun<World>(graders: Graders<World>, run: GradedRun<World>): Promise<Record<string, number>> {
  const grades: [string, number][] = []
  for (const [name, grader] of listGraders(graders, run.case)) {
    let grade: unknown
    try {
      grade = await untilAborted(run.signal, async () => grader(run))
    } catch (error) {
      throw createFault(`The grader '${shorten(name)}' failed: ${getErrorMessage(error)}`)
    }
    grades.push([name, toNumber(grade, name)])
  }
  return Object.fromEntries(grades)
}

function toNumber(grade: unknown, name: string): number {
  if (typeof grade === 'boolean') return Number(grade)
  if (typeof grade === 'number' && grade >= 0 && grade <= 1) return grade
  throw createFault(`The grader '${shorten(name)}' returned neither true nor false nor a number from 0 to 1.`)
}
