import { UsageError } from './config.ts'

/** Timers that wait longer do not wait at all. */
const MOST_MS = 2 ** 31 - 1

/**
 * Rejects an option that should be a time and is not. Every comparison with NaN is false, so it would be no limit at all.
 *
 * @throws UsageError
 */
export function checkMs(name: string, given: unknown, least = 0): void {
  if (given === undefined || (typeof given === 'number' && given >= least && given <= MOST_MS)) return
  throw new UsageError(`${name} must be a number of milliseconds, from ${least} to ${MOST_MS}.`)
}
