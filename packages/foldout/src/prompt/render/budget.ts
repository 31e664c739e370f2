import { describeGiven } from '../../core/check-number.ts'
import { FoldoutError, type ErrorCode } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import { getAncestors } from '../../core/text.ts'
import type { VisibilityOverrides } from '../../session/visibility.ts'
import { toolTokens } from '../../tools/definition.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { OPEN, type Slot } from '../definition/registry.ts'
import type { Frame } from './frame.ts'
import type { Renderer } from './renderer.ts'

/**
 * The token budget of a prompt. Sections are folded, least important first, until the prompt fits.
 *
 * @example
 * ```ts
 * const budget: TokenBudget = { tokens: 4_000 }
 * bound.render({ budget }).tokens.total < budget.tokens // => true
 * ```
 */
export interface TokenBudget {
  /** The maximum number of tokens for text and tool definitions together. */
  readonly tokens: number
}

/** Rejects a budget that is not a number of tokens. No prompt would exceed it, so it would be no budget at all. */
export function checkBudget(budget: unknown, code: ErrorCode): void {
  if (budget === undefined) return
  const tokens = isObject(budget) ? budget['tokens'] : undefined
  if (Number.isFinite(tokens) && (tokens as number) >= 0) return
  throw new FoldoutError(code, `budget.tokens is ${describeGiven(tokens)}. Pass a number of tokens, 0 or more.`)
}

/**
 * Records that the budget folded a section, or that nothing more could be folded.
 *
 * @example
 * ```ts
 * const manual = defineSection({ key: 'manual', title: 'Manual', template: 'Press it. '.repeat(200), summary: 'How to use it.' })
 * const bound = definePrompt({ ns: 'docs', key: 'help', sections: [manual], budget: { tokens: 200 } }).bind()
 * const isBudget = (entry: TraceEntry): entry is BudgetTrace => entry.type.startsWith('budget')
 * bound.render().trace.filter(isBudget).map(({ type }) => type) // => [ 'budget-folded' ]
 * ```
 */
export type BudgetTrace =
  | {
      readonly type: 'budget-folded'
      readonly path: string
      readonly priority: number
      /** The number of tokens saved by folding the section. */
      readonly saved: number
      readonly message: string
    }
  | {
      readonly type: 'budget-exceeded'
      readonly budget: number
      readonly tokens: number
      readonly message: string
    }

interface Candidate {
  readonly slot: Slot
  readonly priority: number
  readonly saving: number
}

/** What a budget needs of a view: what it costs, and the same view with more sections folded. */
export interface BudgetView<View> {
  readonly renderer: Renderer
  /** The frame before the budget folded anything. */
  readonly whole: Frame
  readonly frame: Frame
  readonly tools: readonly AnyTool[]
  withFrame(frame: Frame, trace: readonly BudgetTrace[]): View
}

/**
 * Folds sections until a prompt fits its budget: lowest priority first, and among equals the one that saves the most.
 * Sections that were requested in full stay open, and so do sections without a summary.
 */
export function fitBudget<View extends BudgetView<View>>(view: View, budget: TokenBudget): View {
  const { whole, renderer } = view
  if (computeCost(view) <= budget.tokens) return view
  const trace: BudgetTrace[] = []
  const folds = new Map<string, number>()
  const candidates = candidatesIn(view)
  let fitted = view
  let tokens = computeCost(view)
  let next = 0
  while (tokens > budget.tokens && next < candidates.length) {
    // The sums are estimates: fold as many sections as they suggest, then count the result.
    for (let forecast = tokens; forecast > budget.tokens && next < candidates.length; next++) {
      const { slot, priority, saving } = candidates[next]!
      if (getAncestors(slot.path).some((path) => folds.has(path))) continue
      const saved = saving - computeSavedBelow(slot.path, folds)
      folds.set(slot.path, saved)
      forecast -= saved
      const message = `Section '${slot.path}' (priority ${priority}) was folded to fit ${budget.tokens} tokens; that saves ${saved}.`
      trace.push({ type: 'budget-folded', path: slot.path, priority, saved, message })
    }
    const folded: VisibilityOverrides = Object.fromEntries([...folds.keys()].map((path) => [path, 'summary']))
    const asked = whole.asked.with(folded)
    fitted = view.withFrame(renderer.frame({ context: whole.context, asked }, whole), trace)
    tokens = computeCost(fitted)
  }
  if (tokens > budget.tokens) {
    const message = `The prompt needs ${tokens} tokens and its budget is ${budget.tokens}. Nothing more can be folded: the remaining sections were requested in full or have no summary.`
    trace.push({ type: 'budget-exceeded', budget: budget.tokens, tokens, message })
  }
  return view.withFrame(fitted.frame, trace)
}

function computeCost(view: BudgetView<unknown>): number {
  const { counter } = view.renderer.options
  return counter.count(view.frame.text()) + view.tools.reduce((sum, tool) => sum + toolTokens(tool, counter), 0)
}

function computeSavedBelow(path: string, folds: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const [other, saved] of folds) if (other.startsWith(`${path}.`)) sum += saved
  return sum
}

/** The sections that can be folded, in folding order. */
function candidatesIn(view: BudgetView<unknown>): Candidate[] {
  const { renderer, whole } = view
  const { registry, counter } = renderer.options
  // Prefix sums over the slots make the cost of a subtree a difference.
  const before: number[] = [0]
  let total = 0
  for (const { index } of registry.slots) {
    const node = whole.node(index)
    const cost = node ? node.tokens + node.tools.reduce((sum, tool) => sum + toolTokens(tool, counter), 0) : 0
    total += cost
    before.push(total)
  }
  const getSubtreeCost = ({ index, end }: Slot): number => (before[end] ?? total) - (before[index] ?? 0)
  const askedFull = [...whole.asked.merge()].filter(([, asked]) => asked === 'full')
  const kept = new Set(askedFull.flatMap(([path]) => [...getAncestors(path), path]))
  return registry.slots
    .filter((slot) => whole.at(slot.index) === OPEN && renderer.writer.describeSummary(slot) && !kept.has(slot.path))
    .map((slot) => {
      const folded = renderer.summaryTokens(slot, { context: whole.context, asked: whole.asked })
      return { slot, priority: slot.section.priority, saving: getSubtreeCost(slot) - folded }
    })
    .filter(({ saving }) => saving > 0)
    .sort((a, b) => a.priority - b.priority || b.saving - a.saving || b.slot.index - a.slot.index)
}
