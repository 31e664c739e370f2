import { fillChecked, fillTemplate, hasInk, wrapTemplate, type Template } from '../../core/template.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import { askSuffix } from '../../disclosure/ask-section.ts'
import type { DisclosureStrategy, FoldedSection } from '../../disclosure/strategy.ts'
import type { Visibility } from '../../session/visibility.ts'
import type { AnyTool } from '../../tools/tool.ts'
import {
  findFullTemplate,
  getSlot,
  OPEN,
  UNDECIDED,
  type Registry,
  type Shown,
  type Slot,
} from '../definition/registry.ts'
import type { SelectorContext } from '../definition/section.ts'
import type { BoundValues } from '../definition/values.ts'
import type { AppliedOverrides } from '../overrides/overrides.ts'
import { joinTexts, type SlotSource } from './frame.ts'
import { RenderedNode } from './node.ts'
import { callSelector, noSummary, wrongResult } from './selectors.ts'

export interface RenderOptions {
  readonly registry: Registry
  readonly values: BoundValues
  readonly strategy: DisclosureStrategy
  readonly overrides: AppliedOverrides | undefined
  readonly counter: TokenCounter
  /** Whether questions about sections with a delegate are answered. */
  readonly delegation: boolean
}

/** Builds the text of each section, folded and open, and knows its tools. */
export class SectionWriter implements SlotSource {
  readonly options: RenderOptions
  // Nodes whose text depends only on the bound values. All frames share them.
  readonly #fullNodes = new Map<number, RenderedNode>()
  readonly #foldedNodes = new Map<number, RenderedNode>()

  constructor(options: RenderOptions) {
    this.options = options
  }

  textAt(index: number, shown: Shown): string {
    const { registry, strategy, values, overrides } = this.options
    const template = shown === OPEN ? registry.full[index] : registry.folds.get(strategy)?.[index]
    if (template && registry.fixed[index] !== UNDECIDED && !overrides) return fillChecked(template, values.flat)
    const slot = getSlot(registry.slots, index)
    if (shown === OPEN) return this.#fullText(slot)
    return this.#foldedText(slot)
  }

  nodeAt(index: number, shown: Shown): RenderedNode {
    const nodes = shown === OPEN ? this.#fullNodes : this.#foldedNodes
    let node = nodes.get(index)
    if (!node) {
      const slot = getSlot(this.options.registry.slots, index)
      node = this.createNode(slot, shown === OPEN ? 'full' : 'summary', this.textAt(index, shown))
      nodes.set(index, node)
    }
    return node
  }

  createNode(slot: Slot, visibility: Visibility, text: string): RenderedNode {
    return new RenderedNode(slot, visibility, text, this.getTools(slot), this.options.counter)
  }

  getBody(slot: Slot): Slot['section']['body'] {
    return this.options.overrides?.sections.get(slot.path)?.body ?? slot.section.body
  }

  getTemplate(slot: Slot): Template {
    return this.getBody(slot) as Template
  }

  #fullText(slot: Slot): string {
    const values = this.options.values.of(slot)
    const body = this.getTemplate(slot)
    const template = body === slot.section.body ? findFullTemplate(this.options.registry, slot) : undefined
    if (template) return fillChecked(template, values)
    const text = fillChecked(body, values)
    return joinTexts([slot.heading, isBlank(text) ? '' : text, slot.examples])
  }

  /** Returns the text of a summary that depends only on the bound values. */
  #foldedText(slot: Slot): string {
    const template = this.#foldTemplate(slot)
    if (template) return fillChecked(template, this.options.values.of(slot))
    return this.getSummaryText(slot, NO_CONTEXT)
  }

  /** Returns the text of a folded section, with a line about the cost of opening it if there is one. */
  getSummaryText(slot: Slot, context: SelectorContext, costLine?: string): string {
    const summary = fillTemplate(this.getFoldedTemplate(slot), this.options.values.of(slot), slot.path)
    const suffix = [this.#suffix(slot, context), costLine].filter(Boolean).join('\n')
    return `${joinTexts([slot.heading, isBlank(summary) ? '' : summary])}\n\n---\n${suffix}`
  }

  /** Returns heading, summary and suffix as one template, if they are the same for every render with this strategy. */
  #foldTemplate(slot: Slot): Template | undefined {
    const { registry, strategy } = this.options
    let templates = registry.folds.get(strategy)
    if (!templates) registry.folds.set(strategy, (templates = new Array(registry.slots.length).fill(undefined)))
    const { summary } = slot.section
    // How a section with a delegate is used depends on who renders it.
    if (!summary || slot.section.delegate !== false || this.describeSummary(slot) !== summary) return undefined
    const known = templates[slot.index]
    if (known || !hasInk(summary)) return known
    const suffix = `\n\n---\n${this.#suffix(slot, NO_CONTEXT)}`
    return (templates[slot.index] = wrapTemplate(`${slot.heading}\n\n`, summary, suffix))
  }

  /** Returns the summary of a folded section, which must have one. */
  getFoldedTemplate(slot: Slot): Template {
    const summary = this.describeSummary(slot)
    if (!summary) throw noSummary(slot.path)
    return summary
  }

  /** Returns the section's summary with the bound values, or `undefined` if it has none. */
  getSummary(slot: Slot): string | undefined {
    const summary = this.describeSummary(slot)
    return summary && fillTemplate(summary, this.options.values.of(slot), slot.path)
  }

  describeSummary(slot: Slot): Template | undefined {
    return this.options.overrides?.sections.get(slot.path)?.summary ?? slot.section.summary
  }

  #suffix(slot: Slot, context: SelectorContext): string {
    const { section, path } = slot
    if (section.summarySuffix) return fillChecked(section.summarySuffix, { section_key: path })
    if (this.isAsked(slot)) return askSuffix(path)
    return this.options.strategy.suffix(this.describeFolded(slot, context))
  }

  isEnabled(slot: Slot, context: SelectorContext): boolean {
    const { enabled } = slot.section
    if (typeof enabled !== 'function') return enabled
    const result: unknown = callSelector('enabled', slot, () =>
      enabled(this.options.values.asGiven(slot) as never, context),
    )
    if (typeof result === 'boolean') return result
    throw wrongResult('enabled', slot, result, 'true or false')
  }

  /** Whether a section is asked, while it is folded, instead of opened. */
  isAsked({ section }: Slot): boolean {
    return this.options.delegation && section.delegate !== false
  }

  describeFolded(slot: Slot, context: SelectorContext): FoldedSection {
    return new FoldedSlot(this, slot, context)
  }

  getEnabledChildren(slot: Slot, context: SelectorContext): Slot[] {
    return slot.children
      .map((index) => getSlot(this.options.registry.slots, index))
      .filter((child) => this.isEnabled(child, context))
  }

  /** Whether an enabled section or one of its enabled descendants has tools. */
  hasTools(slot: Slot, context: SelectorContext): boolean {
    if (!slot.toolsBelow) return false
    if (slot.section.tools.length > 0 || slot.section.toolsOnDemand || !slot.dynamicBelow) return true
    return this.getEnabledChildren(slot, context).some((child) => this.hasTools(child, context))
  }

  getTools(slot: Slot): readonly AnyTool[] {
    const replaced = this.options.overrides?.tools
    if (!replaced || replaced.size === 0) return slot.section.tools
    return slot.section.tools.map((tool) => replaced.get(tool.name) ?? tool)
  }
}

// For suffixes of sections whose descendants do not depend on the session.
const NO_CONTEXT: SelectorContext = { session: { has: () => false, get: (slice) => slice.initial } }

/** Lazy: an `enabled` selector below a folded section need not run for strategies that ignore tools. */
class FoldedSlot implements FoldedSection {
  readonly path: string
  readonly #writer: SectionWriter
  readonly #slot: Slot
  readonly #context: SelectorContext

  constructor(writer: SectionWriter, slot: Slot, context: SelectorContext) {
    this.path = slot.path
    this.#writer = writer
    this.#slot = slot
    this.#context = context
  }

  get childKeys(): readonly string[] {
    return this.#writer.getEnabledChildren(this.#slot, this.#context).map((child) => child.section.key)
  }

  get hasTools(): boolean {
    return this.#writer.hasTools(this.#slot, this.#context)
  }
}

export function isBlank(text: string): boolean {
  return !/\S/.test(text)
}
