import { checkValues, type Template } from '../../core/template.ts'
import { isVisibility, type Visibility } from '../../session/visibility.ts'
import { toolTokens } from '../../tools/definition.ts'
import { ABSENT, FOLDED, getSlot, OPEN, UNDECIDED, type Slot } from '../definition/registry.ts'
import type { SelectorContext } from '../definition/section.ts'
import { NOTHING_ASKED, type Asked } from './asked.ts'
import { Frame, joinTexts } from './frame.ts'
import { collectTools, type RenderedNode } from './node.ts'
import { isBlank, SectionWriter, type RenderOptions } from './section-writer.ts'
import { callSelector, checkAsked, noSummary, wrongResult } from './selectors.ts'

/** The inputs of a render besides the definition and the values. */
export interface FrameInput {
  readonly context: SelectorContext
  /** The requested visibility of sections, from the session and the caller. */
  readonly asked: Asked
  /** Shows every enabled section in full, regardless of the requested visibility. */
  readonly openAll?: boolean
}

/** Decides how a render shows each section. Its writer builds the texts. */
export class Renderer {
  readonly options: RenderOptions
  readonly writer: SectionWriter
  /** The last frame of each session: the nearest to its next one. A tool may keep a view that is much older. */
  readonly latest = new WeakMap<object, Frame>()
  /** Whether the defaults from the definition apply to this renderer. */
  readonly #isPlain: boolean

  constructor(options: RenderOptions) {
    this.options = options
    this.writer = new SectionWriter(options)
    this.#isPlain = !options.overrides && !options.strategy.showCost && options.values.isComplete
  }

  /** Creates the frame for an input, based on an earlier frame if possible. */
  frame(input: FrameInput, earlier?: Frame): Frame {
    const changed = earlier ? input.asked.findChanged(earlier.asked) : [...input.asked.merge().keys()]
    for (const path of changed) checkAsked(path, input.asked.get(path), () => this.#canFold(path))
    // The cost of opening depends on everything below a summary, which is too much to track for one number in a suffix.
    if (!earlier || input.openAll || this.options.strategy.showCost) {
      const draft = { shown: new Uint8Array(this.options.registry.slots.length), made: new Map<number, RenderedNode>() }
      this.#walk(draft, 0, draft.shown.length, this.#resolved(input))
      return new Frame({ ...draft, context: input.context, asked: input.asked }, this.writer)
    }
    return this.#update(earlier, input, changed)
  }

  /** Creates the frame in which every enabled section is open. */
  frameAllOpen(context: SelectorContext): Frame {
    return this.frame({ context, asked: NOTHING_ASKED, openAll: true })
  }

  /** Whether a section can be folded. One that does not exist is reported elsewhere. */
  #canFold(path: string): boolean {
    const slot = this.options.registry.byPath.get(path)
    return slot === undefined || this.writer.describeSummary(slot) !== undefined
  }

  /** Finds what is requested, for a walk over all slots. Looking up the path of each would cost more than the rest. */
  #resolved(input: FrameInput): ResolvedInput {
    const known = new Map<number, Visibility>()
    for (const [path, asked] of input.asked.merge()) {
      const slot = this.options.registry.byPath.get(path)
      if (slot) known.set(slot.index, asked)
    }
    return { ...input, getAsked: (index) => known.get(index) }
  }

  /** The same for a few slots. Reading all requests would cost more than the rest. */
  #lookUp(input: FrameInput): ResolvedInput {
    const { slots } = this.options.registry
    return { ...input, getAsked: (index) => input.asked.get(getSlot(slots, index).path) }
  }

  #update(earlier: Frame, input: FrameInput, requested: readonly string[]): Frame {
    const { slots } = this.options.registry
    const draft: Draft = { shown: new Uint8Array(earlier.shown), made: new Map(earlier.made) }
    const resolved = this.#lookUp(input)
    const changed: number[] = []
    let done = 0
    for (const index of this.#suspects(requested)) {
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
  #suspects(requested: readonly string[]): readonly number[] {
    const { byPath, changeable } = this.options.registry
    const suspects = changeable.map((slot) => slot.index)
    for (const path of requested) {
      const slot = byPath.get(path)
      if (slot) suspects.push(slot.index)
    }
    return suspects.sort((a, b) => a - b)
  }

  #walk(draft: Draft, from: number, to: number, input: ResolvedInput): void {
    const { slots, fixed, ends } = this.options.registry
    const { shown } = draft
    const isPlain = this.#isPlain && !input.openAll
    for (let index = from; index < to;) {
      const known = isPlain && input.getAsked(index) === undefined ? (fixed[index] ?? UNDECIDED) : UNDECIDED
      if (known === UNDECIDED) this.#decide(getSlot(slots, index), input, draft)
      else shown[index] = known
      if (shown[index] === OPEN) index = index + 1
      else index = ends[index] ?? to
    }
  }

  /** Decides how a section is shown, and checks that it can be rendered that way. */
  #decide(slot: Slot, input: ResolvedInput, draft: Draft): void {
    if (!this.writer.isEnabled(slot, input.context)) {
      draft.shown[slot.index] = ABSENT
      draft.made.delete(slot.index)
      return
    }
    const isFull = this.#visibility(slot, input) === 'full'
    if (isFull) draft.shown[slot.index] = OPEN
    else draft.shown[slot.index] = FOLDED
    if (isFull && typeof slot.section.body === 'function') return this.#render(slot, slot.section.body, input, draft)
    if (!isFull && (slot.dynamicBelow || this.options.strategy.showCost)) {
      return this.#make(slot, 'summary', this.#getSummaryText(slot, input), draft)
    }
    draft.made.delete(slot.index)
    // The text is built later, but the render itself must report any fault in it.
    const template = isFull ? this.writer.getTemplate(slot) : this.writer.getFoldedTemplate(slot)
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
    draft.made.set(slot.index, this.writer.createNode(slot, visibility, text))
  }

  #visibility(slot: Slot, input: ResolvedInput): Visibility {
    if (input.openAll) return 'full'
    const wanted = this.#wanted(slot, input)
    if (wanted === 'summary' && !this.writer.describeSummary(slot)) throw noSummary(slot.path)
    return wanted
  }

  #wanted(slot: Slot, input: ResolvedInput): Visibility {
    const asked = input.getAsked(slot.index)
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

  /** Returns the text of a folded section, with the cost of opening it if the strategy shows it. */
  #getSummaryText(slot: Slot, input: FrameInput): string {
    const costLine = this.options.strategy.showCost ? this.#costLine(slot, input) : undefined
    return this.writer.getSummaryText(slot, input.context, costLine)
  }

  /** Counts the tokens of a section when it is folded. */
  summaryTokens(slot: Slot, input: FrameInput): number {
    return this.options.counter.count(this.#getSummaryText(slot, input))
  }

  /**
   * Describes the cost of opening a section: its text, including everything visible below it, and its tools'
   * definitions.
   */
  #costLine(slot: Slot, input: FrameInput): string {
    const { counter, registry } = this.options
    const draft: Draft = { shown: new Uint8Array(registry.slots.length), made: new Map() }
    const opened = { ...input, asked: input.asked.with({ [slot.path]: 'full' }) }
    this.#walk(draft, slot.index, slot.end, this.#resolved(opened))
    const nodes = new Frame({ ...draft, ...opened }, this.writer).nodes(slot.index, slot.end)
    const tools = collectTools(nodes).reduce((sum, tool) => sum + toolTokens(tool, counter), 0)
    const tokens = counter.count(joinTexts(nodes.map((node) => node.text))) + tools
    return `[Opening it costs ${counter.exact ? '' : 'about '}${tokens} tokens.]`
  }
}

interface ResolvedInput extends FrameInput {
  readonly getAsked: (index: number) => Visibility | undefined
}

/** The inputs of a frame. */
interface Draft {
  readonly shown: Uint8Array
  readonly made: Map<number, RenderedNode>
}
