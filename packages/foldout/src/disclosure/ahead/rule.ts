import type { SessionReader } from '../../session/contract.ts'
import type { DisclosureView } from '../strategy.ts'

/**
 * What a rule knows besides the user's input.
 *
 * @example
 * ```ts
 * const open: AheadRule = (_input, { view }: AheadContext) => view.folded.slice(0, 1).map(({ path }) => path)
 * await runAgent(bound, { adapter, input: 'Refund order 17.', open })
 * ```
 */
export interface AheadContext {
  readonly session: SessionReader
  /** The prompt as it is now. */
  readonly view: DisclosureView
  /** Returns the tokens of sections that are not open: their texts, and the definitions of their tools. */
  countTokens(paths: readonly string[]): number
  /** Aborts when the run is cancelled, or when it no longer waits for the rule. */
  readonly signal: AbortSignal
}

/**
 * Returns the paths of the sections to open before the first request for a user's input.
 *
 * @example
 * ```ts
 * const open: AheadRule = (input) => (/refund|money back/i.test(input) ? ['refunds'] : [])
 * await runAgent(bound, { adapter, input: 'I want my money back.', open })
 * ```
 */
export interface AheadRule {
  (input: string, context: AheadContext): readonly string[] | Promise<readonly string[]>
  /** How many sections it opens at most. It decides how many conversations begin alike. Default 1. */
  readonly max?: number
}

/**
 * The sections to open before the first request for each of the user's inputs: all, these paths, or what a rule
 * returns, such as `bySearch()`.
 *
 * @example
 * ```ts
 * const rules: OpenAhead[] = ['all', ['refunds'], bySearch({ max: 1 })]
 * ```
 */
export type OpenAhead = 'all' | readonly string[] | AheadRule

/** Names a rule for events. */
export function getRuleName(rule: OpenAhead): string {
  if (typeof rule === 'string') return rule
  if (typeof rule === 'function') return rule.name || 'function'
  return 'paths'
}
