import { createFault } from './contract/fault.ts'
import { checkNumber, describeGiven } from '../core/check-number.ts'
import { isObject } from 'foldout-shared/values'
import { shorten } from '../core/text.ts'
import { estimatedTokens, type TokenCounter } from '../core/tokens/tokens.ts'
import { MAX_ID_CHARACTERS } from './cases/limits.ts'
import { checkCases, readCases } from './cases/read-cases.ts'
import type { CompareArm } from './contract/arms.ts'
import type { CompareCase } from './contract/cases.ts'
import type { CompareOptions, ComparePrices, ArmRunOptions } from './contract/options.ts'
import { checkGraded, chooseGraders, type Graders } from './grade/grade-run.ts'
import { MAX_LOOKS } from './statistics/looks.ts'

/** What every run needs, checked, with its defaults. */
interface RunChoices<World> {
  readonly graders: Graders<World>
  readonly prices: ComparePrices | null
  readonly maxUserTurns: number
  readonly counter: TokenCounter
}

/** The options of a comparison, checked, with their defaults. */
export interface Terms<World> extends RunChoices<World> {
  readonly cases: readonly CompareCase[]
  readonly arms: Readonly<Record<string, CompareArm<World>>>
  readonly base: string
  readonly repeat: number
  readonly looks: readonly number[]
  readonly margin: number
  readonly perHour: number | null
  readonly seed: number
  readonly parallel: number
}

const DEFAULT_MARGIN = 0.05
const DEFAULT_PARALLEL = 4
const DEFAULT_USER_TURNS = 30
const MAX_REPEATS = 1_000

/** Reads and checks the options of a comparison, before anything is paid. */
export async function readTerms<World>(options: CompareOptions<World>): Promise<Terms<World>> {
  const { repeat = 1, margin = DEFAULT_MARGIN, seed = 1, parallel = DEFAULT_PARALLEL, looks = [repeat] } = options
  checkWhole('repeat', repeat, MAX_REPEATS)
  checkWhole('parallel', parallel, MAX_REPEATS)
  checkLooks(looks, repeat)
  if (!(margin > 0 && margin < 1)) throw createFault(`margin is ${describeGiven(margin)}. Pass a share, such as 0.05.`)
  for (const [name, value] of Object.entries({ perHour: options.perHour, budget: options.budget, seed }))
    checkNumber(name, value, { code: 'compare-invalid' })
  const base = checkArms(options)
  const cases = typeof options.cases === 'string' ? await readCases(options.cases) : checkCases(options.cases)
  const shared = readRunTerms(options, cases)
  checkGraded(shared.graders, cases)
  return {
    ...shared,
    cases,
    arms: options.arms,
    base,
    repeat,
    looks,
    margin,
    perHour: options.perHour ?? null,
    seed,
    parallel,
  }
}

/** Checks what every run needs, whether or not it is compared. */
export function readRunTerms<World>(
  { grade, user, prices, maxUserTurns = DEFAULT_USER_TURNS, counter = estimatedTokens }: ArmRunOptions<World>,
  cases: readonly CompareCase[],
): RunChoices<World> {
  checkWhole('maxUserTurns', maxUserTurns, MAX_REPEATS)
  checkPrices(prices)
  const silent = user ? undefined : cases.find((task) => task.user !== undefined)
  if (silent)
    throw createFault(`The case '${shorten(silent.id)}' has a user, but nobody plays users. Pass a function as user.`)
  return { graders: chooseGraders(grade, cases), prices: prices ?? null, maxUserTurns, counter }
}

function checkArms<World>({ arms, base, adapter, offline }: CompareOptions<World>): string {
  const names = isObject(arms) ? Object.keys(arms) : []
  const [first] = names
  if (first === undefined)
    throw createFault('There are no arms. Pass two or more: { full: { prompt, open: "all" }, folded: { prompt } }.')
  if (names.length < 2) throw createFault(`'${shorten(first)}' is the only arm. Pass another one to compare it with.`)
  for (const name of names) {
    if (name === '' || name.length > MAX_ID_CHARACTERS || name === '__proto__')
      throw createFault(
        `An arm cannot be called '${shorten(name)}'. Use a name of 1 to ${MAX_ID_CHARACTERS} characters.`,
      )
    checkArm(`The arm '${shorten(name)}'`, arms[name], offline === true || adapter !== undefined)
  }
  if (base !== undefined && !names.includes(base))
    throw createFault(
      `The base '${shorten(base)}' is not one of the arms: ${names.map((name) => shorten(name)).join(', ')}.`,
    )
  return base ?? first
}

export function checkArm<World>(who: string, arm: CompareArm<World> | undefined, hasModel: boolean): void {
  if (!arm?.prompt) throw createFault(`${who} has no prompt. Pass a bound prompt, or a function that makes one.`)
  if (!arm.adapter && !arm.host && !hasModel)
    throw createFault(`${who} has no model. Pass adapter in the options or in the arm, or a host.`)
}

function checkLooks(looks: readonly number[], repeat: number): void {
  const isRising = looks.every((look, i) => Number.isInteger(look) && look > (looks[i - 1] ?? 0))
  if (isRising && looks.length > 0 && looks.length <= MAX_LOOKS && looks.at(-1) === repeat) return
  throw createFault(
    `looks must be 1 to ${MAX_LOOKS} rising numbers of repeats that end with ${repeat}, such as [${Math.max(1, repeat - 2)}, ${repeat}].`,
  )
}

function checkPrices(prices: ComparePrices | undefined): void {
  if (prices === undefined) return
  if (!isObject(prices) || prices.input === undefined || prices.output === undefined)
    throw createFault(
      'prices needs input and output. Pass dollars for a million tokens, such as { input: 3, output: 15 }.',
    )
  for (const name of ['input', 'output', 'read', 'write', 'minimum', 'ttl'] as const)
    checkNumber(`prices.${name}`, prices[name], { code: 'compare-invalid' })
  checkNumber('prices.step', prices.step, { code: 'compare-invalid', least: 1 })
  if (prices.added !== undefined && prices.added !== 'in-place' && prices.added !== 'at-end')
    throw createFault(`prices.added is ${describeGiven(prices.added)}. Pass 'in-place' or 'at-end'.`)
}

function checkWhole(name: string, value: unknown, most: number): void {
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most) return
  throw createFault(`${name} is ${describeGiven(value)}. Pass a whole number from 1 to ${most}.`)
}
