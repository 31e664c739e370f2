import { PromptRenderError, PromptValidationError, messageOf } from '../core/errors.ts'
import { fillTemplate, hasInk, wrapped, type Template } from '../core/template.ts'
import type { TokenCounter } from '../core/tokens.ts'
import type { DisclosureStrategy, FoldedSection } from '../disclosure/strategy.ts'
import { isVisibility, type Visibility, type VisibilityOverrides } from '../session/visibility.ts'
import { toolTokens, type AnyTool } from '../tools/tool.ts'
import { joinTexts, newFrame, nextFrame, type Frame, type Nodes } from './frame.ts'
import { RenderedNode } from './node.ts'
import type { AppliedOverrides } from './overrides.ts'
import type { Registry, Slot } from './registry.ts'
import type { SelectorContext } from './section.ts'
import type { BoundValues } from './values.ts'

export interface RendererOptions {
  readonly registry: Registry
  readonly values: BoundValues
  readonly strategy: DisclosureStrategy
  readonly overrides: AppliedOverrides | undefined
  readonly counter: TokenCounter
}

/** What decides a render besides the definition and the values. */
export interface FrameInput {
  readonly context: SelectorContext
  /** What was asked of sections, whoever asked. */
  readonly asked: VisibilityOverrides
  /** Shows every enabled section in full, whatever was asked. */
  readonly openAll?: boolean
}

/**
 * Decides section by section what a render shows. Nodes are kept: one whose text cannot depend on anything but the bound
 * values is made once, and a frame made from an earlier frame touches only what may have changed.
 */
export class Renderer {
  readonly options: RendererOptions
  readonly #fullNodes: (RenderedNode | undefined)[]
  readonly #summaryNodes: (RenderedNode | undefined)[]

  constructor(options: RendererOptions) {
    this.options = options
    const { length } = options.registry.slots
    this.#fullNodes = new Array(length).fill(undefined)
    this.#summaryNodes = new Array(length).fill(undefined)
  }

  /** The frame for some input, made from an earlier one where that is right. */
  frame(input: FrameInput, earlier?: Frame): Frame {
    this.#refuseMissingSummaries(input.asked, earlier?.asked)
    // What opening costs depends on all that lies below a summary: too much to follow for a figure in a suffix.
    if (!earlier || input.openAll || this.options.strategy.showCost) {
      const nodes: Nodes = new Array(this.options.registry.slots.length).fill(undefined)
      this.#walk(nodes, 0, nodes.length, input)
      return newFrame(nodes, input)
    }
    return this.#update(earlier, input)
  }

  #update(earlier: Frame, input: FrameInput): Frame {
    const { slots } = this.options.registry
    const nodes = [...earlier.nodes]
    const changed = new Set<number>()
    let done = 0
    for (const index of this.#suspects(earlier.asked, input.asked)) {
      const slot = slots[index]!
      const isHidden = slot.parent !== -1 && nodes[slot.parent]?.visibility !== 'full'
      if (index < done || isHidden) continue
      const before = nodes[index]
      const after = this.#decide(slot, input, before)
      if (after === before) continue
      nodes[index] = after
      changed.add(index)
      if ((before?.visibility === 'full') === (after?.visibility === 'full')) continue
      nodes.fill(undefined, index + 1, slot.end)
      if (after?.visibility === 'full') this.#walk(nodes, index + 1, slot.end, input)
      for (let i = index + 1; i < slot.end; i++) changed.add(i)
      done = slot.end
    }
    return nextFrame(nodes, input, earlier, changed)
  }

  /** The slots that may look different, in walking order. */
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

  #walk(nodes: Nodes, from: number, to: number, input: FrameInput): void {
    const { slots } = this.options.registry
    for (let index = from; index < to;) {
      const slot = slots[index]!
      const node = this.#decide(slot, input, undefined)
      nodes[index] = node
      index = node?.visibility === 'full' ? index + 1 : slot.end
    }
  }

  /** A section's node, or none if it is disabled or its renderer leaves it out. `before` is used again if it is the same. */
  #decide(slot: Slot, input: FrameInput, before: RenderedNode | undefined): RenderedNode | undefined {
    if (!this.isEnabled(slot, input.context)) return undefined
    return this.#visibility(slot, input) === 'full'
      ? this.#fullNode(slot, input, before)
      : this.#summaryNode(slot, input, before)
  }

  isEnabled(slot: Slot, context: SelectorContext): boolean {
    const { enabled } = slot.section
    if (typeof enabled !== 'function') return enabled
    const result: unknown = this.#select('enabled', slot, () =>
      enabled(this.options.values.asGiven(slot) as never, context),
    )
    if (typeof result === 'boolean') return result
    throw new PromptRenderError(
      `Section '${slot.path}': its \`enabled\` returned ${describe(result)}. It must return true or false.`,
      { path: slot.path },
    )
  }

  #visibility(slot: Slot, input: FrameInput): Visibility {
    if (input.openAll) return 'full'
    const wanted = this.#wanted(slot, input)
    if (wanted === 'summary' && !this.summaryOf(slot)) throw noSummary(slot.path)
    return wanted
  }

  #wanted(slot: Slot, input: FrameInput): Visibility {
    const asked: unknown = input.asked[slot.path]
    // Compared, because a section may have the key `constructor`, which every object seems to have.
    if (isVisibility(asked)) return asked
    const overridden = this.options.overrides?.sections.get(slot.path)?.visibility
    if (overridden !== undefined) return overridden
    const { visibility } = slot.section
    if (typeof visibility !== 'function') return visibility
    const result: unknown = this.#select('visibility', slot, () =>
      visibility(this.options.values.of(slot) as never, input.context),
    )
    if (isVisibility(result)) return result
    throw new PromptRenderError(
      `Section '${slot.path}': its \`visibility\` returned ${describe(result)}. It must return 'full' or 'summary'.`,
      { path: slot.path },
    )
  }

  #select(what: string, slot: Slot, select: () => unknown): unknown {
    try {
      return select()
    } catch (error) {
      if (error instanceof PromptRenderError) throw error
      throw new PromptRenderError(`Section '${slot.path}': its \`${what}\` threw: ${messageOf(error)}`, {
        path: slot.path,
        cause: error,
      })
    }
  }

  #fullNode(slot: Slot, input: FrameInput, before: RenderedNode | undefined): RenderedNode | undefined {
    const { section } = slot
    if (typeof section.body !== 'function') {
      return (this.#fullNodes[slot.index] ??= this.#node(slot, 'full', this.#fullText(slot)))
    }
    const render = section.body
    const body: unknown = this.#select('render', slot, () =>
      render(this.options.values.of(slot) as never, input.context),
    )
    if (body === undefined || body === null) return undefined
    if (typeof body !== 'string') {
      throw new PromptRenderError(
        `Section '${slot.path}': its \`render\` returned ${describe(body)}. It must return a string, or nothing to leave the section out.`,
        { path: slot.path },
      )
    }
    return this.#again(before, this.#node(slot, 'full', composed(slot, isBlank(body) ? '' : body)))
  }

  #fullText(slot: Slot): string {
    const body = this.options.overrides?.sections.get(slot.path)?.body
    if (!body && slot.full) return fillTemplate(slot.full, this.options.values.of(slot), slot.path)
    return composed(slot, this.#filled(body ?? (slot.section.body as Template), slot))
  }

  /** A template with its values, or an empty string if that is blank. */
  #filled(template: Template, slot: Slot): string {
    const text = fillTemplate(template, this.options.values.of(slot), slot.path)
    return isBlank(text) ? '' : text
  }

  #summaryNode(slot: Slot, input: FrameInput, before: RenderedNode | undefined): RenderedNode {
    const known = this.#summaryNodes[slot.index]
    if (known) return known
    if (slot.dynamicBelow || this.options.strategy.showCost) {
      return this.#again(before, this.#node(slot, 'summary', this.#summaryText(slot, input)))
    }
    const template = this.#foldTemplate(slot, input)
    const text = template
      ? fillTemplate(template, this.options.values.of(slot), slot.path)
      : this.#summaryText(slot, input)
    return (this.#summaryNodes[slot.index] = this.#node(slot, 'summary', text))
  }

  #summaryText(slot: Slot, input: FrameInput): string {
    const summary = this.#filled(this.summaryOf(slot)!, slot)
    return `${slot.heading}\n\n${summary}${summary === '' ? '' : '\n\n'}---\n${this.#suffix(slot, input)}`
  }

  /** Heading, summary and suffix as one template, where they are the same for all who render with this strategy. */
  #foldTemplate(slot: Slot, input: FrameInput): Template | undefined {
    const { summary } = slot.section
    if (!summary || this.summaryOf(slot) !== summary || !hasInk(summary)) return undefined
    const { registry, strategy } = this.options
    let templates = registry.folds.get(strategy)
    if (!templates) registry.folds.set(strategy, (templates = new Array(registry.slots.length).fill(undefined)))
    return (templates[slot.index] ??= wrapped(`${slot.heading}\n\n`, summary, `\n\n---\n${this.#suffix(slot, input)}`))
  }

  /** What a section would cost as its summary. */
  summaryTokens(slot: Slot, input: FrameInput): number {
    return this.#summaryNode(slot, input, undefined).tokens
  }

  #again(before: RenderedNode | undefined, node: RenderedNode): RenderedNode {
    return before?.visibility === node.visibility && before.text === node.text ? before : node
  }

  #node(slot: Slot, visibility: Visibility, text: string): RenderedNode {
    return new RenderedNode(slot, visibility, text, this.toolsOf(slot), this.options.counter)
  }

  summaryOf(slot: Slot): Template | undefined {
    return this.options.overrides?.sections.get(slot.path)?.summary ?? slot.section.summary
  }

  #suffix(slot: Slot, input: FrameInput): string {
    const { section, path } = slot
    const { strategy, counter } = this.options
    const line = section.summarySuffix
      ? fillTemplate(section.summarySuffix, { section_key: path }, path)
      : strategy.suffix(this.folded(slot, input.context))
    if (!strategy.showCost) return line
    const tokens = this.#openingCost(slot, input)
    return `${line}\n[Opening it costs ${counter.exact ? '' : 'about '}${tokens} tokens.]`
  }

  /** What a section adds once it is open: the text of all that it shows, and its tools' definitions. */
  #openingCost(slot: Slot, input: FrameInput): number {
    const nodes: Nodes = []
    this.#walk(nodes, slot.index, slot.end, { ...input, asked: { ...input.asked, [slot.path]: 'full' } })
    const { counter } = this.options
    const tools = nodes.flatMap((node) => node?.tools ?? [])
    return (
      counter.count(joinTexts(nodes.map((node) => node?.text))) +
      tools.reduce((sum, tool) => sum + toolTokens(tool, counter), 0)
    )
  }

  folded(slot: Slot, context: SelectorContext): FoldedSection {
    return new FoldedSlot(this, slot, context)
  }

  enabledChildren(slot: Slot, context: SelectorContext): Slot[] {
    return slot.children
      .map((index) => this.options.registry.slots[index]!)
      .filter((child) => this.isEnabled(child, context))
  }

  /** Whether an enabled section or any enabled one in it has tools. */
  hasTools(slot: Slot, context: SelectorContext): boolean {
    if (!slot.toolsBelow) return false
    if (slot.section.tools.length > 0 || !slot.dynamicBelow) return true
    return this.enabledChildren(slot, context).some((child) => this.hasTools(child, context))
  }

  toolsOf(slot: Slot): readonly AnyTool[] {
    const replaced = this.options.overrides?.tools
    if (!replaced || replaced.size === 0) return slot.section.tools
    return slot.section.tools.map((tool) => replaced.get(tool.name) ?? tool)
  }

  #refuseMissingSummaries(asked: VisibilityOverrides, checked: VisibilityOverrides | undefined): void {
    if (asked === checked) return
    for (const path in asked) {
      const visibility: unknown = asked[path]
      if (checked?.[path] === visibility) continue
      if (!isVisibility(visibility)) {
        throw new PromptValidationError(
          `The visibility asked for section '${path}' is ${describe(visibility)}. Use 'full' or 'summary'.`,
          { path },
        )
      }
      const slot = this.options.registry.byPath.get(path)
      if (visibility === 'summary' && slot && !this.summaryOf(slot)) throw noSummary(path)
    }
  }
}

/** Asks only when it is asked: an `enabled` below a folded section need not run for strategies that do not care. */
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
    return this.#renderer.enabledChildren(this.#slot, this.#context).map((child) => child.section.key)
  }

  get hasTools(): boolean {
    return this.#renderer.hasTools(this.#slot, this.#context)
  }
}

/** Heading, body and examples, without those that are empty. */
function composed(slot: Slot, body: string): string {
  return joinTexts([slot.heading, body, slot.examples])
}

function noSummary(path: string): PromptValidationError {
  return new PromptValidationError(
    `Section '${path}' is to be shown as its summary, but it has none. Give it a \`summary\`.`,
    { path },
  )
}

function isBlank(text: string): boolean {
  return !/\S/.test(text)
}

function describe(value: unknown): string {
  if (value instanceof Promise) return 'a promise'
  return typeof value === 'string' ? `'${value}'` : String(value)
}
