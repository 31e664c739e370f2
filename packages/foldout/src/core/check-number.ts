import { FoldoutError, type ErrorCode } from './errors.ts'
import { shorten } from './text.ts'

/**
 * What {@link checkNumbers} requires.
 *
 * @example
 * const rule: NumberRule = { code: 'run-options', least: 1 }
 */
export interface NumberRule {
  /** The code of the error. */
  readonly code: ErrorCode
  /** The smallest valid number. Default 0. */
  readonly least?: number
}

/**
 * Rejects an option that should be a finite number and is not. Every comparison with NaN is false, so a limit computed
 * from a missing setting would otherwise be no limit at all.
 *
 * @throws FoldoutError with the rule's code.
 */
export function checkNumber(name: string, given: unknown, { code, least = 0 }: NumberRule): void {
  if (given === undefined || (Number.isFinite(given) && (given as number) >= least)) return
  throw new FoldoutError(code, `${name} is ${describeGiven(given)}. Pass a number, ${least} or more, or leave it out.`)
}

/**
 * Rejects each of several options that is not a finite number of 0 or more. For engines and stores of your own.
 *
 * @example
 * checkNumbers({ limit: 10, offset: undefined }, { code: 'run-options' })
 */
export function checkNumbers(options: Readonly<Record<string, unknown>>, rule: NumberRule): void {
  for (const [name, given] of Object.entries(options)) checkNumber(name, given, rule)
}

/** Describes the value of an option for a message. */
export function describeGiven(given: unknown): string {
  if (typeof given === 'string') return `'${shorten(given)}'`
  if (typeof given === 'number' || given === null) return String(given)
  return `of type ${typeof given}`
}
