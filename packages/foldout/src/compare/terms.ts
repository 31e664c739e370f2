import { checkNumber, describeGiven } from '../core/check-number.ts'
import { FoldoutError } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import { shorten } from '../core/text.ts'
import { estimatedTokens, type TokenCounter } from '../core/tokens/tokens.ts'
import { MAX_ID_CHARACTERS } from './cases/limits.ts'
import { checkCases, readCases } from './cases/read-cases.ts'
import type { CompareArm } from './contract/arms.ts'
import type { CompareCase } from './contract/cases.ts'
import type { CompareOptions, ComparePrices } from './contract/options.ts'
import { chooseGraders, type Graders } from './grade/grade-run.ts'
import { MAX_LOOKS } from './statistics/looks.ts'

/** The options of a comparison, checked, with their defaults. */
export interface Terms<World> {
  readonly cases: readonly CompareCase[]
  readonly arms: Readonly<Record<string, CompareArm<World>>>
  readonly base: string
  readonly graders: Graders<World>
  readonly repeat: number
  readonly looks: readonly number[]
  readonly margin: number
  readonly prices: ComparePrices | null
  readonly perHour: number | null
  readonly seed: number
  readonly parallel: number
  readonly maxUserTurns: number
  readonly counter: TokenCounter
}

const DEFAULT_MARGIN = 0.05
const DEFAULT_PARALLEL = 4
const DEFAULT_USER_TURNS = 30
const MAX_REPEATS = 1_000

/** Reads and checks the options of a comparison, before anything is paid. */
export async function readTerms<World>(options: CompareOptions<World>): Promise<Terms<World>> {
  const { repeat = 1, margin = DEFAULT_MARGIN, seed = 1, parallel = DEFAULT_PARALLEL } = options
  const { looks = [repeat], maxUserTurns = DEFAULT_USER_TURNS } = options
  checkWhole('repeat', repeat, MAX_REPEATS)
  checkWhole('parallel', parallel, MAX_REPEATS)
  checkWhole('maxUserTurns', maxUserTurns, MAX_REPEATS)
  checkLooks(looks, repeat)
  if (!(margin > 0 && margin < 1)) throw createFault(`margin is ${describeGiven(margin)}. Pass a share, such as 0.05.`)
  for (const [name, value] of Object.entries({ perHour: options.perHour, budget: options.budget, seed }))
    checkNumber(name, value, { code: 'compare-invalid' })
  checkPrices(options.prices)
  const base = checkArms(options)
  const cases = typeof options.cases === 'string' ? await readCases(options.cases) : checkCases(options.cases)
  const silent = options.user ? undefined : cases.find(({ user }) => user !== undefined)
  if (silent)
    throw createFault(`The case '${shorten(silent.id)}' has a user, but nobody plays users. Pass a function as user.`)
  return {
    cases,
    arms: options.arms,
    base,
    graders: chooseGraders(options.grade, cases),
    repeat,
    looks,
    margin,
    prices: options.prices ?? null,
    perHour: options.perHour ?? null,
    seed,
    parallel,
    maxUserTurns,
    counter: options.counter ?? estimatedTokens,
  }
}

function checkArms<World>({ arms, base, adapter }: CompareOptions<World>): string {
  const names = isPlainObject(arms) ? Object.keys(arms) : []
  const [first] = names
  if (first === undefined)
    throw createFault('There are no arms. Pass two or more: { full: { prompt, open: "all" }, folded: { prompt } }.')
  if (names.length < 2) throw createFault(`'${shorten(first)}' is the only arm. Pass another one to compare it with.`)
  for (const name of names) {
    if (name === '' || name.length > MAX_ID_CHARACTERS || name === '__proto__')
      throw createFault(
        `An arm cannot be called '${shorten(name)}'. Use a name of 1 to ${MAX_ID_CHARACTERS} characters.`,
      )
    const arm = arms[name]
    if (!arm?.prompt)
      throw createFault(`The arm '${shorten(name)}' has no prompt. Pass a bound prompt, or a function that makes one.`)
    if (!arm.adapter && !arm.host && !adapter)
      throw createFault(
        `The arm '${shorten(name)}' has no model. Pass adapter to the comparison or to the arm, or a host.`,
      )
  }
  if (base !== undefined && !names.includes(base))
    throw createFault(
      `The base '${shorten(base)}' is not one of the arms: ${names.map((name) => shorten(name)).join(', ')}.`,
    )
  return base ?? first
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
  if (!isPlainObject(prices) || prices.input === undefined || prices.output === undefined)
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

function createFault(message: string): FoldoutError {
  return new FoldoutError('compare-invalid', message)
}
