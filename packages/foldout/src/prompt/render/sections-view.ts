import { askSectionTool } from '../../disclosure/ask-tool.ts'
import type { DisclosureView, FoldedSection } from '../../disclosure/strategy.ts'
import type { SectionText } from '../../find/section-text.ts'
import type { SessionReader } from '../../session/session.ts'
import { getSessionIdentity } from '../../session/live-session.ts'
import { getVisibilityMap, visibility, type Visibility, type VisibilityOverrides } from '../../session/visibility.ts'
import type { ToolResult } from '../../tools/result.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { FoldPrice } from '../../core/price/fold.ts'
import { Asked, NOTHING_ASKED } from './asked.ts'
import { decideAutoFolds, type AutoTrace } from './auto-fold.ts'
import { fitBudget, type BudgetTrace, type TokenBudget } from './budget.ts'
import { fitContents } from './contents.ts'
import { joinTexts, type Frame } from './frame.ts'
import type { LoadContext } from '../definition/section.ts'
import { findPathsByName, trimName } from '../definition/section-names.ts'
import type { RenderedNode } from './node.ts'
import { getSlot, type Shown, type Slot, FOLDED, OPEN, ABSENT } from '../definition/registry.ts'
import type { Renderer } from './renderer.ts'
import { listSectionTexts, loadSections, readSectionFile } from './section-texts.ts'

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
  /** The tools of an earlier view. This view has the same tools if it shows the same sections. */
  readonly listed?: ListedTools | undefined
}

interface ListedTools extends Pick<ViewParts, 'session' | 'frame'> {
  readonly tools: readonly AnyTool[]
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
  const listed = earlier?.toolList?.session === session ? earlier.toolList : undefined
  const budgetTrace: readonly BudgetTrace[] = []
  const autoTrace = auto.trace
  const view = new SectionsView({
    renderer,
    request,
    session,
    opened,
    whole,
    frame: whole,
    autoTrace,
    budgetTrace,
    listed,
  })
  if (request.budget) return fitBudget(view, request.budget)
  return view
}

/** The sections of a prompt as one session sees them. It can also compute how they would look in another state. */
export class SectionsView implements DisclosureView {
  readonly #parts: ViewParts
  #tools: readonly AnyTool[] | undefined
  #final: Frame | undefined

  constructor(parts: ViewParts) {
    this.#parts = parts
  }

  get renderer(): Renderer {
    return this.#parts.renderer
  }

  /** How each section is shown. Its texts are those before the table of contents is shortened. */
  get frame(): Frame {
    return this.#parts.frame
  }

  /** The frame with the texts that the model reads. Shortening a table of contents reads all of it. */
  get finalFrame(): Frame {
    return (this.#final ??= fitContents(this.frame, this.renderer))
  }

  get whole(): Frame {
    return this.#parts.whole
  }

  get autoTrace(): readonly AutoTrace[] {
    return this.#parts.autoTrace
  }

  get budgetTrace(): readonly BudgetTrace[] {
    return this.#parts.budgetTrace
  }

  /** Returns the same render with more sections folded. */
  withFrame(frame: Frame, budgetTrace: readonly BudgetTrace[]): SectionsView {
    return new SectionsView({ ...this.#parts, frame, budgetTrace })
  }

  /** The tools of the open sections in document order, then the strategy's tools if anything is folded. */
  get tools(): readonly AnyTool[] {
    if (this.#tools) return this.#tools
    if (this.#isListed()) return (this.#tools = this.#parts.listed?.tools ?? [])
    const { strategy } = this.renderer.options
    const tools = this.#collectTools()
    tools.push(...this.#openedTools(tools))
    if (this.canOpen) tools.push(...strategy.tools(this))
    if (this.#findAsked().length > 0) tools.push(askSectionTool)
    return (this.#tools = Object.freeze(tools))
  }

  /** The list of tools for later views. Building it costs more than everything else in a turn that changes nothing. */
  get toolList(): ListedTools | undefined {
    const { session, frame, listed } = this.#parts
    if (this.#tools && this.#tools !== listed?.tools) return { session, frame, tools: this.#tools }
    return listed
  }

  #isListed(): boolean {
    const { session, frame, listed, renderer } = this.#parts
    if (!listed || listed.session !== session || frame.asked.findChanged(listed.frame.asked).length > 0) return false
    // Tools on demand may change independently of the session.
    if (renderer.options.registry.hasToolsOnDemand) return false
    return frame.shown.every((shown, index) => shown === listed.frame.shown[index])
  }

  /** Several sections can have the same tool. It is listed once, at the first of them that is open. */
  #collectTools(): AnyTool[] {
    const { withTools, sharesTools } = this.renderer.options.registry
    const tools: AnyTool[] = []
    for (const slot of withTools) {
      if (this.frame.at(slot.index) === OPEN) for (const tool of this.renderer.writer.getTools(slot)) tools.push(tool)
    }
    if (sharesTools) return [...new Set(tools)]
    return tools
  }

  /** The core tools of overrides, and the opened tools on demand in the order of opening, except those whose name is taken. */
  #openedTools(offered: readonly AnyTool[]): readonly AnyTool[] {
    const opened = new Map<string, AnyTool>()
    const { registry, overrides } = this.renderer.options
    if (!registry.hasToolsOnDemand) return []
    const offer = (tool: AnyTool): void => {
      if (!opened.has(tool.name) && !offered.some(({ name }) => name === tool.name)) opened.set(tool.name, tool)
    }
    for (const { tool, path } of overrides?.core.values() ?? []) if (this.#isOpen(path)) offer(tool)
    for (const [path, asked] of this.frame.asked.merge()) {
      const tool = asked === 'full' ? this.#findToolAt(path) : undefined
      if (tool) offer(tool)
    }
    return [...opened.values()]
  }

  #isOpen(path: string): boolean {
    const slot = this.renderer.options.registry.byPath.get(path)
    return slot !== undefined && this.frame.at(slot.index) === OPEN
  }

  /** Finds a tool on demand by path, if its section is open and has it. */
  #findToolAt(path: string): AnyTool | undefined {
    const dot = path.lastIndexOf('.')
    const slot = this.renderer.options.registry.byPath.get(path.slice(0, dot))
    if (!slot?.section.toolsOnDemand || this.frame.at(slot.index) !== OPEN) return undefined
    return slot.section.toolsOnDemand.find(path.slice(dot + 1))
  }

  /** Finds a tool on demand by name in any open section, whether or not it was opened. */
  findToolOnDemand(name: string): AnyTool | undefined {
    for (const { section } of this.#openWithTools()) {
      const tool = section.toolsOnDemand?.find(name)
      if (tool) return tool
    }
    return undefined
  }

  findSection(tool: string): string | undefined {
    const open = this.#openWithTools()
    const owner = open.find(({ section }) => section.tools.some(({ name }) => name === tool))
    return (owner ?? open.find(({ section }) => section.toolsOnDemand?.find(tool)))?.path
  }

  #openWithTools(): readonly Slot[] {
    return this.renderer.options.registry.withTools.filter(({ index }) => this.frame.at(index) === OPEN)
  }

  get folded(): readonly FoldedSection[] {
    return this.#listSlots(FOLDED)
      .filter((slot) => !this.renderer.writer.isAsked(slot))
      .map((slot) => this.renderer.writer.describeFolded(slot, this.frame.context))
  }

  get summaryPaths(): readonly string[] {
    return this.#listSlots(FOLDED).map(({ path }) => path)
  }

  get openPaths(): readonly string[] {
    return this.#listSlots(OPEN).map(({ path }) => path)
  }

  #listSlots(shown: Shown): readonly Slot[] {
    return this.#slots().filter(({ index }) => this.frame.shown[index] === shown)
  }

  /** Whether a section is folded that can be opened, or has files that can be read. */
  get canOpen(): boolean {
    const { withFiles } = this.renderer.options.registry
    if (withFiles.some(({ index }) => this.frame.at(index) === OPEN)) return true
    if (!this.frame.isFolded) return false
    const asked = this.#findAsked()
    return (
      asked.length === 0 || this.frame.shown.reduce((sum, shown) => sum + Number(shown === FOLDED), 0) > asked.length
    )
  }

  /** The folded sections whose questions an agent answers. */
  #findAsked(): readonly Slot[] {
    const { delegated } = this.renderer.options.registry
    if (delegated.length === 0) return delegated
    return delegated.filter((slot) => this.frame.at(slot.index) === FOLDED && this.renderer.writer.isAsked(slot))
  }

  getDelegateName(path: string): string | boolean {
    return this.renderer.options.registry.byPath.get(path)?.section.delegate ?? false
  }

  findDelegate(path: string): string | undefined {
    return this.#findAsked().find((slot) => `${path}.`.startsWith(`${slot.path}.`))?.path
  }

  get keys(): readonly string[] {
    const slots = this.#slots()
    const keys: string[] = []
    for (let index = 0; index < slots.length;) {
      const slot = getSlot(slots, index)
      const enabled = this.renderer.writer.isEnabled(slot, this.frame.context)
      if (enabled) keys.push(slot.path)
      if (enabled) index = index + 1
      else index = slot.end
    }
    return keys
  }

  get texts(): readonly SectionText[] {
    return listSectionTexts(this)
  }

  state(path: string): 'full' | 'folded' | undefined {
    const slot = this.renderer.options.registry.byPath.get(path)
    if (!slot) return undefined
    const shown = this.frame.at(slot.index)
    if (shown !== ABSENT) {
      if (shown === OPEN) return 'full'
      return 'folded'
    }
    if (this.#isInFold(slot)) return 'folded'
    return undefined
  }

  /** Whether a section without a node is enabled and is only hidden by a folded ancestor. */
  #isInFold(slot: Slot): boolean {
    if (!this.renderer.writer.isEnabled(slot, this.frame.context) || slot.parent === -1) return false
    const parent = getSlot(this.#slots(), slot.parent)
    const shown = this.frame.at(parent.index)
    if (shown === ABSENT) return this.#isInFold(parent)
    return shown === FOLDED
  }

  resolve(key: string): string | undefined {
    const found = this.resolveAll(key)
    if (found.length === 1) return found[0]
    return undefined
  }

  resolveAll(key: string): readonly string[] {
    const { registry } = this.renderer.options
    const path = [key, trimName(key)].find((each) => registry.byPath.has(each))
    if (path !== undefined) return [path]
    return findPathsByName(registry, key).filter((each) => this.state(each) !== undefined)
  }

  findTool(name: string): AnyTool | undefined {
    for (const slot of this.renderer.options.registry.withTools) {
      if (this.state(slot.path) === undefined) continue
      const tool = this.renderer.writer.getTools(slot).find((candidate) => candidate.name === name)
      if (tool) return tool
    }
    return this.findToolOnDemand(name)
  }

  toolsIn(path: string): readonly AnyTool[] {
    const slot = this.renderer.options.registry.byPath.get(path)
    if (!slot?.toolsBelow) return []
    return this.#slots()
      .slice(slot.index, slot.end)
      .filter(({ index }) => this.frame.at(index) === OPEN)
      .flatMap((open) => this.renderer.writer.getTools(open))
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

  /** The text of the section's summary, without heading and suffix, or `undefined` if it has none. */
  summary(path: string): string | undefined {
    const slot = this.renderer.options.registry.byPath.get(path)
    return slot && this.renderer.writer.getSummary(slot)
  }

  opened(paths: readonly string[]): SectionsView {
    const opened: Record<string, Visibility> = { ...this.#parts.opened }
    for (const path of paths) opened[path] = 'full'
    return viewSections(this.renderer, this.#parts.request, { session: this.#parts.session, earlier: this, opened })
  }

  at(session: SessionReader): SectionsView {
    return viewSections(this.renderer, this.#parts.request, { session, earlier: this })
  }

  /** The tools in folded sections by name, each with the path of its section. */
  toolsInFolds(): ReadonlyMap<string, string> {
    const offered = new Set(this.tools.map(({ name }) => name))
    const inFolds = new Map<string, string>()
    for (const slot of this.renderer.options.registry.withTools) {
      if (this.state(slot.path) !== 'folded') continue
      for (const { name } of slot.section.tools) {
        if (!offered.has(name) && !inFolds.has(name)) inFolds.set(name, slot.path)
      }
    }
    return inFolds
  }

  /** Returns a view with every enabled section open. */
  allOpen(): Frame {
    return this.renderer.frame({ context: this.frame.context, asked: NOTHING_ASKED, openAll: true })
  }

  /** Lists the requested paths that do not exist, with the source of each request. */
  findIgnored(): { readonly path: string; readonly by: 'session' | 'render' }[] {
    const { byPath } = this.renderer.options.registry
    const unknown = (asked: VisibilityOverrides, by: 'session' | 'render') =>
      Object.keys(asked)
        .filter((path) => !byPath.has(path) && this.#findToolAt(path) === undefined)
        .map((path) => ({ path, by }))
    return [...unknown(this.#parts.session.get(visibility), 'session'), ...unknown(this.#parts.request.asked, 'render')]
  }

  #slots(): readonly Slot[] {
    return this.renderer.options.registry.slots
  }
}
