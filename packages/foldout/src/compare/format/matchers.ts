import { FoldoutError } from '../../core/errors.ts'
import { nearest } from '../../core/text.ts'
import type { CompareReport } from '../contract/report.ts'
import { formatComparison } from './format.ts'

/**
 * What a matcher answers.
 *
 * @example
 * ```ts
 * const { pass, message }: CompareMatch = compareMatchers.toBeNotWorse(report, 'folded')
 * if (!pass) console.log(message())
 * ```
 */
export interface CompareMatch {
  readonly pass: boolean
  message(): string
}

/**
 * Matchers for Vitest and Jest: `toBeNotWorse()` passes if no arm is worse than the base and all are decided,
 * `toBeNotWorse('folded')` looks at one arm.
 *
 * @example
 * ```ts
 * // In a test file: expect.extend(compareMatchers)
 * // expect(report).toBeNotWorse('folded')
 * compareMatchers.toBeNotWorse(report).pass // => false
 * ```
 */
export const compareMatchers = Object.freeze({
  toBeNotWorse(report: CompareReport, arm?: string): CompareMatch {
    const verdict = arm === undefined ? report.verdict : findVerdict(report, arm)
    const subject = arm === undefined ? 'Every arm' : `'${arm}'`
    const pass = verdict === 'not-worse'
    const expected = pass ? 'not to be' : 'to be'
    return {
      pass,
      message: () =>
        `${subject} was expected ${expected} not worse than '${report.base}'.\n\n${formatComparison(report)}`,
    }
  },
})

function findVerdict({ arms, base }: CompareReport, arm: string): string | undefined {
  if (Object.hasOwn(arms, arm) && arm !== base) return arms[arm]?.against?.verdict
  const others = Object.keys(arms).filter((name) => name !== base)
  const [near = others[0]] = nearest(arm, others, 1)
  throw new FoldoutError('compare-invalid', `There is no arm '${arm}' beside the base. Name one, such as '${near}'.`)
}
