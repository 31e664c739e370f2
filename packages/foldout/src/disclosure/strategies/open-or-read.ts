import type { AnyTool } from '../../tools/tool.ts'
import { bearsTools } from '../engine.ts'
import { strategyWithCost, type DisclosureView } from '../strategy.ts'
import { openSuffix, readSuffix } from '../suffix.ts'
import { OPEN_SECTIONS, READ_SECTION, halted, openSectionsTool, readSectionTool, shown } from '../tools.ts'

/**
 * Two tools: `open_sections` for sections with tools, `read_section` for the others. Each is offered only while a folded
 * section calls for it.
 */
export const openOrRead = strategyWithCost({
  name: 'openOrRead',
  toolNames: [OPEN_SECTIONS, READ_SECTION],
  suffix: (section) => (section.hasTools ? openSuffix(section) : readSuffix(section)),
  tools(view) {
    const withTools = view.folded.filter((section) => section.hasTools).length
    return [
      ...(withTools > 0 ? [openTool(view)] : []),
      ...(withTools < view.folded.length ? [readSectionTool(view)] : []),
    ]
  },
})

/** Goes on where every section asked for has tools, as `read_section` would; one that has none halts the whole call. */
function openTool(offered: DisclosureView): AnyTool {
  return openSectionsTool(offered, (plan, view) =>
    [...plan.getPaths.values()].every((paths) => bearsTools(view, paths)) ? shown(view, plan) : halted(view, plan),
  )
}
