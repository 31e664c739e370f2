import { untilAborted } from '../../core/abort.ts'
import { getErrorMessage } from '../../core/errors.ts'
import { countVariants } from '../../core/price/place.ts'
import { shorten } from '../../core/text.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import type { SessionReader } from '../../session/contract.ts'
import { toolTokens } from '../../tools/definition.ts'
import { getOpening, planOpening, type PlannedOpening } from '../engine.ts'
import { MAX_AHEAD_MS, MAX_NAME_SHOWN } from '../limits.ts'
import type { DisclosureView } from '../strategy.ts'
import type { AheadRule, OpenAhead } from './rule.ts'

/**
 * A question to a rule that opens sections ahead.
 *
 * @example
 * ```ts
 * const view = bound.render().view
 * const question: AheadQuestion = { rule: 'all', input: '', session: createSession(), view, counter: estimatedTokens }
 * ```
 */
export interface AheadQuestion {
  readonly rule: OpenAhead
  readonly input: string
  readonly session: SessionReader
  readonly view: DisclosureView
  readonly counter: TokenCounter
  readonly signal?: AbortSignal | undefined
}

/**
 * What a rule chose.
 *
 * @example
 * ```ts
 * const view = bound.render().view
 * const choice: AheadChoice = await chooseAhead({ rule: ['refunds'], input: '', session: createSession(), view, counter: estimatedTokens })
 * choice.keys // => [ 'refunds' ]
 * ```
 */
export interface AheadChoice extends PlannedOpening {
  /** The folded sections to open; empty if there is nothing to open. */
  readonly keys: readonly string[]
  /** The tokens of their texts and tools. */
  readonly tokens: number
  /** With how many different sections conversations may begin under this rule. */
  readonly variants: number
  /** What was wrong with the rule. The run goes on without the sections in question. */
  readonly problems: readonly string[]
}

/**
 * Asks a rule which sections to open for an input. A rule that fails, takes too long or names sections that do not
 * exist opens nothing, and `problems` says so.
 *
 * @example
 * ```ts
 * const view = bound.render().view
 * const choice = await chooseAhead({ rule: ['refunds', 'no'], input: '', session: createSession(), view, counter: estimatedTokens })
 * choice.problems // => [ "There is no section 'no' to open ahead." ]
 * ```
 */
export async function chooseAhead(question: AheadQuestion): Promise<AheadChoice> {
  const { rule, view, counter } = question
  const { paths, problems } = await askRule(question)
  const wanted = [...new Set(paths)]
  const unknown = wanted.filter((path) => view.state(path) === undefined)
  const keys = wanted.filter((path) => view.state(path) === 'folded')
  const planned = getOpening(view, planOpening(view, keys, ''), { halts: false })
  return {
    ...planned,
    keys,
    tokens: countOpening(planned, counter),
    variants: countChoices(rule, view),
    problems: [...problems, ...unknown.map((path) => describeUnknown(path))],
  }
}

interface Answer {
  readonly paths: readonly string[]
  readonly problems: readonly string[]
}

async function askRule(question: AheadQuestion): Promise<Answer> {
  const { rule, view } = question
  if (rule === 'all') return { paths: view.keys, problems: [] }
  if (typeof rule !== 'function') return { paths: rule, problems: [] }
  const late = AbortSignal.timeout(MAX_AHEAD_MS)
  const signal = question.signal ? AbortSignal.any([question.signal, late]) : late
  try {
    const paths: unknown = await untilAborted(signal, async () => callRule(rule, question, signal))
    if (Array.isArray(paths) && paths.every((path) => typeof path === 'string')) return { paths, problems: [] }
    return { paths: [], problems: ['The rule that opens sections ahead did not return a list of paths.'] }
  } catch (error) {
    // A cancelled run ends by itself.
    const why = late.aborted ? `It took longer than ${MAX_AHEAD_MS / 1000} seconds.` : getErrorMessage(error)
    return { paths: [], problems: [`The rule that opens sections ahead failed: ${why}`] }
  }
}

function callRule(
  rule: AheadRule,
  { input, session, view, counter }: AheadQuestion,
  signal: AbortSignal,
): ReturnType<AheadRule> {
  const countTokens = (paths: readonly string[]): number => {
    const folded = paths.filter((path) => view.state(path) === 'folded')
    return countOpening(getOpening(view, planOpening(view, folded, ''), { halts: false }), counter)
  }
  return rule(input, { session, view, countTokens, signal })
}

function countOpening({ content, opening }: PlannedOpening, counter: TokenCounter): number {
  return counter.count(content) + opening.tools.reduce((sum, tool) => sum + toolTokens(tool, counter), 0)
}

function countChoices(rule: OpenAhead, view: DisclosureView): number {
  if (typeof rule !== 'function') return 1
  const folded = view.keys.filter((path) => view.state(path) === 'folded').length
  return countVariants(folded, rule.max ?? 1)
}

function describeUnknown(path: string): string {
  return `There is no section '${shorten(path, MAX_NAME_SHOWN)}' to open ahead.`
}
