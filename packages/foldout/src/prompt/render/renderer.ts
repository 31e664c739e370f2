import { checkValues, fillTemplate, fillChecked, hasInk, wrapTemplate, type Template } from '../../core/template.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import { askSuffix } from '../../disclosure/ask-section.ts'
import type { DisclosureStrategy, FoldedSection } from '../../disclosure/strategy.ts'
import { isVisibility, type Visibility, type VisibilityOverrides } from '../../session/visibility.ts'
import { toolTokens, type AnyTool } from '../../tools/tool.ts'
import { Frame, joinTexts, type SlotSource } from './frame.ts'
import { collectTools, RenderedNode } from './node.ts'
import type { AppliedOverrides } from '../overrides/overrides.ts'
import {
  findFullTemplate,
  getSlot,
  UNDECIDED,
  type Registry,
  type Slot,
  FOLDED,
  OPEN,
  ABSENT,
  type Shown,
} from '../definition/registry.ts'
import { callSelector, checkAsked, noSummary, wrongResult } from './selectors.ts'
import type { SelectorContext } from '../definition/section.ts'
import type { BoundValues } from '../definition/values.ts'

export interface RendererOptions {
  readonly registry: Registry
  readonly values: BoundValues
  readonly strategy: DisclosureStrategy
  readonly overrides: AppliedOverrides | undefined
  readonly counter: TokenCounter
  /** Whether questions about sections with a delegate are answered. */
  readonly delegation: boolean
}

/** The inputs of a render besides the definition and the values. */
export interface FrameInput {
  readonly context: SelectorContext
  /** The requested visibility of sections, from the session and the caller. */
  readonly asked: VisibilityOverrides
  /** Shows every enabled section in full, regardless of the requested visibility. */
  readonly openAll?: boolean
}

/** Decides how a render shows each section, and builds the texts. */
export class Renderer implements SlotSource {
  readonly options: RendererOptions
  // Nodes whose text depends only on the bound values. All frames share them.
  readonly #fullNodes = new Map<number, RenderedNode>()
  readonly #foldedNodes = new Map<number, RenderedNode>()

  /** Whether the defaults from the definition apply to this renderer. */
  readonly #isPlain: boolean

  constructor(options: RendererOptions) {
    this.options = options
    this.#isPlain = !options.overrides && !options.strategy.showCost && options.values.isComplete
  }

  /** Creates the frame for an input, based on an earlier frame if possible. */
  frame(input: FrameInput, earlier?: Frame): Frame {
    checkAsked(input.asked, earlier?.asked, (path) => this.#canFold(path))
    // The cost of opening depends on everything below a summary, which is too much to track for one number in a suffix.
    if (!earlier || input.openAll || this.options.strategy.showCost) {
      const draft = { shown: new Uint8Array(this.options.registry.slots.length), made: new Map<number, RenderedNode>() }
      this.#walk(draft, 0, draft.shown.length, this.#resolved(input))
      return new Frame({ ...draft, context: input.context, asked: input.asked }, this)
    }
    return this.#update(earlier, input)
  }

  /** Whether a section can be folded. One that does not exist is reported elsewhere. */
  #canFold(path: string): boolean {
    const slot = this.options.registry.byPath.get(path)
    return slot === undefined || this.describeSummary(slot) !== undefined
  }

  /**
   * Finds the slots with a requested visibility. Looking up the path of every slot would cost more than everything
   * else.
   */
  #resolved(input: FrameInput): ResolvedInput {
    const getAsked = new Map<number, Visibility>()
    for (const path of Object.keys(input.asked)) {
      const slot = this.options.registry.byPath.get(path)
      const asked = input.asked[path]
      if (slot && asked) getAsked.set(slot.index, asked)
    }
    return { ...input, getAsked }
  }

  #update(earlier: Frame, input: FrameInput): Frame {
    const { slots } = this.options.registry
    const draft: Draft = { shown: new Uint8Array(earlier.shown), made: new Map(earlier.made) }
    const resolved = this.#resolved(input)
    const changed: number[] = []
    let done = 0
    for (const index of this.#suspects(earlier.asked, input.asked)) {
      const slot = getSlot(slots, index)
      const isHidden = slot.parent !== -1 && draft.shown[slot.parent] !== OPEN
      if (index < done || isHidden) continue
      const shownBefore = draft.shown[index]
      const nodeBefore = draft.made.get(index)
      this.#decide(slot, resolved, draft)
      const shown = draft.shown[index]
      if (shown === shownBefore && draft.made.get(index) === nodeBefore) continue
      changed.push(index)
      if ((shownBefore === OPEN) === (shown === OPEN)) continue
      for (let i = index + 1; i < slot.end; i++) {
        changed.push(i)
        draft.shown[i] = ABSENT
        draft.made.delete(i)
      }
      if (shown === OPEN) this.#walk(draft, index + 1, slot.end, resolved)
      done = slot.end
    }
    return earlier.next({ ...draft, context: input.context, asked: input.asked }, changed)
  }

  /** Lists the slots that may look different, in document order. */
  #suspects(before: VisibilityOverrides, after: VisibilityOverrides): readonly number[] {
    const { byPath, changeable } = this.options.registry
    const suspects = changeable.map((slot) => slot.index)
    if (before === after) return suspects
    const add = (path: string): void => {
      const slot = byPath.get(path)
      if (slot) suspects.push(slot.index)
    }
    for (const path in after) if (before[path] !== after[path]) add(path)
    for (const path in before) if (!Object.hasOwn(after, path)) add(path)
    return suspects.sort((a, b) => a - b)
  }

  #walk(draft: Draft, from: number, to: number, input: ResolvedInput): void {
    const { slots, fixed, ends } = this.options.registry
    const { shown } = draft
    const isPlain = this.#isPlain && !input.openAll
    for (let index = from; index < to;) {
      const known = isPlain && !input.getAsked.has(index) ? (fixed[index] ?? UNDECIDED) : UNDECIDED
      if (known === UNDECIDED) this.#decide(getSlot(slots, index), input, draft)
      else shown[index] = known
      index = shown[index] === OPEN ? index + 1 : (ends[index] ?? to)
    }
  }

  /** Decides how a section is shown, and checks that it can be rendered that way. */
  #decide(slot: Slot, input: ResolvedInput, draft: Draft): void {
    if (!this.isEnabled(slot, input.context)) {
      draft.shown[slot.index] = ABSENT
      draft.made.delete(slot.index)
      return
    }
    const isFull = this.#visibility(slot, input) === 'full'
    draft.shown[slot.index] = isFull ? OPEN : FOLDED
    if (isFull && typeof slot.section.body === 'function') return this.#render(slot, slot.section.body, input, draft)
    if (!isFull && (slot.dynamicBelow || this.options.strategy.showCost)) {
      return this.#make(slot, 'summary', this.#summaryText(slot, input.context, input), draft)
    }
    draft.made.delete(slot.index)
    // The text is built later, but the render itself must report any fault in it.
    const template = isFull ? this.#bodyOf(slot) : this.#getSummary(slot)
    checkValues(template, this.options.values.of(slot), slot.path)
  }

  #render(slot: Slot, render: Exclude<Slot['section']['body'], Template>, input: FrameInput, draft: Draft): void {
    const body: unknown = callSelector('render', slot, () =>
      render(this.options.values.of(slot) as never, input.context),
    )
    if (typeof body === 'string')
      return this.#make(slot, 'full', joinTexts([slot.heading, isBlank(body) ? '' : body, slot.examples]), draft)
    if (body !== undefined && body !== null) {
      throw wrongResult('render', slot, body, 'a string, or nothing to leave the section out')
    }
    draft.shown[slot.index] = ABSENT
    draft.made.delete(slot.index)
  }

  /** Keeps a node with the frame. If its text is unchanged, the earlier node is reused. */
  #make(slot: Slot, visibility: Visibility, text: string, draft: Draft): void {
    const before = draft.made.get(slot.index)
    if (before?.visibility === visibility && before.text === text) return
    draft.made.set(slot.index, this.#node(slot, visibility, text))
  }

  textAt(index: number, shown: Shown): string {
    const { registry, strategy, values, overrides } = this.options
    const template = shown === OPEN ? registry.full[index] : registry.folds.get(strategy)?.[index]
    if (template && registry.fixed[index] !== UNDECIDED && !overrides) return fillChecked(template, values.flat)
    const slot = getSlot(registry.slots, index)
    return shown === OPEN ? this.#fullText(slot) : this.#foldedText(slot)
  }

  nodeAt(index: number, shown: Shown): RenderedNode {
    const nodes = shown === OPEN ? this.#fullNodes : this.#foldedNodes
    let node = nodes.get(index)
    if (!node) {
      const slot = getSlot(this.options.registry.slots, index)
      node = this.#node(slot, shown === OPEN ? 'full' : 'summary', this.textAt(index, shown))
      nodes.set(index, node)
    }
    return node
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

  #visibility(slot: Slot, input: ResolvedInput): Visibility {
    if (input.openAll) return 'full'
    const wanted = this.#wanted(slot, input)
    if (wanted === 'summary' && !this.describeSummary(slot)) throw noSummary(slot.path)
    return wanted
  }

  #wanted(slot: Slot, input: ResolvedInput): Visibility {
    const asked = input.getAsked.size > 0 ? input.getAsked.get(slot.index) : undefined
    if (asked !== undefined) return asked
    const overridden = this.options.overrides?.sections.get(slot.path)?.visibility
    if (overridden !== undefined) return overridden
    const { visibility } = slot.section
    // What is cheaper was asked for.
    if (visibility === 'auto') return 'full'
    if (typeof visibility !== 'function') return visibility
    const result: unknown = callSelector('visibility', slot, () =>
      visibility(this.options.values.of(slot) as never, input.context),
    )
    if (isVisibility(result)) return result
    throw wrongResult('visibility', slot, result, "'full' or 'summary'")
  }

  #bodyOf(slot: Slot): Template {
    return this.getBody(slot) as Template
  }

  getBody(slot: Slot): Slot['section']['body'] {
    return this.options.overrides?.sections.get(slot.path)?.body ?? slot.section.body
  }

  #fullText(slot: Slot): string {
    const values = this.options.values.of(slot)
    const body = this.#bodyOf(slot)
    const template = body === slot.section.body ? findFullTemplate(this.options.registry, slot) : undefined
    if (template) return fillChecked(template, values)
    const text = fillChecked(body, values)
    return joinTexts([slot.heading, isBlank(text) ? '' : text, slot.examples])
  }

  /** Returns the text of a summary that depends only on the bound values. */
  #foldedText(slot: Slot): string {
    const template = this.#foldTemplate(slot)
    return template ? fillChecked(template, this.options.values.of(slot)) : this.#summaryText(slot, NO_CONTEXT)
  }

  /** Returns the text of a folded section. With `input`, includes the cost of opening if the strategy shows it. */
  #summaryText(slot: Slot, context: SelectorContext, input?: FrameInput): string {
    const summary = fillTemplate(this.#getSummary(slot), this.options.values.of(slot), slot.path)
    const suffix = this.#suffix(slot, context)
    const cost = input && this.options.strategy.showCost ? `\n${this.#costLine(slot, input)}` : ''
    return `${joinTexts([slot.heading, isBlank(summary) ? '' : summary])}\n\n---\n${suffix}${cost}`
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

  /** Counts the tokens of a section when it is folded. */
  summaryTokens(slot: Slot, input: FrameInput): number {
    return this.options.counter.count(this.#summaryText(slot, input.context, input))
  }

  #node(slot: Slot, visibility: Visibility, text: string): RenderedNode {
    return new RenderedNode(slot, visibility, text, this.getTools(slot), this.options.counter)
  }

  /** Returns the section's summary with the bound values, or `undefined` if it has none. */
  getSummary(slot: Slot): string | undefined {
    const summary = this.describeSummary(slot)
    return summary && fillTemplate(summary, this.options.values.of(slot), slot.path)
  }

  /** Returns the summary of a folded section, which must have one. */
  #getSummary(slot: Slot): Template {
    const summary = this.describeSummary(slot)
    if (!summary) throw noSummary(slot.path)
    return summary
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

  /**
   * Describes the cost of opening a section: its text, including everything visible below it, and its tools'
   * definitions.
   */
  #costLine(slot: Slot, input: FrameInput): string {
    const { counter, registry } = this.options
    const draft: Draft = { shown: new Uint8Array(registry.slots.length), made: new Map() }
    const opened = { ...input, asked: { ...input.asked, [slot.path]: 'full' as const } }
    this.#walk(draft, slot.index, slot.end, this.#resolved(opened))
    const nodes = new Frame({ ...draft, ...opened }, this).nodes(slot.index, slot.end)
    const tools = collectTools(nodes).reduce((sum, tool) => sum + toolTokens(tool, counter), 0)
    const tokens = counter.count(joinTexts(nodes.map((node) => node.text))) + tools
    return `[Opening it costs ${counter.exact ? '' : 'about '}${tokens} tokens.]`
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

interface ResolvedInput extends FrameInput {
  readonly getAsked: ReadonlyMap<number, Visibility>
}

/** The inputs of a frame. */
interface Draft {
  readonly shown: Uint8Array
  readonly made: Map<number, RenderedNode>
}

/** Lazy: an `enabled` selector below a folded section need not run for strategies that ignore tools. */
class FoldedSlot implements FoldedSection {
  readonly path: string
  readonly #renderer: Renderer
  readonly #slot: Slot
  readonly #context: SelectorContext

  constructor(renderer: Renderer, slot: Slot, context: SelectorContext) {
    this.path = slot.path
    this.#renderer = renderer
    this.#slot = slot
    this.#context = context
  }

  get childKeys(): readonly string[] {
    return this.#renderer.getEnabledChildren(this.#slot, this.#context).map((child) => child.section.key)
  }

  get hasTools(): boolean {
    return this.#renderer.hasTools(this.#slot, this.#context)
  }
}

function isBlank(text: string): boolean {
  return !/\S/.test(text)
}
