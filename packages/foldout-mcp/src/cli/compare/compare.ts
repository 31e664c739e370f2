import { writeFile } from 'node:fs/promises'
import type { BoundPrompt } from 'foldout'
import type { CompareArm, CompareOptions, ComparePlan, CompareProgress, CompareReport } from 'foldout/compare'
import { UsageError } from '../../gateway/config/config.ts'
import { requireFile } from '../../gateway/config/text-file.ts'
import { dropUndefined } from 'foldout-shared/values'
import { formatCount, formatNumber } from 'foldout-shared/numbers'
import { EXIT } from '../support/exit-codes.ts'
import { createProgress } from '../support/progress.ts'
import { readPrices } from '../support/prices.ts'
import { loadPrompt, type CompareLibrary, type ValueOptions } from '../support/prompt-module.ts'
import { withServers, type ServerOptions } from '../support/session.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { formatSentences, formatTable, toLine } from '../support/text.ts'
import { choosePromptArms, findAdapter, findGraders, nameArms, type Arms } from './arms.ts'

export interface CompareCommandOptions extends ValueOptions, ServerOptions {
  readonly prompt?: string
  readonly adapter?: string
  readonly arms?: readonly string[]
  readonly repeat?: number
  readonly looks?: readonly number[]
  readonly grade?: string
  readonly margin?: number
  readonly perHour?: number
  readonly budget?: number
  readonly prices?: string
  readonly save?: string
  readonly junit?: string
  readonly markdown?: string
  readonly seed?: number
  readonly parallel?: number
  readonly offline?: boolean
}

/** What the verdicts mean for a program that runs this one. */
const CODES: Readonly<Record<CompareReport['verdict'], number>> = {
  'not-worse': 0,
  worse: 1,
  undecided: 2,
  'no-signal': 3,
}

/** `foldout compare <cases>`: compares ways to show a prompt or tools. Returns the exit code. */
export async function compareArms(
  cases: string,
  options: CompareCommandOptions,
  surroundings: Surroundings,
): Promise<number> {
  return prepare(cases, options, surroundings, async (library, given) => {
    let last: CompareProgress | undefined
    const report = await createProgress(surroundings, options).during(
      () => describeProgress(last),
      () => library.compare({ ...given, signal: surroundings.signal, onProgress: (now) => void (last = now) }),
    )
    await write(options.junit, () => library.formatComparison(report, { as: 'junit' }))
    await write(options.markdown, () => library.formatComparison(report, { as: 'markdown' }))
    const { stdout } = surroundings
    const text = options.json
      ? `${JSON.stringify(report, null, 2)}\n`
      : library.formatComparison(report, dropUndefined({ columns: stdout.columns }))
    stdout.write(text)
    if (surroundings.signal.aborted) return EXIT.failed
    return CODES[report.verdict]
  })
}

/** `foldout compare plan <cases>`: says what a comparison will take. Returns the exit code. */
export async function planArms(
  cases: string,
  options: CompareCommandOptions,
  surroundings: Surroundings,
): Promise<number> {
  return prepare(cases, options, surroundings, async (library, given) => {
    const plan = await library.planComparison(given)
    const { stdout } = surroundings
    stdout.write(
      options.json ? `${JSON.stringify(plan, null, 2)}\n` : formatPlan(plan, given.margin ?? 0.05, surroundings),
    )
    return EXIT.done
  })
}

type Given = CompareOptions & { readonly cases: string }

/** Loads what the user named, and connects to the servers of a configuration while a command uses them. */
async function prepare(
  cases: string,
  options: CompareCommandOptions,
  surroundings: Surroundings,
  use: (library: CompareLibrary, given: Given) => Promise<number>,
): Promise<number> {
  await requireFile(cases)
  const { prompt, config } = options
  if ((prompt === undefined) === (config === undefined))
    throw new UsageError(
      'Name what to compare: --prompt <module> for a prompt, or --config <file> for your MCP servers.',
    )
  const shared = await readShared(cases, options)
  try {
    if (prompt === undefined) return await useServers(shared, options, surroundings, use)
    const loaded = await loadPrompt(prompt, options)
    const arms = choosePromptArms(options.arms ?? ['full', 'folded'], loaded)
    const { user, world, session } = loaded.exports
    const own = { user, world, session } as Pick<CompareOptions, 'session' | 'user' | 'world'>
    const isOffline = options.offline === true
    const adapter = needsAdapter(arms) && !isOffline ? await findAdapter(options.adapter, loaded.exports) : undefined
    return await use(await loaded.loadCompare(), { ...shared, ...dropUndefined({ ...own, adapter }), arms })
  } catch (error) {
    if (isComparisonFault(error)) throw new UsageError(error.message, { cause: error })
    throw error
  }
}

function needsAdapter(arms: Arms): boolean {
  return Object.values(arms).some(({ adapter, host }) => !adapter && !host)
}

function isComparisonFault(error: unknown): error is Error {
  return (
    error instanceof Error && 'code' in error && (error.code === 'compare-invalid' || error.code === 'compare-file')
  )
}

const PERCENT = 100

async function readShared(cases: string, options: CompareCommandOptions): Promise<Omit<Given, 'arms'>> {
  const { repeat, looks, margin, perHour, budget, save, seed, parallel, offline } = options
  const prices = options.prices === undefined ? undefined : await readPrices(options.prices)
  const grade = await findGraders(options.grade)
  const share = margin === undefined ? undefined : margin / PERCENT
  return {
    cases,
    ...dropUndefined({ repeat, looks, margin: share, perHour, budget, save, seed, parallel, offline, prices, grade }),
  }
}

/** Shows the tools of the user's servers in several ways, behind a prompt that says no more than that. */
async function useServers(
  shared: Omit<Given, 'arms'>,
  options: CompareCommandOptions,
  surroundings: Surroundings,
  use: (library: CompareLibrary, given: Given) => Promise<number>,
): Promise<number> {
  const adapter = await findAdapter(options.adapter, {})
  const { definePrompt, defineSection } = await import('foldout')
  const { all, auto, catalogSection, hybrid, metaTool } = await import('foldout/catalog')
  const exposures = { all, auto, hybrid, 'meta-tool': metaTool }
  const role = defineSection({
    key: 'role',
    title: 'Your task',
    template: 'Do what the user asks, with the tools that you have.',
  })
  return withServers(options, surroundings, async ({ catalog }) => {
    const known = Object.entries(exposures).map(([name, create]): [string, () => CompareArm] => [
      name,
      () => {
        const sections = [role, catalogSection(catalog, { expose: create() })]
        const prompt: BoundPrompt = definePrompt({ ns: 'servers', key: name, sections }).bind()
        return { prompt }
      },
    ])
    const arms = nameArms(options.arms ?? ['all', 'hybrid'], Object.fromEntries(known), '')
    return use(await import('foldout/compare'), { ...shared, ...dropUndefined({ adapter }), arms })
  })
}

function describeProgress(progress: CompareProgress | undefined): string {
  if (!progress) return 'Preparing the comparison'
  const { done, runs, errors, spentUsd } = progress
  const spent = spentUsd > 0 ? `, $${spentUsd.toFixed(2)}` : ''
  const failed = errors > 0 ? `, ${formatCount(errors, 'error')}` : ''
  return `${formatNumber(done)} of ${formatCount(runs, 'run')}${failed}${spent}`
}

async function write(file: string | undefined, format: () => string): Promise<void> {
  if (file === undefined) return
  await writeFile(file, format()).catch((error: Error) => {
    throw new UsageError(`${file} cannot be written: ${error.message}`, { cause: error })
  })
}

function formatPlan(plan: ComparePlan, margin: number, { stdout }: Surroundings): string {
  const { runs, kept, usd, arms, clusters, drops, assumptions } = plan
  const toUsd = (amount: number | null): string => {
    if (amount === null) return '–'
    return `$${amount.toFixed(2)}`
  }
  const toPoints = (share: number): string => (PERCENT * share).toFixed(1)
  const table = formatTable(
    [
      ['arm', 'runs', 'tokens at the start', 'dollars'],
      ...Object.entries(arms).map(([name, arm]) => [
        toLine(name),
        formatNumber(arm.runs),
        formatNumber(arm.startTokens),
        toUsd(arm.usd),
      ]),
    ],
    stdout.columns,
  )
  const seen = (['hard', 'stable'] as const).map(
    (kind) =>
      `With ${kind} tasks, ${formatCount(clusters, 'independent case')} show a drop of ${toPoints(drops[kind].smallest)} points; one of ${toPoints(margin)} takes ${formatNumber(drops[kind].casesNeeded)}.`,
  )
  const title = `${formatCount(runs, 'run')} to make${kept > 0 ? `, ${formatNumber(kept)} made already` : ''}${usd === null ? '' : `, for about ${toUsd(usd)}`}.`
  return `${[title, ...table].join('\n')}\n${[...seen, ...assumptions].map((each) => formatSentences([each], stdout)).join('')}`
}
