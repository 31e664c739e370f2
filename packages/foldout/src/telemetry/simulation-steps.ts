import { READ_RESULT } from '../results/read-result.ts'
import type { RecordedRun } from './recording.ts'
import { groupByRequest } from './replay.ts'
import type { SimulationStep } from './simulate/contract.ts'

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
  const readBacks = groupByRequest(run.readBacks ?? [])
  const numbers = new Map<string, number>()
  return run.requests.flatMap((request, at): SimulationStep[] => {
    const made = callsByRequest.get(at) ?? []
    const opens = made.flatMap(({ callId }) => openings.get(callId)?.keys ?? [])
    const needs = (readBacks.get(at) ?? []).flatMap(({ callId, tokens }) => {
      const call = numbers.get(callId)
      if (call === undefined) return []
      return [{ call, tokens }]
    })
    const own = made.filter(({ ok, isDisclosure, name }) => ok !== null && !isDisclosure && name !== READ_RESULT)
    for (const { callId } of own) numbers.set(callId, numbers.size + 1)
    const calls = own.map(({ name, argumentsTokens, resultTokens, target }) => ({
      name,
      argumentsTokens,
      resultTokens,
      ...(target !== undefined && { target }),
    }))
    const isAnswer = at === run.requests.length - 1 && made.length === 0 && request.usage !== null
    return [
      ...(needs.length > 0 ? [{ needs }] : []),
      ...(opens.length > 0 ? [{ opens }] : []),
      ...(calls.length > 0 ? [{ calls }] : []),
      ...(isAnswer ? [{ answers: request.outputTokens }] : []),
    ]
  })
}
