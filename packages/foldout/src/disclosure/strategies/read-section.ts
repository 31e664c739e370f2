import { strategyWithCost } from '../strategy.ts'
import { readSuffix } from '../suffix.ts'
import { READ_SECTION, readSectionTool } from '../tools.ts'

/**
 * The default: one tool, `read_section`. The text comes back as the tool's result and the conversation goes on; a section's
 * tools are added to the conversation, or the turn restarts where the adapter cannot do that.
 */
export const readSection = strategyWithCost({
  name: 'readSection',
  toolNames: [READ_SECTION],
  suffix: readSuffix,
  tools: (view) => [readSectionTool(view)],
})
