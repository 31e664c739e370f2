import type { AgentEvent } from '../agent/events.ts'
import { watchOpenings } from './openings.ts'
import { watchRuns } from './runs.ts'

export const TOOLS_INJECTED = 'foldout.tools.injected'
export const RESTARTS = 'foldout.disclosure.restarts'
export const DYNAMIC_OPENINGS = 'foldout.disclosure.dynamic'
const TOOL_CALLS = 'foldout.tools.calls'
const TOOL_FAILURES = 'foldout.tools.failures'

/**
 * Counters over any number of consecutive runs.
 *
 * @example
 * ```ts
 * const counters: Counters = createCounters()
 * await runAgent(bound, { adapter, onEvent: counters.onEvent })
 * counters.read()['foldout.disclosure.restarts']
 * ```
 */
export interface Counters {
  /** Pass it to `runAgent`. Overlapping runs each need their own counters. */
  onEvent(event: AgentEvent): void
  /**
   * The counts, by name:
   *
   * - `foldout.tools.injected`: tools that openings added to a conversation.
   * - `foldout.disclosure.restarts`: how often an opening restarted a run.
   * - `foldout.disclosure.dynamic`: openings that were answered without a restart.
   * - `foldout.tools.calls`: calls that the model made.
   * - `foldout.tools.failures`: calls that failed.
   */
  read(): Readonly<Record<string, number>>
}

/**
 * Creates counters of tool calls, openings and restarts.
 *
 * @example
 * ```ts
 * const counters = createCounters()
 * await runAgent(bound, { adapter, onEvent: counters.onEvent })
 * console.log(counters.read())
 * ```
 */
export function createCounters(): Counters {
  let injected = 0
  let restarts = 0
  let dynamic = 0
  let calls = 0
  let failures = 0
  const openings = watchOpenings((_opening, by) => {
    if (by === 'dynamic') dynamic += 1
  })
  const { onEvent } = watchRuns({
    begins: () => undefined,
    tells(event) {
      openings.onEvent(event)
      if (event.type === 'tools/injected') injected += event.names.length
      else if (event.type === 'run/expanded') restarts += 1
      else if (event.type === 'tool/called' && !event.isLeft) calls += 1
      else if (event.type === 'tool/invoked' && !event.ok) failures += 1
    },
    ends: () => openings.settle(),
  })
  return {
    onEvent,
    read: () => ({
      [TOOLS_INJECTED]: injected,
      [RESTARTS]: restarts,
      [DYNAMIC_OPENINGS]: dynamic,
      [TOOL_CALLS]: calls,
      [TOOL_FAILURES]: failures,
    }),
  }
}
