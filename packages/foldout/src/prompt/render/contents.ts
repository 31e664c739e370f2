import type { TokenCounter } from '../../core/tokens/tokens.ts'
import { MIN_SEARCHED_SECTIONS } from '../../disclosure/limits.ts'
import { MAX_CONTENTS_TOKENS } from '../definition/limits.ts'
import type { Frame } from './frame.ts'
import { ListedNode, type RenderedNode } from './node.ts'
import { showLists } from './lists.ts'
import { getSlot, type Slot, FOLDED } from '../definition/registry.ts'
import type { Renderer } from './renderer.ts'

/** The folded children of one open section. */
interface Branch {
  readonly parent: string
  readonly slots: readonly Slot[]
  /** The tokens of each way to list them, in the order of {@link FORMS}. */
  readonly costs: number[]
  form: number
}

/** From the longest to the shortest: summaries, headings, names, a count. */
const FORMS = [listSummaries, listHeadings, listNames, listCount] as const

/**
 * Shortens the table of contents of a large prompt: if the summaries of its folded sections are too long together,
 * branches show headings, then names, then only how many sections they have. All of them can be found by what they say.
 */
export function fitContents(given: Frame, renderer: Renderer): Frame {
  const { registry, strategy, counter } = renderer.options
  const isLarge = registry.slots.length >= MIN_SEARCHED_SECTIONS
  const hint = strategy.contentsHint?.(isLarge)
  if (hint === undefined) return given
  const frame = showLists(given, renderer, hint)
  if (!isLarge) return frame
  const branches = findBranches(frame, registry.slots, (slot) => renderer.writer.isAsked(slot))
  const context: ListContext = { frame, hint, counter }
  let total = branches.reduce((sum, branch) => sum + computeCost(branch, 0, context), 0)
  if (total <= MAX_CONTENTS_TOKENS) return frame
  for (let form = 1; form < FORMS.length && total > MAX_CONTENTS_TOKENS; form++) {
    const ordered = branches.toSorted((a, b) => (b.costs[b.form] ?? 0) - (a.costs[a.form] ?? 0))
    for (const branch of ordered) {
      const saved = (branch.costs[branch.form] ?? 0) - computeCost(branch, form, context)
      if (saved <= 0) continue
      branch.form = form
      total -= saved
      if (total <= MAX_CONTENTS_TOKENS) break
    }
  }
  return showForms(branches, renderer, context)
}

function findBranches(frame: Frame, slots: readonly Slot[], isAsked: (slot: Slot) => boolean): readonly Branch[] {
  const byParent = new Map<number, Slot[]>()
  for (const slot of slots) {
    // A section that is asked can only be found by its summary. Lists have budgets of their own.
    if (frame.at(slot.index) !== FOLDED || isAsked(slot) || slot.section.listed !== undefined) continue
    const branch = byParent.get(slot.parent)
    if (branch) branch.push(slot)
    else byParent.set(slot.parent, [slot])
  }
  return [...byParent].map(([parent, folded]) => ({
    parent: parent === -1 ? '' : getSlot(slots, parent).path,
    slots: folded,
    costs: [],
    form: 0,
  }))
}

interface ListContext {
  readonly frame: Frame
  readonly hint: string
  readonly counter: TokenCounter
}

type Listed = Pick<Branch, 'parent' | 'slots'>

function computeCost(branch: Branch, form: number, context: ListContext): number {
  const texts = FORMS[form]?.(branch, context) ?? []
  const cost = texts.reduce((sum, text) => sum + context.counter.count(text), 0)
  branch.costs[form] = cost
  return cost
}

function listSummaries({ slots }: Listed, { frame }: ListContext): readonly string[] {
  return slots.map(({ index }) => frame.node(index)?.text ?? '')
}

function listHeadings({ slots }: Listed, { hint }: ListContext): readonly string[] {
  const lines = slots.map(({ heading, path }) => `${heading} [key: "${path}"]`)
  return [...lines.slice(0, -1), `${lines.at(-1) ?? ''}\n\n[These sections are summarized. ${hint}]`]
}

function listNames({ parent, slots }: Listed, { hint }: ListContext): readonly string[] {
  const names = slots.map(({ section }) => section.key).join(', ')
  const keys = parent === '' ? '' : ` Their keys begin with "${parent}.".`
  return [`[Summarized sections${describeBranch(parent)}: ${names}.${keys} ${hint}]`]
}

function listCount({ parent, slots }: Listed, { hint }: ListContext): readonly string[] {
  const count = slots.length === 1 ? '1 summarized section' : `${slots.length} summarized sections`
  return [`[${count}${describeBranch(parent)}. ${hint}]`]
}

function describeBranch(parent: string): string {
  if (parent === '') return ''
  return ` in "${parent}"`
}

/** The first sections of a branch carry its lines; the others show nothing. */
function showForms(branches: readonly Branch[], renderer: Renderer, context: ListContext): Frame {
  const { frame } = context
  const made = new Map<number, RenderedNode>(frame.made)
  const changed: number[] = []
  for (const branch of branches) {
    if (branch.form === 0) continue
    const texts = FORMS[branch.form]?.(branch, context) ?? []
    for (const [at, slot] of branch.slots.entries()) {
      made.set(slot.index, new ListedNode(slot, texts[at] ?? '', renderer.options.counter))
      changed.push(slot.index)
    }
  }
  return frame.next({ shown: frame.shown, made, context: frame.context, asked: frame.asked }, changed)
}
