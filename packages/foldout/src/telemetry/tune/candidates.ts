import type { TokenCounter } from '../../core/tokens/tokens.ts'
import type { DisclosureStrategy } from '../../disclosure/strategy.ts'
import { type CacheOptions, getCache } from '../simulate/cache.ts'
import { chooseFolds } from '../../core/price/fold.ts'
import { getRegistry } from '../../prompt/prompt.ts'
import type { Slot } from '../../prompt/definition/registry.ts'
import { createSession } from '../../session/session.ts'
import type { Visibility, VisibilityOverrides } from '../../session/visibility.ts'
import { getTraffic } from '../simulate/simulate.ts'
import type { SimulatedRun } from '../simulate/contract.ts'
import { isKnown, learnNeeds } from './needs.ts'

/** A way to fold a prompt. */
export interface TuneCandidate {
  readonly name: string
  readonly visibility: VisibilityOverrides
  /** Whether sections are opened ahead. */
  readonly ahead: boolean
}

/** Lists the ways to fold the prompt of some runs, the first of which is as it is. */
export function listCandidates(runs: readonly SimulatedRun[], options: TuneOptions): readonly TuneCandidate[] {
  const [first] = runs
  if (!first) return []
  const slots = getRegistry(first.prompt.prompt).slots.filter(
    (slot) => slot.section.summary !== undefined && isKnown(slot),
  )
  const all = (how: Visibility): VisibilityOverrides => Object.fromEntries(slots.map(({ path }) => [path, how]))
  const ways = [
    { name: 'as it is', visibility: {} },
    { name: 'all open', visibility: all('full') },
    { name: 'all folded', visibility: all('summary') },
    { name: 'by need', visibility: foldByNeed(slots, runs, options) },
  ]
  const asked = runs.some(({ input = '' }) => input !== '')
  return ways.flatMap(({ name, visibility }): readonly TuneCandidate[] => {
    const plain = { name, visibility, ahead: false }
    // With everything open, there is nothing to open ahead.
    if (!asked || name === 'all open') return [plain]
    return [plain, { name: `${name} and ahead`, visibility, ahead: true }]
  })
}

/** Folds the outermost sections by the share of runs that needed them. */
function foldByNeed(slots: readonly Slot[], runs: readonly SimulatedRun[], options: TuneOptions): VisibilityOverrides {
  const [first] = runs
  if (!first) return {}
  const needs = learnNeeds(runs)
  const everything = Object.fromEntries(slots.map(({ path }) => [path, 'full' as const]))
  const counter = options.counter === undefined ? {} : { counter: options.counter }
  const render = (visibility: VisibilityOverrides): number =>
    first.prompt.render({ session: createSession(), visibility, ...counter }).tokens.total
  const whole = render(everything)
  const own = slots.filter(({ path }) => !slots.some((other) => path.startsWith(`${other.path}.`)))
  const items = own.map(({ path }) => {
    // The tool that opens sections comes with the first fold, and is counted by itself.
    const saved = whole - render({ ...everything, [path]: 'summary' }) + TOOL_TOKENS
    return { need: needs.get(path) ?? 0, full: saved + SUMMARY_TOKENS, folded: SUMMARY_TOKENS }
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
}
