import { askSectionTool } from '../../disclosure/ask-tool.ts'
import type { DisclosureView } from '../../disclosure/strategy.ts'
import type { SessionReader } from '../../session/session.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { OPEN, type Slot } from '../definition/registry.ts'
import type { Frame } from './frame.ts'
import type { Renderer } from './renderer.ts'
import type { ShownSections } from './shown-sections.ts'

/** The tools of a view, for later views of the same sections. */
export interface ListedTools {
  readonly session: SessionReader
  readonly frame: Frame
  readonly tools: readonly AnyTool[]
}

interface OfferedParts {
  readonly renderer: Renderer
  readonly session: SessionReader
  readonly frame: Frame
  readonly sections: ShownSections
  /** The tools of an earlier view. This view has the same tools if it shows the same sections. */
  readonly listed: ListedTools | undefined
}

/** The tools of the sections that a view shows. */
export class OfferedTools {
  readonly #parts: OfferedParts
  #tools: readonly AnyTool[] | undefined

  constructor(parts: OfferedParts) {
    this.#parts = parts
  }

  /** The tools of the open sections in document order, then the strategy's tools if anything is folded. */
  list(view: DisclosureView): readonly AnyTool[] {
    if (this.#tools) return this.#tools
    const { renderer, listed, sections } = this.#parts
    if (this.#isListed()) return (this.#tools = listed?.tools ?? [])
    const tools = this.#collect()
    tools.push(...this.#listOpened(tools))
    if (sections.canOpen()) tools.push(...renderer.options.strategy.tools(view))
    if (sections.findAsked().length > 0) tools.push(askSectionTool)
    return (this.#tools = Object.freeze(tools))
  }

  /** The list for later views. Building it costs more than everything else in a turn that changes nothing. */
  getListed(): ListedTools | undefined {
    const { session, frame, listed } = this.#parts
    if (this.#tools && this.#tools !== listed?.tools) return { session, frame, tools: this.#tools }
    return listed
  }

  /** Finds a tool by name in any enabled section, open or folded. */
  find(name: string): AnyTool | undefined {
    const { renderer, sections } = this.#parts
    for (const slot of renderer.options.registry.withTools) {
      if (sections.getState(slot.path) === undefined) continue
      const tool = renderer.writer.getTools(slot).find((candidate) => candidate.name === name)
      if (tool) return tool
    }
    return this.findOnDemand(name)
  }

  /** Finds a tool on demand by name in any open section, whether or not it was opened. */
  findOnDemand(name: string): AnyTool | undefined {
    for (const { section } of this.#listOpenSlots()) {
      const tool = section.toolsOnDemand?.find(name)
      if (tool) return tool
    }
    return undefined
  }

  /** Finds a tool on demand by path, if its section is open and has it. */
  findAt(path: string): AnyTool | undefined {
    const { renderer, frame } = this.#parts
    const dot = path.lastIndexOf('.')
    const slot = renderer.options.registry.byPath.get(path.slice(0, dot))
    if (!slot?.section.toolsOnDemand || frame.at(slot.index) !== OPEN) return undefined
    return slot.section.toolsOnDemand.find(path.slice(dot + 1))
  }

  /** The path of the open section that has a tool. */
  findSection(tool: string): string | undefined {
    const open = this.#listOpenSlots()
    const owner = open.find(({ section }) => section.tools.some(({ name }) => name === tool))
    return (owner ?? open.find(({ section }) => section.toolsOnDemand?.find(tool)))?.path
  }

  /** The tools of the open sections at or below a path. */
  listIn(path: string): readonly AnyTool[] {
    const { renderer, frame } = this.#parts
    const { byPath, slots } = renderer.options.registry
    const slot = byPath.get(path)
    if (!slot?.toolsBelow) return []
    return slots
      .slice(slot.index, slot.end)
      .filter(({ index }) => frame.at(index) === OPEN)
      .flatMap((open) => renderer.writer.getTools(open))
  }

  /** The tools in folded sections by name, each with the path of its section. */
  mapFolded(view: DisclosureView): ReadonlyMap<string, string> {
    const { renderer, sections } = this.#parts
    const offered = new Set(this.list(view).map(({ name }) => name))
    const inFolds = new Map<string, string>()
    for (const slot of renderer.options.registry.withTools) {
      if (sections.getState(slot.path) !== 'folded') continue
      for (const { name } of slot.section.tools) {
        if (!offered.has(name) && !inFolds.has(name)) inFolds.set(name, slot.path)
      }
    }
    return inFolds
  }

  #isListed(): boolean {
    const { session, frame, listed, renderer } = this.#parts
    if (!listed || listed.session !== session || frame.asked.findChanged(listed.frame.asked).length > 0) return false
    // Tools on demand may change independently of the session.
    if (renderer.options.registry.hasToolsOnDemand) return false
    return frame.shown.every((shown, index) => shown === listed.frame.shown[index])
  }

  /** Several sections can have the same tool. It is listed once, at the first of them that is open. */
  #collect(): AnyTool[] {
    const { renderer, frame } = this.#parts
    const tools: AnyTool[] = []
    for (const slot of renderer.options.registry.withTools) {
      if (frame.at(slot.index) === OPEN) for (const tool of renderer.writer.getTools(slot)) tools.push(tool)
    }
    if (renderer.options.registry.sharesTools) return [...new Set(tools)]
    return tools
  }

  /** The core tools of overrides, and the opened tools on demand in the order of opening, except those whose name is taken. */
  #listOpened(offered: readonly AnyTool[]): readonly AnyTool[] {
    const { renderer, frame } = this.#parts
    const { registry, overrides } = renderer.options
    if (!registry.hasToolsOnDemand) return []
    const opened = new Map<string, AnyTool>()
    const offer = (tool: AnyTool): void => {
      if (!opened.has(tool.name) && !offered.some(({ name }) => name === tool.name)) opened.set(tool.name, tool)
    }
    for (const { tool, path } of overrides?.core.values() ?? []) if (this.#isOpen(path)) offer(tool)
    for (const [path, asked] of frame.asked.merge()) {
      const tool = asked === 'full' ? this.findAt(path) : undefined
      if (tool) offer(tool)
    }
    return [...opened.values()]
  }

  #isOpen(path: string): boolean {
    const { renderer, frame } = this.#parts
    const slot = renderer.options.registry.byPath.get(path)
    return slot !== undefined && frame.at(slot.index) === OPEN
  }

  #listOpenSlots(): readonly Slot[] {
    const { renderer, frame } = this.#parts
    return renderer.options.registry.withTools.filter(({ index }) => frame.at(index) === OPEN)
  }
}
