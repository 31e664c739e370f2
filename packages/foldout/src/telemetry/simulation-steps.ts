import type { RecordedRun } from './recording.ts'
import { groupByRequest } from './replay.ts'
import type { SimulationStep } from './simulate/simulate.ts'

/**
 * Turns a recorded run into steps for {@link simulate}, which computes the cost of the run with another strategy or
 * adapter.
 *
 * @example
 * ```ts
 * for (const run of recording.runs) {
 *   const steps = toSimulationSteps(run)
 *   const { billedTokens } = await simulate({ prompt: bound, steps }, { strategy: openSections() })
 * }
 * ```
 */
export function toSimulationSteps(run: RecordedRun): readonly SimulationStep[] {
  const openings = new Map(run.openings.map((opening) => [opening.callId, opening]))
  const callsByRequest = groupByRequest(run.toolCalls)
  return run.requests.flatMap((request, at): SimulationStep[] => {
    const made = callsByRequest.get(at) ?? []
    const opens = made.flatMap(({ callId }) => openings.get(callId)?.keys ?? [])
    const calls = made
      .filter(({ ok, isDisclosure }) => ok !== null && !isDisclosure)
      .map(({ name, argumentsTokens, resultTokens }) => ({ name, argumentsTokens, resultTokens }))
    const isAnswer = at === run.requests.length - 1 && made.length === 0 && request.usage !== null
    return [
      ...(opens.length > 0 ? [{ opens }] : []),
      ...(calls.length > 0 ? [{ calls }] : []),
      ...(isAnswer ? [{ answers: request.outputTokens }] : []),
    ]
  })
}
