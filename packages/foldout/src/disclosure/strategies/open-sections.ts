import { strategyWithCost } from '../strategy.ts'
import { openSuffix, describeHowToFind } from '../suffix.ts'
import { OPEN_SECTIONS, answerByRestart, describeCall, getOpenCall, openSectionsTool } from '../tools.ts'

/**
 * A strategy with one tool, `open_sections`. A call always ends the turn, and the run restarts with the sections open.
 *
 * @example
 * ```ts
 * await runAgent(bound, { adapter, disclosure: openSections() })
 * ```
 */
export const openSections = strategyWithCost({
  name: 'openSections',
  toolNames: [OPEN_SECTIONS],
  contentsHint: (isSearchable) => describeHowToFind(OPEN_SECTIONS, isSearchable),
  suffix: openSuffix,
  tools: (offered) => [openSectionsTool(offered, (plan, view) => answerByRestart(view, plan))],
  getCalls: (_view, keys) => [getOpenCall(keys)],
  describeCall,
})
