import type { DisclosureView, FoldedSection } from '../../disclosure/strategy.ts'
import type { SectionText } from '../../find/section-text.ts'
import type { SessionReader } from '../../session/session.ts'
import { getSessionIdentity } from '../../session/live-session.ts'
import { getVisibilityMap, visibility, type Visibility, type VisibilityOverrides } from '../../session/visibility.ts'
import type { ToolResult } from '../../tools/result.ts'
import type { AnyTool, ToolGroup } from '../../tools/tool.ts'
import type { FoldPrice } from '../../core/price/fold.ts'
import { Asked } from './asked.ts'
import { decideAutoFolds, type AutoTrace } from './auto-fold.ts'
import { fitBudget, type BudgetTrace, type TokenBudget } from './budget.ts'
import { fitContents } from './contents.ts'
import { joinTexts, type Frame } from './frame.ts'
import type { LoadContext } from '../definition/section.ts'
import type { RenderedNode } from './node.ts'
import { FOLDED, getSlot, type Slot } from '../definition/registry.ts'
import type { Renderer } from './renderer.ts'
import { OfferedTools, type ListedTools } from './offered-tools.ts'
import { listSectionTexts, loadSections, readSectionFile } from './section-texts.ts'
import { ShownSections } from './shown-sections.ts'

const NOTHING: VisibilityOverrides = Object.freeze({})

/** The options of a render, apart from the session. */
export interface RenderRequest {
  readonly asked: VisibilityOverrides
  readonly budget: TokenBudget | undefined
  readonly price: FoldPrice
}

/** The session for renders without one: every slice has its initial state. */
const noSession: SessionReader = { has: () => false, get: (slice) => slice.initial }

interface ViewParts {
  readonly renderer: Renderer
  readonly request: RenderRequest
  readonly session: SessionReader
  readonly opened: VisibilityOverrides
  /** The frame before a budget folded anything. Later views start from it. */
  readonly whole: Frame
  /** The frame before its table of contents is shortened. */
  readonly frame: Frame
  readonly autoTrace: readonly AutoTrace[]
  readonly budgetTrace: readonly BudgetTrace[]
  readonly listed: ListedTools | undefined
}

export function viewSections(
  renderer: Renderer,
  request: RenderRequest,
  options: {
    readonly session?: SessionReader | undefined
    readonly earlier?: SectionsView | undefined
    readonly opened?: VisibilityOverrides
  },
): SectionsView {
  const { session = noSession, opened = NOTHING, earlier } = options
  const auto = decideAutoFolds(renderer, request.price, session)
  const asked = new Asked(auto.asked, request.asked, getVisibilityMap(session), opened)
  const identity = getSessionIdentity(session)
  const whole = renderer.frame({ context: { session }, asked }, renderer.latest.get(identity) ?? earlier?.whole)
  if (opened === NOTHING) renderer.latest.set(identity, whole)
  // Useless to another session, which would keep this one in memory, and the one before it.
  const tools = earlier?.offered.getListed()
  const listed = tools?.session === session ? tools : undefined
  const view = new SectionsView({
    renderer,
    request,
    session,
    opened,
    whole,
    frame: whole,
    autoTrace: auto.trace,
    budgetTrace: [],
    listed,
  })
  if (request.budget) return fitBudget(view, request.budget)
  return view
}

/** The sections of a prompt as one session sees them. It can also compute how they would look in another state. */
export class SectionsView implements DisclosureView {
  readonly parts: ViewParts
  readonly renderer: Renderer
  readonly whole: Frame
  /** How each section is shown. Its texts are those before the table of contents is shortened. */
  readonly frame: Frame
  readonly sections: ShownSections
  readonly offered: OfferedTools
  #final: Frame | undefined
  // Every request asks for all added tools again.
  readonly #groups = new Map<string, ToolGroup | undefined>()

  constructor(parts: ViewParts) {
    const { renderer, session, whole, frame, listed } = parts
    this.parts = parts
    this.renderer = renderer
    this.whole = whole
    this.frame = frame
    this.sections = new ShownSections(renderer, frame)
    this.offered = new OfferedTools({ renderer, session, frame, sections: this.sections, listed })
  }

  /** The frame with the texts that the model reads. Shortening a table of contents reads all of it. */
  get finalFrame(): Frame {
    return (this.#final ??= fitContents(this.frame, this.renderer))
  }

  /** Returns the same render with more sections folded. */
  withFrame(frame: Frame, budgetTrace: readonly BudgetTrace[]): SectionsView {
    return new SectionsView({ ...this.parts, frame, budgetTrace })
  }

  get folded(): readonly FoldedSection[] {
    return this.sections.describeFolded()
  }

  get tools(): readonly AnyTool[] {
    return this.offered.list(this)
  }

  get keys(): readonly string[] {
    return this.sections.listEnabled()
  }

  get texts(): readonly SectionText[] {
    return listSectionTexts(this)
  }

  state(path: string): 'full' | 'folded' | undefined {
    return this.sections.getState(path)
  }

  resolve(key: string): string | undefined {
    const found = this.resolveAll(key)
    if (found.length === 1) return found[0]
    return undefined
  }

  resolveAll(key: string): readonly string[] {
    return this.sections.resolve(key)
  }

  findTool(name: string): AnyTool | undefined {
    return this.offered.find(name)
  }

  findToolGroup(name: string): ToolGroup | undefined {
    if (!this.#groups.has(name)) this.#groups.set(name, findGroup(this, name))
    return this.#groups.get(name)
  }

  toolsIn(path: string): readonly AnyTool[] {
    return this.offered.listIn(path)
  }

  getDelegateName(path: string): string | boolean {
    return this.renderer.options.registry.byPath.get(path)?.section.delegate ?? false
  }

  findDelegate(path: string): string | undefined {
    return this.sections.findAsked().find((slot) => `${path}.`.startsWith(`${slot.path}.`))?.path
  }

  load(paths: readonly string[], context: LoadContext): Promise<boolean> | false {
    return loadSections(this.renderer.options.registry.byPath, paths, context)
  }

  readFile(path: string): Promise<ToolResult | undefined> {
    return readSectionFile(this.renderer.options.registry.withFiles, this, path)
  }

  hasTools(path: string): boolean {
    const slot = this.renderer.options.registry.byPath.get(path)
    return slot !== undefined && this.renderer.writer.hasTools(slot, this.frame.context)
  }

  content(path: string, within?: readonly string[]): string {
    const slot = this.renderer.options.registry.byPath.get(path)
    if (!slot) return ''
    const isWanted = (node: RenderedNode): boolean =>
      node.visibility === 'full' || !within || within.some((wanted) => `${node.path}.`.startsWith(`${wanted}.`))
    const hasFolded = this.frame.shown.subarray(slot.index, slot.end).includes(FOLDED)
    const nodes = (hasFolded ? this.finalFrame : this.frame).nodes(slot.index, slot.end).filter(isWanted)
    return joinTexts(nodes.map((node) => node.standalone(node.depth - slot.depth)))
  }

  opened(paths: readonly string[]): SectionsView {
    const opened: Record<string, Visibility> = { ...this.parts.opened }
    for (const path of paths) opened[path] = 'full'
    return viewSections(this.renderer, this.parts.request, { session: this.parts.session, earlier: this, opened })
  }

  at(session: SessionReader): SectionsView {
    return viewSections(this.renderer, this.parts.request, { session, earlier: this })
  }
}

/** Finds what a tool belongs to: what its section says, or the closest section around it that has a summary. */
function findGroup({ renderer, sections }: SectionsView, name: string): ToolGroup | undefined {
  const owner = renderer.options.registry.withTools.find(({ section, path }) => {
    const hasTool = section.tools.some((tool) => tool.name === name) || section.toolsOnDemand?.find(name)
    return hasTool && sections.getState(path) !== undefined
  })
  return owner && (owner.section.toolsOnDemand?.findGroup?.(name) ?? findSectionGroup(renderer, owner))
}

function findSectionGroup(renderer: Renderer, slot: Slot): ToolGroup | undefined {
  const summary = renderer.writer.getSummary(slot)
  if (summary !== undefined) return { name: slot.path, description: summary.trim() || slot.section.title }
  if (slot.parent === -1) return undefined
  return findSectionGroup(renderer, getSlot(renderer.options.registry.slots, slot.parent))
}

/** The text of a section's summary, without heading and suffix, or `undefined` if it has none. */
export function findSummary({ renderer }: SectionsView, path: string): string | undefined {
  const slot = renderer.options.registry.byPath.get(path)
  return slot && renderer.writer.getSummary(slot)
}

/** Lists the requested paths that do not exist, with the source of each request. */
export function findIgnored({
  renderer,
  offered,
  parts,
}: SectionsView): { readonly path: string; readonly by: 'session' | 'render' }[] {
  const { byPath } = renderer.options.registry
  const findUnknown = (asked: VisibilityOverrides, by: 'session' | 'render') =>
    Object.keys(asked)
      .filter((path) => !byPath.has(path) && offered.findAt(path) === undefined)
      .map((path) => ({ path, by }))
  return [...findUnknown(parts.session.get(visibility), 'session'), ...findUnknown(parts.request.asked, 'render')]
}
