import { compareDelegating, type DelegateTerms, type SectionUse } from '../core/price/delegate.ts'
import type { RecordedRun } from './recording.ts'
import { isWithin } from './replay.ts'

/** A section that a delegate would answer for less, over some runs. */
export interface DelegateProposal {
  readonly path: string
  readonly runs: number
  readonly used: number
  readonly tokens: number
  readonly message: string
}

/** Finds the sections whose openings cost more than questions about them would have, among those that are folded. */
export function proposeDelegates(
  runs: readonly RecordedRun[],
  paths: readonly string[],
  { minRuns, ...terms }: DelegateTerms & { readonly minRuns: number },
): readonly DelegateProposal[] {
  return paths.flatMap((path) => {
    const uses = runs.flatMap((run) => findUse(run, path) ?? [])
    if (uses.length < minRuns) return []
    const costs = uses.map((use) => compareDelegating(use, terms))
    const opening = costs.reduce((sum, cost) => sum + cost.opening, 0)
    const tokens = opening - costs.reduce((sum, cost) => sum + cost.asking, 0)
    // What is saved must be worth that the model sees an answer instead of the text.
    if (tokens < opening * LEAST_SHARE) return []
    return [{ path, runs: runs.length, used: uses.length, tokens, message: describe(path, uses, { tokens, opening }) }]
  })
}

const LEAST_SHARE = 0.2

/** Measures what a run did with a section after it had opened it. */
function findUse(run: RecordedRun, path: string): SectionUse | undefined {
  const opening = run.openings.find(
    ({ answeredBy, keys, request }) => answeredBy !== 'none' && request >= 0 && keys.some((key) => isWithin(key, path)),
  )
  const request = opening && run.requests[opening.request]
  if (!opening || !request) return undefined
  const within = run.sections.filter((section) => isWithin(section.path, path))
  const tools = new Set(within.flatMap((section) => section.tools.map(({ name }) => name)))
  const calls = run.toolCalls.filter(({ name, request: at }) => tools.has(name) && at > opening.request)
  const at = new Set(calls.map(({ request: index }) => index))
  const section = within.reduce((sum, { fullTokens, tools: own }) => {
    return sum + fullTokens + own.reduce((all, { tokens }) => all + tokens, 0)
  }, 0)
  return {
    context: request.systemTokens + request.toolTokens + request.conversationTokens,
    section,
    requests: at.size,
    results: calls.reduce((sum, { argumentsTokens, resultTokens }) => sum + argumentsTokens + resultTokens, 0),
    later: run.requests.length - 1 - Math.max(opening.request, ...at),
  }
}

function describe(
  path: string,
  uses: readonly SectionUse[],
  { tokens, opening }: { readonly tokens: number; readonly opening: number },
): string {
  const share = Math.round((tokens / opening) * 100)
  const runs = uses.length === 1 ? '1 run' : `${uses.length} runs`
  return `Delegate section '${path}' (delegate: true): ${runs} opened it, which cost about ${opening.toLocaleString('en')} tokens with a prompt cache. Questions about it would have cost ${share} % less, if the model only needs answers. A cheaper model saves more.`
}
