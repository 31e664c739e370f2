import { getAncestors } from '../../core/text.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { bearsTools } from '../engine.ts'
import { strategyWithCost, type DisclosureView, type OpeningCall } from '../strategy.ts'
import { openSuffix, readSuffixWithChildren, describeHowToFind } from '../suffix.ts'
import {
  OPEN_SECTIONS,
  READ_SECTION,
  answerByRestart,
  answerInPlace,
  describeCall,
  getOpenCall,
  getReadCall,
  openSectionsTool,
  readSectionTool,
} from '../tools.ts'

/**
 * A strategy with two tools: `open_sections` for sections with tools, `read_section` for the others. Each is offered only
 * while a folded section needs it.
 *
 * @example
 * ```ts
 * await runAgent(bound, { adapter, disclosure: openOrRead() })
 * ```
 */
export const openOrRead = strategyWithCost({
  name: 'openOrRead',
  toolNames: [OPEN_SECTIONS, READ_SECTION],
  contentsHint: (isSearchable) => describeHowToFind(READ_SECTION, isSearchable),
  suffix: (section) => {
    if (section.hasTools) return openSuffix(section)
    return readSuffixWithChildren(section)
  },
  tools(view) {
    const withTools = view.folded.filter((section) => section.hasTools).length
    return [
      ...(withTools > 0 ? [createOpenTool(view)] : []),
      ...(withTools < view.folded.length ? [readSectionTool(view)] : []),
    ]
  },
  findTool: (name, view) => {
    if (name === OPEN_SECTIONS) return createOpenTool(view)
    return readSectionTool(view)
  },
  getCalls(view, keys): readonly OpeningCall[] {
    const toOpen = keys.filter((key) => bearsTools(view, getFolded(view, key)))
    const toRead = keys.filter((key) => !toOpen.includes(key))
    return [...(toOpen.length > 0 ? [getOpenCall(toOpen)] : []), ...toRead.map(getReadCall)]
  },
  describeCall,
})

/**
 * Answers in place if every section has tools, as `read_section` would; a single section without tools restarts the
 * run.
 */
function createOpenTool(offered: DisclosureView): AnyTool {
  return openSectionsTool(offered, (plan, view) => {
    if ([...plan.pathsByKey.values()].every((paths) => bearsTools(view, paths))) return answerInPlace(view, plan)
    return answerByRestart(view, plan)
  })
}

/** The folded sections around a key, outermost first; the first is the one whose summary the model sees. */
function getFolded(view: DisclosureView, key: string): readonly string[] {
  return [...getAncestors(key), key].filter((path) => view.state(path) === 'folded')
}
