import { createCatalog, isUnknown, type Catalog } from '../../../catalog/catalog.ts'
import type { CatalogEntry } from '../../../catalog/tool.ts'
import { readSection } from '../../../disclosure/strategies/read-section.ts'
import type { DisclosureStrategy, DisclosureView } from '../../../disclosure/strategy.ts'
import { readSectionTool } from '../../../disclosure/tools.ts'
import { joinTexts } from '../../../prompt/render/frame.ts'
import { getRegistry } from '../../../prompt/prompt.ts'
import type { Registry } from '../../../prompt/render/registry.ts'
import type { RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { SessionReader } from '../../../session/session.ts'
import type { AnyTool } from '../../../tools/tool.ts'
import type { ServeMcpOptions } from '../options.ts'

export type ServedPrompt = NonNullable<ServeMcpOptions['prompt']>

/** A prompt, to be read section by section. */
export interface SectionSource {
  readonly registry: Registry
  /** Every tool of the prompt, to be run with the care that a catalog takes. */
  readonly tools: Catalog
  render(session: SessionReader): RenderedPrompt
  view(session: SessionReader): DisclosureView
  /** The tools of the open sections in a section, itself included, as a view has them. */
  toolsIn(view: DisclosureView, path: string): readonly CatalogEntry[]
}

export function createSectionSource(bound: ServedPrompt): SectionSource {
  const registry = getRegistry(bound.prompt)
  const tools = createCatalog(registry.withTools.flatMap(({ section }) => section.tools))
  const { showCost } = bound.render().disclosure
  const strategy = viewedStrategy(readSection({ showCost }))
  const render = (session: SessionReader): RenderedPrompt => bound.render({ session, disclosure: strategy })
  return {
    registry,
    tools,
    render,
    view: (session) => getView(render(session)),
    toolsIn(view, path) {
      const slot = registry.byPath.get(path)
      const inside = slot ? registry.slots.slice(slot.index, slot.end) : []
      return inside
        .filter((one) => view.state(one.path) === 'full')
        .flatMap(({ section }) => section.tools.map(({ name }) => tools.resolve(name)))
        .filter((found): found is CatalogEntry => !isUnknown(found))
    },
  }
}

const views = new WeakMap<AnyTool, DisclosureView>()

/** The default strategy, whose tool tells of the view that it was made for. */
function viewedStrategy(strategy: DisclosureStrategy): DisclosureStrategy {
  return Object.freeze({
    ...strategy,
    tools(view: DisclosureView) {
      const tool = readSectionTool(view)
      views.set(tool, view)
      return [tool]
    },
  })
}

function getView(rendered: RenderedPrompt): DisclosureView {
  for (const tool of rendered.tools) {
    const view = views.get(tool)
    if (view) return view
  }
  return allOpenView(rendered)
}

/** A render in which nothing is folded offers no tool to open anything. */
function allOpenView({ nodes, tools }: RenderedPrompt): DisclosureView {
  const inside = (path: string) => nodes.filter((node) => node.path === path || node.path.startsWith(`${path}.`))
  const view: DisclosureView = {
    folded: [],
    tools,
    keys: nodes.map(({ path }) => path),
    state: (path) => (nodes.some((node) => node.path === path) ? 'full' : undefined),
    hasTools: (path) => inside(path).some((node) => node.tools.length > 0),
    content(path) {
      const shown = inside(path)
      return joinTexts(shown.map((node) => node.standalone(node.depth - shown[0]!.depth)))
    },
    opened: () => view,
    at: () => view,
  }
  return view
}
