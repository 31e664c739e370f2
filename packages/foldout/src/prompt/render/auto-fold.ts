import { chooseFolds, type Foldable, type FoldChoice, type FoldPrice, type FoldTerms } from '../../core/price/fold.ts'
import { USUAL_CACHE } from '../../core/price/prompt-cache.ts'
import { getAncestors } from '../../core/text.ts'
import type { SessionReader } from '../../session/contract.ts'
import type { VisibilityOverrides } from '../../session/visibility.ts'
import { toolTokens } from '../../tools/definition.ts'
import { NOTHING_ASKED } from './asked.ts'
import type { Frame } from './frame.ts'
import { getSlot, type Slot } from '../definition/registry.ts'
import type { Renderer } from './renderer.ts'

/**
 * Says whether a section with `visibility: 'auto'` was folded, and why.
 *
 * @example
 * ```ts
 * const isAuto = (entry: TraceEntry): entry is AutoTrace => entry.type.startsWith('auto')
 * bound.render().trace.filter(isAuto).map(({ path, need }) => `${path}: ${need}`) // => []
 * ```
 */
export interface AutoTrace {
  readonly type: 'auto-folded' | 'auto-open'
  readonly path: string
  /** The share of conversations that are expected to need it. */
  readonly need: number
  /** What folding it saves in a conversation, in tokens at the price of input; negative if it costs. */
  readonly saved: number
  readonly message: string
}

export interface AutoFolds {
  /** The sections to fold. */
  readonly asked: VisibilityOverrides
  readonly trace: readonly AutoTrace[]
}

/** The share of conversations that need a section if nobody has said so. */
export const DEFAULT_NEED = 0.2
const DEFAULT_PER_HOUR = 40
const DEFAULT_REQUESTS = 10
/** The tool that opens sections. */
const TOOL_TOKENS = 110

const NOTHING: AutoFolds = { asked: Object.freeze({}), trace: [] }
const known = new WeakMap<Renderer, Map<string, AutoFolds>>()

/** Decides which sections with `visibility: 'auto'` to fold. The decision is made once for each price. */
export function decideAutoFolds(renderer: Renderer, price: FoldPrice, session: SessionReader): AutoFolds {
  const slots = listAuto(renderer)
  if (slots.length === 0) return NOTHING
  const { cache = USUAL_CACHE, perHour = DEFAULT_PER_HOUR, requests = DEFAULT_REQUESTS } = price
  const byPrice = known.get(renderer) ?? new Map<string, AutoFolds>()
  known.set(renderer, byPrice)
  const key = JSON.stringify([cache, perHour, requests])
  const decided = byPrice.get(key) ?? decide(renderer, slots, { cache, perHour, requests, session })
  byPrice.set(key, decided)
  return decided
}

const autoSlots = new WeakMap<Renderer, readonly Slot[]>()

function listAuto(renderer: Renderer): readonly Slot[] {
  const listed = autoSlots.get(renderer) ?? renderer.options.registry.slots.filter((slot) => isAuto(slot, renderer))
  autoSlots.set(renderer, listed)
  return listed
}

function isAuto({ section, path }: Slot, { options }: Renderer): boolean {
  return section.visibility === 'auto' && options.overrides?.sections.get(path)?.visibility === undefined
}

interface Question extends Pick<FoldTerms, 'cache' | 'perHour' | 'requests'> {
  readonly session: SessionReader
}

function decide(renderer: Renderer, slots: readonly Slot[], { session, ...price }: Question): AutoFolds {
  const context = { session }
  const frame = renderer.frame({ context, asked: NOTHING_ASKED, openAll: true })
  const shown = slots.filter(({ index }) => frame.node(index) !== undefined)
  const costs = shown.map((slot): Foldable => {
    const folded = renderer.summaryTokens(slot, { context, asked: NOTHING_ASKED })
    // Opening what is inside opens it too.
    const requests = slot.children.length > 0 ? 0 : 1
    const need = slot.section.need ?? DEFAULT_NEED
    return { need, full: countSubtree(slot, frame, renderer), folded, requests, hasTools: slot.toolsBelow }
  })
  const outermost = new Set(shown.map(({ path }) => path))
  const inside = shown.map(({ path }) => getAncestors(path).some((each) => outermost.has(each)))
  const whole = countRange(frame, renderer, 0, renderer.options.registry.slots.length)
  const base = whole - costs.reduce((sum, { full }, at) => sum + (inside[at] ? 0 : full), 0)
  const hasTools = renderer.options.registry.slots.some(
    ({ index, path, section }) =>
      section.visibility === 'full' &&
      frame.nodes(index, index + 1).some(({ tools }) => tools.length > 0) &&
      ![path, ...getAncestors(path)].some((each) => outermost.has(each)),
  )
  const choice = chooseFolds(costs, { ...price, base, hasTools, tool: TOOL_TOKENS })
  const folds = shown.filter((_, at) => choice.folded.has(at))
  return {
    asked: Object.freeze(Object.fromEntries(folds.map(({ path }) => [path, 'summary' as const]))),
    trace: shown.map(({ path }, at) => describeChoice(path, at, { costs, choice, price })),
  }
}

/** A section's own tokens, and those of the sections inside it as far as they are not folded by themselves. */
function countSubtree(slot: Slot, frame: Frame, renderer: Renderer): number {
  const { slots } = renderer.options.registry
  let sum = countRange(frame, renderer, slot.index, slot.index + 1)
  for (const index of slot.children) {
    const child = getSlot(slots, index)
    const isOpen = child.section.visibility === 'full'
    if (!isOpen && renderer.writer.describeSummary(child))
      sum += renderer.summaryTokens(child, { context: frame.context, asked: NOTHING_ASKED })
    else sum += countSubtree(child, frame, renderer)
  }
  return sum
}

function countRange(frame: Frame, { options }: Renderer, from: number, to: number): number {
  const nodes = frame.nodes(from, to)
  const tools = nodes.flatMap((node) => node.tools)
  return (
    nodes.reduce((sum, node) => sum + node.tokens, 0) +
    tools.reduce((sum, tool) => sum + toolTokens(tool, options.counter), 0)
  )
}

interface Chosen {
  readonly costs: readonly Foldable[]
  readonly choice: FoldChoice
  readonly price: Omit<Question, 'session'>
}

function describeChoice(path: string, at: number, { costs, choice, price }: Chosen): AutoTrace {
  const { need = 0, full = 0, folded = 0 } = costs[at] ?? {}
  const isFolded = choice.folded.has(at)
  const saved = Math.round(choice.saves[at] ?? 0)
  const { read, write, minimum } = price.cache
  const facts = `${Math.round(need * 100)} % of ${price.perHour} conversations an hour need it, it has ${full} tokens open and ${folded} folded, and the cache reads at ${read}, writes at ${write} and begins at ${minimum} tokens`
  return {
    type: isFolded ? 'auto-folded' : 'auto-open',
    path,
    need,
    saved,
    message: `Section '${path}' ${isFolded ? 'was folded' : 'stays open'}: ${describeWhy(isFolded, saved)} (${facts}).`,
  }
}

function describeWhy(isFolded: boolean, saved: number): string {
  if (isFolded) return `folding it saves ${saved} tokens a conversation`
  if (saved <= 0) return `folding it would cost ${-saved} tokens a conversation`
  return 'with it folded too, the prompt would be cached less'
}
