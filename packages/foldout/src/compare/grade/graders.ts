import { isObject } from 'foldout-shared/values'
import { FoldoutError } from '../../core/errors.ts'
import { canonicalJson, toJson } from '../../core/json/json.ts'
import { compilePattern } from '../../core/pattern/pattern.ts'
import type { CompareCase, ExpectedCall } from '../contract/cases.ts'
import type { GradedCall, GradedRun, Grader } from '../contract/options.ts'

/** The expectations of a case, each of which a ready-made grader checks. */
export type ExpectationField = 'calls' | 'includes' | 'matches' | 'output' | 'state'

/** A grader that says which expectation of a case it needs. Cases without it are not graded by it. */
export interface ReadyGrader<World = unknown> extends Grader<World> {
  readonly expects: ExpectationField
}

/**
 * Reads the state that {@link graders}`.state()` compares, at the end of a run.
 *
 * @example
 * ```ts
 * const readOrders: StateReader<Map<string, string>> = ({ world }) => Object.fromEntries(world)
 * const grade = { done: graders.state(readOrders) }
 * ```
 */
export type StateReader<World = unknown> = (run: GradedRun<World>) => unknown

/**
 * Ready-made graders. Each checks one expectation of a case, and leaves cases without it to the others.
 *
 * - `calls()`: the run has made every call of `case.calls` with success; with `{ only: true }`, no other one.
 * - `includes()`: the answer contains `case.includes`, in any case of letters.
 * - `matches()`: the answer matches the regular expression `case.matches`.
 * - `output()`: the parsed output equals `case.output`.
 * - `state(read)`: what `read` returns at the end equals `case.state`.
 *
 * @example
 * ```ts
 * const grade: Record<string, Grader> = { done: graders.calls(), polite: graders.includes() }
 * Object.keys(grade) // => [ 'done', 'polite' ]
 * ```
 */
export const graders = Object.freeze({
  calls: ({ only = false }: { readonly only?: boolean } = {}): ReadyGrader =>
    grade('calls', ({ case: { calls: expected = [] }, calls }) => hasCalls(expected, calls, only)),
  includes: (): ReadyGrader =>
    grade('includes', ({ case: { includes = [] }, text }) => {
      const said = text.toLowerCase()
      return [includes].flat().every((part) => said.includes(part.toLowerCase()))
    }),
  matches: (): ReadyGrader =>
    grade('matches', ({ case: task, text }) => {
      const compiled = compilePattern(task.matches ?? '')
      if (!('pattern' in compiled)) throw createPatternError(task, compiled.message)
      return compiled.pattern.test(text) === true
    }),
  output: (): ReadyGrader => grade('output', ({ case: task, output }) => isSame(task.output, output)),
  state: <World>(read: StateReader<World>): ReadyGrader<World> =>
    grade('state', (run) => isSame(run.case.state, read(run))),
})

export function createPatternError({ id }: CompareCase, message: string): FoldoutError {
  return new FoldoutError(
    'compare-invalid',
    `The case '${id}' has a pattern in matches that cannot be used: ${message}.`,
  )
}

function grade<World>(expects: ExpectationField, check: (run: GradedRun<World>) => boolean): ReadyGrader<World> {
  return Object.assign((run: GradedRun<World>) => check(run), { expects })
}

/** Whether every expected call was made. A call counts for one expectation only. */
function hasCalls(expected: readonly ExpectedCall[], made: readonly GradedCall[], only: boolean): boolean {
  const left = made.filter(({ ok }) => ok)
  for (const call of expected) {
    const at = left.findIndex((one) => fits(call, one))
    if (at === -1) return false
    left.splice(at, 1)
  }
  return !only || left.length === 0
}

function fits({ name, arguments: wanted = {} }: ExpectedCall, call: GradedCall): boolean {
  if (call.name !== name) return false
  const given = isObject(call.arguments) ? call.arguments : {}
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(given, key) && isSame(value, given[key]))
}

/** Whether two values have the same JSON, in whatever order their keys are. */
function isSame(one: unknown, other: unknown): boolean {
  const json = toJson(other)
  return json !== undefined && canonicalJson(one) === canonicalJson(json)
}
