import { learnCore } from '../../catalog/use/learn-core.ts'
import { estimatedTokens, type TokenCounter } from '../../core/tokens/tokens.ts'
import { findToolOnDemand } from '../../prompt/overrides/descriptor.ts'
import type { Registry } from '../../prompt/definition/registry.ts'
import { toolTokens } from '../../tools/definition.ts'
import type { SimulatedCall, SimulatedRun, SimulationStep } from '../simulate/contract.ts'
import type { CatalogRecording, RecordedClient } from '../../catalog/use/recording.ts'

/** What a call through a meta tool costs beyond a direct one, and what a search costs, where no run has recorded it. */
const WRAPPING_TOKENS = 12
const SEARCH: Omit<SimulatedCall, 'name'> = { argumentsTokens: 12, resultTokens: 280 }

/** The most core tools that are tried, in steps. */
const SIZES = [1, 2, 4, 8]

const RUNNERS: ReadonlySet<string> = new Set(['use_tool', 'discover_and_use_tool'])
const FINDERS: ReadonlySet<string> = new Set(['search_tools', 'discover_and_use_tool', 'look_up_tools'])

/** Returns the tool that a call runs through a meta tool. */
function getTarget({ name, target }: SimulatedCall): string | undefined {
  if (RUNNERS.has(name)) return target
  return undefined
}

function isSearch({ name, target }: SimulatedCall): boolean {
  return FINDERS.has(name) && target === undefined
}

/** Lists sets of tools that may be worth listing from the start: those that save most, in groups of several sizes. */
export function listCores(
  runs: readonly SimulatedRun[],
  registry: Registry,
  counter: TokenCounter = estimatedTokens,
): readonly (readonly string[])[] {
  if (!registry.hasToolsOnDemand) return []
  const clients = runs.map(toClient)
  const names = [...new Set(clients.flatMap(({ uses }) => uses.map(({ name }) => name)))]
  const tools = names.flatMap((name) => {
    const found = findToolOnDemand(registry, name)
    if (!found?.acceptsOverrides) return []
    return [{ name, tokens: toolTokens(found.tool, counter) }]
  })
  const recording: CatalogRecording = { version: 1, tools, clients }
  const ranked = learnCore(recording, { minClients: 0, minUses: 0 }).tools.map(({ name }) => name)
  const sizes = new Set(SIZES.map((size) => Math.min(size, ranked.length)))
  return [...sizes].filter((size) => size > 0).map((size) => ranked.slice(0, size))
}

/** The run as a catalog would have recorded it. */
function toClient({ steps }: SimulatedRun, index: number): RecordedClient {
  const calls = steps.flatMap((step) => ('calls' in step ? step.calls : []))
  const searches = calls.flatMap((call, at) => {
    if (!isSearch(call)) return []
    return [{ at, hits: listFound(calls, at), tokens: call.argumentsTokens + call.resultTokens }]
  })
  const uses = calls.flatMap((call, at) => {
    const name = getTarget(call)
    if (name === undefined) return []
    return [{ at, name, through: call.name, ok: true, wrappingTokens: WRAPPING_TOKENS }]
  })
  return { id: String(index), lists: [], searches, definitions: [], uses }
}

/** What a search led to: the tools that were used before the next one. */
function listFound(calls: readonly SimulatedCall[], at: number): readonly string[] {
  const found: string[] = []
  for (const call of calls.slice(at + 1)) {
    if (isSearch(call)) break
    const name = getTarget(call)
    if (name !== undefined) found.push(name)
  }
  return found
}

/** Lets a run call the tools of a catalog as a model that sees none of them: it finds each of them first. */
export function withoutCore(run: SimulatedRun, registry: Registry): SimulatedRun {
  const listed = registry.withTools.flatMap(({ section }) => section.tools)
  const runner = listed.find(({ name }) => RUNNERS.has(name))
  if (!registry.hasToolsOnDemand || !runner) return run
  const search = { ...SEARCH, name: listed.find(({ findsTools }) => findsTools)?.name ?? runner.name }
  const isHidden = ({ name }: SimulatedCall): boolean =>
    listed.every((tool) => tool.name !== name) && findToolOnDemand(registry, name) !== undefined
  const found = new Set<string>()
  const steps = run.steps.flatMap((step): readonly SimulationStep[] => {
    if (!('calls' in step)) return [step]
    const calls = step.calls.map((call): SimulatedCall => {
      if (!isHidden(call)) return call
      const { target = call.name, argumentsTokens } = call
      return { ...call, name: runner.name, target, argumentsTokens: argumentsTokens + WRAPPING_TOKENS }
    })
    const hidden = step.calls.filter((call) => isHidden(call)).map(({ name, target = name }) => target)
    const searches = [...new Set(hidden)].filter((name) => !found.has(name)).map(() => search)
    for (const name of calls.flatMap((call) => getTarget(call) ?? [])) found.add(name)
    if (searches.length === 0) return [{ calls }]
    return [{ calls: searches }, { calls }]
  })
  return { ...run, steps }
}

/** Lets a run call core tools by their names. A search that led to nothing else is not made. */
export function withCore(run: SimulatedRun, core: readonly string[], registry: Registry): SimulatedRun {
  const all = run.steps.flatMap((step) => ('calls' in step ? step.calls : []))
  let at = -1
  const replace = (call: SimulatedCall): readonly SimulatedCall[] => {
    at++
    const found = isSearch(call) ? listFound(all, at) : []
    if (found.length > 0 && found.every((name) => core.includes(name))) return []
    const target = getTarget(call)
    const tool = target !== undefined && core.includes(target) ? findToolOnDemand(registry, target)?.tool : undefined
    if (!tool) return [call]
    return [{ ...call, name: tool.name, argumentsTokens: Math.max(0, call.argumentsTokens - WRAPPING_TOKENS) }]
  }
  const steps = run.steps.flatMap((step): readonly SimulationStep[] => {
    if (!('calls' in step)) return [step]
    const calls = step.calls.flatMap(replace)
    return calls.length === 0 ? [] : [{ calls }]
  })
  return { ...run, steps }
}
