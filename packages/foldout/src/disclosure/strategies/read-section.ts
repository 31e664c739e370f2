import { strategyWithCost } from '../strategy.ts'
import { readSuffix } from '../suffix.ts'
import { READ_SECTION, describeCall, getReadCall, readSectionTool } from '../tools.ts'

/**
 * The default strategy: one tool, `read_section`. The text comes back as the tool's result and the conversation goes on; a
 * section's tools are added to the conversation, or the run restarts where the adapter cannot do that.
 *
 * @example
 * ```ts
 * await runAgent(bound, { adapter, disclosure: readSection({ showCost: true }) })
 * ```
 */
export const readSection = strategyWithCost({
  name: 'readSection',
  toolNames: [READ_SECTION],
  suffix: readSuffix,
  tools: (view) => [readSectionTool(view)],
  getCalls: (_view, keys) => keys.map(getReadCall),
  describeCall,
})
