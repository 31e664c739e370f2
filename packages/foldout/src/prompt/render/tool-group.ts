import type { ToolGroup } from '../../tools/tool.ts'
import { getSlot, type Slot } from '../definition/registry.ts'
import type { SectionsView } from './sections-view.ts'

/** Finds what a tool belongs to: what its section says, or the closest section around it that has a summary. */
export function findToolGroup(view: SectionsView, name: string): ToolGroup | undefined {
  const owner = view.renderer.options.registry.withTools.find(({ section, path }) => {
    const hasTool = section.tools.some((tool) => tool.name === name) || section.toolsOnDemand?.find(name)
    return hasTool && view.state(path) !== undefined
  })
  return owner && (owner.section.toolsOnDemand?.findGroup?.(name) ?? findSectionGroup(view, owner))
}

function findSectionGroup(view: SectionsView, slot: Slot): ToolGroup | undefined {
  const { registry } = view.renderer.options
  const summary = view.renderer.writer.getSummary(slot)
  if (summary !== undefined) return { name: slot.path, description: summary.trim() || slot.section.title }
  return slot.parent === -1 ? undefined : findSectionGroup(view, getSlot(registry.slots, slot.parent))
}
