import { strategyWithCost } from '../strategy.ts'
import { readSuffix, describeHowToFind } from '../suffix.ts'
import { READ_SECTION, describeCall, getReadCall, readSectionTool } from '../tools.ts'

/**
 * The default strategy, with one tool, `read_section`. The section's text is the tool's result, and the conversation
 * continues. The section's tools are added to the conversation, or the run restarts if the adapter cannot add tools.
 *
 * @example
 * ```ts
 * await runAgent(bound, { adapter, disclosure: readSection({ showCost: true }) })
 * ```
 */
export const readSection = strategyWithCost({
  name: 'readSection',
  toolNames: [READ_SECTION],
  contentsHint: (isSearchable) => describeHowToFind(READ_SECTION, isSearchable),
  suffix: readSuffix,
  tools: (view) => [readSectionTool(view)],
  getCalls: (_view, keys) => keys.map(getReadCall),
  describeCall,
})
