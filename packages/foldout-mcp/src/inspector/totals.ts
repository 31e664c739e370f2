import type { TokenTotals } from './protocol/protocol.ts'

/** The totals alone, of an object that has them among other fields. */
export function toTotals({ total, text, tools }: TokenTotals): TokenTotals {
  return { total, text, tools }
}
