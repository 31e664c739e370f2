import { formatCount, shorten } from '../../core/text.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import type { ArmReport, CompareReport, CompareVerdict, CostByCache } from '../contract/report.ts'

/** A comparison as tables and sentences. Names come from files, so they are made safe to print. */
export interface ReportRows {
  readonly title: string
  readonly arms: readonly (readonly string[])[]
  readonly costs: readonly (readonly string[])[]
  readonly sentences: readonly string[]
}

const VERDICTS: Readonly<Record<CompareVerdict, string>> = {
  'not-worse': 'not worse',
  worse: 'worse',
  undecided: 'undecided',
  'no-signal': 'no verdict',
}

const STOPPED: Readonly<Record<string, string>> = {
  decided: 'It ended early, because it was decided.',
  budget: 'It ended early, because the budget was spent.',
  aborted: 'It was stopped.',
}

export function toRows(report: CompareReport): ReportRows {
  const { arms, base, repeats, cases, margin, stopped } = report
  const entries = Object.entries(arms)
  return {
    title: `${formatCount(cases.length, 'case')}, ${repeats.done} of ${formatCount(repeats.planned, 'repeat')}. The base is ${toName(base)}; a drop of ${toPoints(margin)} points counts as worse.`,
    arms: [
      ['arm', 'success', 'from base', 'verdict', 'better', 'worse', 'missed', 'requests', 'tokens', 's'],
      ...entries.map(([name, arm]) => toArmRow(name, arm)),
    ],
    costs: toCostRows(report),
    sentences: [
      ...(stopped === null ? [] : [STOPPED[stopped] ?? '']),
      ...entries.flatMap(([name, arm]) => describeArm(name, arm)),
      ...report.notes,
      ...report.assumptions,
    ].map((sentence) => toVisibleText(sentence).replaceAll(/\s+/g, ' ')),
  }
}

export function toName(name: string): string {
  return shorten(toVisibleText(name).replaceAll(/\s+/g, ' '), 40)
}

export function getVerdict(verdict: CompareVerdict): string {
  return VERDICTS[verdict]
}

function toArmRow(name: string, arm: ArmReport): readonly string[] {
  const { success, interval, openings, requests, inputTokens, seconds, errors } = arm
  const title = [toName(name)]
  if (errors > 0) title.push(`(${formatCount(errors, 'error')})`)
  let missed = '–'
  if (openings.needed > 0) missed = `${openings.missedInAll} of ${openings.needed}`
  return [
    title.join(' '),
    `${toPercent(success)} [${toPoints(interval.low, 0)}, ${toPoints(interval.high, 0)}]`,
    ...toAgainstCells(arm),
    missed,
    requests.toFixed(1),
    String(Math.round(inputTokens)),
    seconds.p50.toFixed(1),
  ]
}

function toAgainstCells({ against }: ArmReport): readonly string[] {
  if (!against) return ['–', 'base', '–', '–']
  const { difference, interval, verdict, better, worse } = against
  const ends = `[${toSigned(interval.low, 0)}, ${toSigned(interval.high, 0)}]`
  return [`${toSigned(difference)} ${ends}`, VERDICTS[verdict], String(better), String(worse)]
}

function toCostRows({ arms, base, perHour }: CompareReport): ReportRows['costs'] {
  const priced = Object.entries(arms).flatMap(([name, { money }]) => (money ? [{ name, money }] : []))
  if (priced.length === 0) return []
  const reference = arms[base]?.money
  const isShown = ([state]: readonly [keyof CostByCache, string]): boolean => state !== 'atTraffic' || perHour !== null
  const states = (
    [
      ['cold', 'cold cache'],
      ['warm', 'warm cache'],
      ['atTraffic', `at ${perHour ?? 0} an hour`],
    ] as const
  ).filter(isShown)
  const last = states.at(-1) ?? states[0] ?? (['warm', 'warm cache'] as const)
  return [
    ['dollars for 1,000 runs', ...states.map(([, title]) => title), `for 1,000 successes, ${last[1]}`],
    ...priced.map(({ name, money }) => [
      toName(name),
      ...states.map(([state]) => toDollars(money.usd[state], reference?.usd[state])),
      toDollars(money.usdPerSuccess?.[last[0]] ?? null, reference?.usdPerSuccess?.[last[0]]),
    ]),
  ]
}

function toDollars(usd: number | null, of: number | null | undefined): string {
  if (usd === null) return '–'
  const text = (1_000 * usd).toFixed(2)
  if (!of || of === usd) return text
  const ratio = Math.round((100 * usd) / of) - 100
  return `${text} (${ratio < 0 ? `−${-ratio}` : `+${ratio}`} %)`
}

const MOST_SECTIONS = 5

/** What the row of an arm does not say. */
function describeArm(name: string, { against, openings, callsNotOffered }: ArmReport): readonly string[] {
  const own = toName(name)
  const missed = openings.sections.filter((section) => section.missed > 0).slice(0, MOST_SECTIONS)
  const sentences = (against?.reasons ?? []).map((reason) => `${own}: ${reason}`)
  if (against?.verdict === 'undecided' && against.casesNeeded !== null)
    sentences.push(
      `${own} is undecided. About ${against.casesNeeded} cases would decide it if it is as good as the base.`,
    )
  for (const section of missed)
    sentences.push(
      `${own} missed ${toName(section.path)} in ${section.missed} of ${section.needed} runs that needed it; ${section.missedInFailures} of these failed${formatWaste(section.wastedUsd)}.`,
    )
  if (callsNotOffered > 0) sentences.push(`${own} called tools that were not offered ${callsNotOffered} times.`)
  return sentences
}

function formatWaste(usd: number | null): string {
  return usd === null || usd === 0 ? '' : ` and cost $${usd.toFixed(usd < 1 ? 4 : 2)}`
}

const toPercent = (share: number): string => `${(100 * share).toFixed(1)} %`

const toPoints = (share: number, digits = 1): string => String(Number((100 * share).toFixed(digits)))

/** A difference of two shares, in points. */
export function toSigned(difference: number, digits = 1): string {
  const points = (100 * Math.abs(difference)).toFixed(digits)
  if (Number(points) === 0) return `±${points}`
  return `${difference < 0 ? '−' : '+'}${points}`
}
