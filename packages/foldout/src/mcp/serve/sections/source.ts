import { createCatalog } from '../../../catalog/live/catalog.ts'
import type { Catalog } from '../../../catalog/contract.ts'
import { isUnknown } from '../../../catalog/unknown-tool.ts'
import type { CatalogEntry } from '../../../catalog/tool.ts'
import { FoldoutError } from '../../../core/errors.ts'
import { readSection } from '../../../disclosure/strategies/read-section.ts'
import type { DisclosureView } from '../../../disclosure/strategy.ts'
import { getRegistry } from '../../../prompt/prompt.ts'
import type { Registry } from '../../../prompt/definition/registry.ts'
import { getView, type RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { SectionsView } from '../../../prompt/render/sections-view.ts'
import type { SessionReader } from '../../../session/session.ts'
import type { ServeMcpOptions } from '../contract/options.ts'

export type ServedPrompt = NonNullable<ServeMcpOptions['prompt']>

/** A prompt that clients read section by section. */
export interface SectionSource {
  readonly registry: Registry
  /** Every tool of the prompt, in a separate catalog that checks arguments and reports calls. */
  readonly tools: Catalog
  render(session: SessionReader): RenderedPrompt
  view(session: SessionReader): SectionsView
  /** The tools of the open sections in a section, itself included, as a view has them. */
  toolsIn(view: DisclosureView, path: string): readonly CatalogEntry[]
}

export function createSectionSource(bound: ServedPrompt): SectionSource {
  const registry = getRegistry(bound.prompt)
  const tools = createCatalog([...new Set(registry.withTools.flatMap(({ section }) => section.tools))])
  const { showCost } = bound.render().disclosure
  const strategy = readSection({ showCost })
  const render = (session: SessionReader): RenderedPrompt => bound.render({ session, disclosure: strategy })
  return {
    registry,
    tools,
    render,
    view: (session) => viewRender(render(session)),
    toolsIn(view, path) {
      const slot = registry.byPath.get(path)
      const inside = slot ? registry.slots.slice(slot.index, slot.end) : []
      const open = inside.filter((one) => view.state(one.path) === 'full')
      // Several sections may have one tool.
      return [...new Set(open.flatMap(({ section }) => section.tools))]
        .map(({ name }) => tools.resolve(name))
        .filter((found): found is CatalogEntry => !isUnknown(found))
    },
  }
}

function viewRender(rendered: RenderedPrompt): SectionsView {
  const view = getView(rendered)
  if (!view) throw new FoldoutError('mcp-prompt', 'serveMcp() needs a prompt that was bound with bind().')
  return view
}
