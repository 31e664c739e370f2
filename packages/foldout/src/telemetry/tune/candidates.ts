import type { TokenCounter } from '../../core/tokens/tokens.ts'
import type { DisclosureStrategy } from '../../disclosure/strategy.ts'
import { type Bill, type CacheOptions, getCache } from '../simulate/cache.ts'
import { chooseFolds } from '../../core/price/fold.ts'
import { getRegistry } from '../../prompt/prompt.ts'
import { findToolOnDemand, hashTool } from '../../prompt/overrides/descriptor.ts'
import type { PromptOverrides } from '../../prompt/overrides/overrides.ts'
import type { Slot } from '../../prompt/definition/registry.ts'
import { createSession } from '../../session/session.ts'
import type { Visibility, VisibilityOverrides } from '../../session/visibility.ts'
import { getTraffic } from '../simulate/simulate.ts'
import type { SimulatedRun, SimulationOptions } from '../simulate/contract.ts'
import { isWithin } from '../replay.ts'
import { measurePrompt } from '../section-costs.ts'
import { listCores } from './core-tools.ts'
import { isKnown, learnNeeds } from './needs.ts'

/** A way to fold a prompt. */
export interface TuneCandidate {
  readonly name: string
  readonly visibility: VisibilityOverrides
  /** Whether sections are opened ahead. */
  readonly ahead: boolean
  /** Tools of catalogs that are listed from the start. */
  readonly core: readonly string[]
}

/** The prompt as it is. */
export const UNCHANGED: TuneCandidate = { name: 'as it is', visibility: {}, ahead: false, core: [] }

const PLAIN: ReadonlySet<string> = new Set([UNCHANGED.name, 'all open', 'all folded'])

/** Whether a way is the same whatever the runs need. */
export function isPlain({ name }: TuneCandidate): boolean {
  return PLAIN.has(name)
}

/** Lists the ways to fold the prompt of some runs, the first of which is as it is. */
export function listCandidates(runs: readonly SimulatedRun[], options: TuneOptions): readonly TuneCandidate[] {
  const [first] = runs
  if (!first) return []
  const slots = getRegistry(first.prompt.prompt).slots.filter(
    (slot) => slot.section.summary !== undefined && slot.section.acceptsOverrides && isKnown(slot),
  )
  if (slots.length === 0) return [UNCHANGED]
  const all = (how: Visibility): VisibilityOverrides => Object.fromEntries(slots.map(({ path }) => [path, how]))
  const ways = [
    UNCHANGED,
    { ...UNCHANGED, name: 'all open', visibility: all('full') },
    { ...UNCHANGED, name: 'all folded', visibility: all('summary') },
    { ...UNCHANGED, name: 'by need', visibility: foldByNeed(slots, runs, options) },
  ]
  const asked = runs.some(({ input = '' }) => input !== '')
  return ways.flatMap((way): readonly TuneCandidate[] => {
    // With everything open, there is nothing to open ahead.
    if (!asked || way.name === 'all open') return [way]
    return [way, { ...way, name: `${way.name} and ahead`, ahead: true }]
  })
}

/** Adds core tools to a way. */
export function addCores(
  way: TuneCandidate,
  runs: readonly SimulatedRun[],
  { counter }: TuneOptions,
): readonly TuneCandidate[] {
  const [first] = runs
  if (!first) return []
  const cores = listCores(runs, getRegistry(first.prompt.prompt), counter)
  return cores.map((core) => ({
    ...way,
    core,
    name: `${way.name} with ${core.length} core ${core.length === 1 ? 'tool' : 'tools'}`,
  }))
}

/** Writes a way as overrides. */
export function toOverrides(
  { visibility, ahead, core }: TuneCandidate,
  { prompt }: Pick<SimulatedRun['prompt'], 'prompt'>,
): PromptOverrides {
  const sections = prompt.descriptor.sections.flatMap(({ path, hash }) => {
    const wanted = visibility[path]
    return wanted === undefined ? [] : [[path, { hash, visibility: wanted }] as const]
  })
  const tools = core.flatMap((name) => {
    const found = findToolOnDemand(getRegistry(prompt), name)
    return found ? [[name, { hash: hashTool(found.tool), core: true }] as const] : []
  })
  return {
    ...(sections.length > 0 && { sections: Object.fromEntries(sections) }),
    ...(tools.length > 0 && { tools: Object.fromEntries(tools) }),
    ...(ahead && { ahead: { max: 1 } }),
  }
}

/** Folds the outermost sections by the share of runs that needed them. */
function foldByNeed(slots: readonly Slot[], runs: readonly SimulatedRun[], options: TuneOptions): VisibilityOverrides {
  const [first] = runs
  if (!first) return {}
  const getNeed = learnNeeds(runs)
  const everything = Object.fromEntries(slots.map(({ path }) => [path, 'full' as const]))
  const counter = options.counter === undefined ? {} : { counter: options.counter }
  const whole = first.prompt.render({ session: createSession(), visibility: everything, ...counter }).tokens.total
  const own = slots.filter(({ path }) => !slots.some((other) => path.startsWith(`${other.path}.`)))
  const { sections } = measurePrompt(first.prompt, counter)
  const items = own.map(({ path }) => {
    const within = sections.filter((section) => isWithin(section.path, path))
    const costs = within.flatMap(({ fullTokens, tools }) => [fullTokens, ...tools.map(({ tokens }) => tokens)])
    const folded = within[0]?.summaryTokens ?? SUMMARY_TOKENS
    return { need: getNeed(path), full: costs.reduce((sum, tokens) => sum + tokens, 0), folded }
  })
  const cache = getCache(options)
  const base = Math.max(0, whole - items.reduce((sum, { full }) => sum + full, 0))
  const requests = countRequests(runs)
  const terms = { cache, perHour: getTraffic(options), requests, base, tool: TOOL_TOKENS }
  const { folded } = chooseFolds(items, terms)
  return Object.fromEntries(own.map(({ path }, at) => [path, folded.has(at) ? 'summary' : 'full']))
}

/** The tokens of the tool that opens sections, and those of a summary. */
const TOOL_TOKENS = 110
const SUMMARY_TOKENS = 45

function countRequests(runs: readonly SimulatedRun[]): number {
  const steps = runs.reduce((sum, run) => sum + run.steps.filter((step) => !('opens' in step)).length, 0)
  return Math.max(1, Math.round(steps / Math.max(1, runs.length)))
}

/**
 * Options of {@link tune}: what runs are billed at.
 *
 * @example
 * ```ts
 * const options: TuneOptions = { cache: 'anthropic', cacheStart: { perHour: 40 } }
 * ```
 */
export interface TuneOptions extends CacheOptions {
  /** The strategy of the prompt. Default `readSection()`. */
  readonly strategy?: DisclosureStrategy
  readonly counter?: TokenCounter
  /** With fewer runs than this, nothing is recommended. Default 10. */
  readonly minRuns?: number
  /** Bills a run. Default `simulate`. One that remembers makes further prices quick. */
  readonly simulate?: (run: SimulatedRun, options: SimulationOptions) => Promise<Bill>
}
