import { NO_USAGE } from '../../adapters/contract.ts'
import { dropUndefined } from 'foldout-shared/values'
import type { ArmReport, CaseReport, CompareCell, CompareReport } from '../contract/report.ts'
import type { SavedHeader, SavedRun } from '../contract/saved.ts'
import { getLookZ } from '../statistics/looks.ts'
import { compareWithBase, getWorst } from './against.ts'
import { describeArm } from './arm.ts'
import { findCost, getTtlMs } from './money.ts'
import { findMissed, findNeeds, type Needs } from './openings.ts'
import { indexRuns, type KnownRuns } from './runs.ts'

/**
 * What is known about a comparison besides its runs.
 *
 * @example
 * ```ts
 * const options: ReportOptions = { stopped: 'aborted' }
 * ```
 */
export interface ReportOptions {
  /** Why no more runs are made. */
  readonly stopped?: CompareReport['stopped']
  /** Sentences for the report. */
  readonly notes?: readonly string[]
}

/**
 * Describes what runs have shown. The looks are taken in their order, so that a saved comparison says the same as the one
 * that saved it.
 *
 * @example
 * ```ts
 * const report = describeRuns(header, runs)
 * report.verdict // => 'no-signal'
 * ```
 */
export function describeRuns(
  header: SavedHeader,
  runs: readonly SavedRun[],
  options: ReportOptions = {},
): CompareReport {
  const { looks } = header
  for (const [look, repeats] of looks.entries()) {
    const known = indexRuns(header, runs, repeats)
    const isDone = countRepeats(header, known) >= repeats
    const isLast = look === looks.length - 1
    const found = judge(header, known, getLookZ(look, looks.length))
    const isDecided = isDone && [...found.against.values()].every(({ verdict }) => DECIDED.has(verdict))
    if (isDone && !isLast && !isDecided) continue
    const stopped = isDecided && !isLast ? 'decided' : (options.stopped ?? null)
    return compose(header, { known, ...found, stopped, notes: options.notes ?? [] }, runs)
  }
  throw new Error('A comparison has at least one look.')
}

const DECIDED: ReadonlySet<string> = new Set(['not-worse', 'worse'])

type Against = ReadonlyMap<string, ReturnType<typeof compareWithBase>>

interface Judged {
  readonly needs: Needs
  readonly against: Against
}

function judge(header: SavedHeader, known: KnownRuns, z: number): Judged {
  const needs = findNeeds(header, known)
  const others = Object.keys(header.arms).filter((arm) => arm !== header.base)
  return { needs, against: new Map(others.map((arm) => [arm, compareWithBase(header, known, arm, { z, needs })])) }
}

/** How often every arm has run every case. */
function countRepeats({ arms, cases }: SavedHeader, known: KnownRuns): number {
  const counts = Object.keys(arms).flatMap((arm) => cases.map(({ id }) => known.get(arm, id).length))
  return Math.min(...new Set(counts))
}

interface Parts extends Judged {
  readonly known: KnownRuns
  readonly stopped: CompareReport['stopped']
  readonly notes: readonly string[]
}

function compose(header: SavedHeader, parts: Parts, runs: readonly SavedRun[]): CompareReport {
  const { known, needs, against, stopped } = parts
  const { prices, base } = header
  const arms = Object.fromEntries(
    Object.keys(header.arms).map((arm): [string, ArmReport] => [
      arm,
      describeArm(header, known, { arm, needs, against: against.get(arm) }),
    ]),
  )
  const counted = Object.keys(header.arms).flatMap((arm) => known.ofArm(arm))
  const usages = counted.flatMap(({ usage, userUsage }) => [usage, userUsage ?? NO_USAGE])
  return {
    version: 1,
    base,
    verdict: getWorst([...against.values()].map(({ verdict }) => verdict)),
    margin: header.margin,
    repeats: { done: countRepeats(header, known), planned: header.repeat },
    stopped,
    arms,
    cases: header.cases.map((one) => describeCase(one, { known, needs, arms: Object.keys(header.arms) })),
    prices,
    perHour: header.perHour,
    spentUsd: usages.reduce((sum, usage) => sum + (findCost(usage, prices) ?? 0), 0),
    assumptions: describeAssumptions(header),
    notes: [...parts.notes, ...describeNotes(header, { known, arms, runs })],
  }
}

interface CaseParts {
  readonly known: KnownRuns
  readonly needs: Needs
  readonly arms: readonly string[]
}

function describeCase(one: SavedHeader['cases'][number], { known, needs, arms }: CaseParts): CaseReport {
  const { id, input, conversation } = one
  const own = needs.get(id) ?? []
  const toCell = (runs: readonly SavedRun[]): CompareCell => ({
    scores: runs.map(({ score }) => score),
    errors: runs.filter(({ error }) => error !== null).length,
    hasMissed: runs.some((run) => findMissed(run, own).missed.length > 0),
    runs: runs.map(({ run }) => run),
  })
  const cells = arms.map((arm): [string, CompareCell] => [arm, toCell(known.get(arm, id))])
  return {
    id,
    input,
    ...dropUndefined({ conversation }),
    needs: own,
    arms: Object.fromEntries(cells),
  }
}

function describeAssumptions({ prices, perHour, counter, base }: SavedHeader): readonly string[] {
  const needs = `A case needs the sections that it names, and those whose tools good runs of '${base}' have called.`
  const tokens = counter.exact
    ? `Tokens are counted exactly (${counter.name}).`
    : `Tokens are estimated (${counter.name}).`
  if (!prices) return [needs, tokens]
  const { minimum = 1_024, step, added = 'in-place' } = prices
  const shared = step === undefined ? 'whole blocks' : `steps of ${step} tokens`
  return [
    needs,
    tokens,
    'Dollars are those of the recorded requests, billed again: an experiment is always warm.',
    `The cache holds ${shared} of requests of ${minimum} tokens or more, for ${getTtlMs(prices) / 1_000} seconds.`,
    added === 'in-place'
      ? 'Tools that are added to a conversation are sent behind it.'
      : 'Tools that are added to a conversation are sent at the end of the list of tools, so everything behind it is new.',
    ...(perHour === null
      ? []
      : [`${perHour} conversations an hour begin with the prompt. As many begin alike as the cases do.`]),
  ]
}

interface NoteParts {
  readonly known: KnownRuns
  readonly arms: Readonly<Record<string, ArmReport>>
  readonly runs: readonly SavedRun[]
}

/** How far the provider's count of the input may be from ours before it is worth a word. */
const MAX_DEVIATION = 0.1

function describeNotes({ cases }: SavedHeader, { known, arms }: NoteParts): readonly string[] {
  const notes: string[] = []
  if (known.others > 0)
    notes.push(`${known.others} saved runs are left out, because their case or their arm has changed since.`)
  const all = Object.values(arms)
  const counted = all.reduce((sum, { inputTokens, runs }) => sum + inputTokens * runs, 0)
  const reported = all.reduce((sum, arm) => sum + arm.reported.inputTokens, 0)
  const ratio = counted === 0 || reported === 0 ? 1 : reported / counted
  if (Math.abs(ratio - 1) > MAX_DEVIATION)
    notes.push(
      `The provider counted ${Math.round(reported)} tokens of input, these figures ${Math.round(counted)}. Dollars are those of the latter.`,
    )
  if (cases.some(({ conversation }) => conversation !== undefined))
    notes.push('Cases of one conversation count as one: the intervals are those of the conversations.')
  const errors = all.reduce((sum, arm) => sum + arm.errors, 0)
  if (errors > 0) notes.push(`${errors} runs ended with an error and count as failed.`)
  return notes
}
