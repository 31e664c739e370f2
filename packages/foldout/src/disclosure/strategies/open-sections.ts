import { strategyWithCost } from '../strategy.ts'
import { openSuffix } from '../suffix.ts'
import { OPEN_SECTIONS, halted, openSectionsTool } from '../tools.ts'

/** One tool, `open_sections`. It always ends the turn, and the caller renders the prompt anew with the sections open. */
export const openSections = strategyWithCost({
  name: 'openSections',
  toolNames: [OPEN_SECTIONS],
  suffix: openSuffix,
  tools: (offered) => [openSectionsTool(offered, (plan, view) => halted(view, plan))],
})
