import { checkCases } from './cases/read-cases.ts'
import type { CompareArm } from './contract/arms.ts'
import type { CompareCase } from './contract/cases.ts'
import type { GradedCall, ArmRunOptions } from './contract/options.ts'
import type { SavedRun } from './contract/saved.ts'
import { prepareRun } from './prepare.ts'
import { findCost } from './report/money.ts'
import { findMissed } from './report/openings.ts'
import { runCase } from './run/run-case.ts'
import { checkArm, readRunTerms } from './terms.ts'

/**
 * How one run went: what it said and did, what it opened, and what it cost.
 *
 * @example
 * ```ts
 * const hasPassed = ({ error, score }: ArmRun): boolean => error === null && score === 1
 * ```
 */
export interface ArmRun extends Omit<
  SavedRun,
  'type' | 'run' | 'arm' | 'armDigest' | 'case' | 'caseDigest' | 'repeat'
> {
  /** The last answer. */
  readonly text: string
  /** All answers, one for each thing the user said. */
  readonly answers: readonly string[]
  /** The parsed output, if the prompt has an output schema. */
  readonly output: unknown
  /** The calls of the prompt's own tools, in order. */
  readonly calls: readonly GradedCall[]
  /** The sections in the case's `needs` that were folded and stayed so. */
  readonly missed: readonly string[]
  /** In dollars; `null` without prices, unless the provider says what it costs. */
  readonly costUsd: number | null
}

/**
 * Runs one case in one arm, for an evaluation in another package. An error becomes part of the result; a case without an
 * expectation has no grades, and a score of 1.
 *
 * @example
 * ```ts
 * const adapter = () => scriptedAdapter([says('Done.')])
 * const run = await runArm({ prompt: bound }, { id: 'refund', input: 'Refund order 17.', includes: 'Done' }, { adapter })
 * run.grades // => { includes: 1 }
 * ```
 *
 * @throws FoldoutError with the code `compare-invalid`, before anything is sent.
 */
export async function runArm<World = unknown>(
  arm: CompareArm<World>,
  task: CompareCase,
  options: ArmRunOptions<World> = {},
): Promise<ArmRun> {
  checkArm('The arm', arm, options.adapter !== undefined)
  const cases = checkCases([task])
  const terms = readRunTerms(options, cases)
  const { signal = new AbortController().signal, user } = options
  const place = { terms: { arms: { arm } }, name: 'arm', task, repeat: 0, signal }
  const { result, graded } = await runCase(() => prepareRun(options, place), { ...terms, user, isSaved: false }, signal)
  return {
    ...result,
    text: graded?.text ?? '',
    answers: graded?.answers ?? [],
    output: graded?.output,
    calls: graded?.calls ?? [],
    missed: findMissed(result, task.needs ?? []).missed,
    costUsd: findCost(result.usage, terms.prices) ?? null,
  }
}
