import { join } from 'node:path'
import type { Visibility } from 'foldout'
import type { AdvicePrice, Tuned } from 'foldout/telemetry'
import { toSimulationSteps } from 'foldout/telemetry'
import { UsageError } from '../../gateway/config/config.ts'
import { findDefaultConfig } from '../../gateway/config/own-entry.ts'
import { requireFile } from '../../gateway/config/text-file.ts'
import { getTunedFile, writeTunedFile } from '../../gateway/config/tuned-file.ts'
import { isTraffic } from '../../gateway/traffic/recording.ts'
import { dropUndefined } from 'foldout-shared/values'
import { formatNumber, formatUsd } from 'foldout-shared/numbers'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { createProgress } from '../support/progress.ts'
import { formatSentences, formatTable, toLine } from '../support/text.ts'
import { readAdvicePrice, toUsd, type PriceOptions } from '../support/prices.ts'
import { loadPrompt, type LoadedPrompt, type ValueOptions } from '../support/prompt-module.ts'
import { formatCore, learnFromTraffic } from './advise.ts'
import { readPromptRuns } from './runs.ts'

export interface TuneOptions extends ValueOptions, PriceOptions {
  readonly prompt?: string
  /** For gateway traffic: the configuration. */
  readonly config?: string
  readonly minRuns?: number
  readonly root?: string
  readonly tag?: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

const DEFAULT_ROOT = 'prompts'
const DEFAULT_TAG = 'tuned'

interface Outcome extends Tuned {
  /** Dollars are there if the user gave prices. */
  readonly costs: readonly (Tuned['costs'][number] & { readonly usd: number | undefined })[]
  /** What changes, by path. */
  readonly changes: Readonly<Record<string, Visibility>>
  /** The file with the overrides, or null if nothing was written. */
  readonly written: string | null
}

/** `foldout tune <recording>`: writes the cheapest folding for recorded runs as overrides. Returns the exit code. */
export async function tuneFrom(file: string, options: TuneOptions, surroundings: Surroundings): Promise<number> {
  if (await isTraffic(file)) return tuneGateway(file, options, surroundings)
  if (options.prompt === undefined) throw new UsageError('Name the recorded prompt with --prompt <module>.')
  const loaded = await loadPrompt(options.prompt, options)
  const runs = await findRuns(file, loaded)
  const price = await readAdvicePrice(options)
  const tuned = await createProgress(surroundings, {}).during(
    () => `Simulating ${runs.length} runs`,
    () => loaded.telemetry.tune(runs, { ...price, ...dropUndefined({ minRuns: options.minRuns }) }),
  )
  const changes = findChanges(tuned, loaded)
  const isNews = Object.keys(tuned.overrides).length > 0 && options.dryRun !== true
  const written = isNews ? await writeOverrides(tuned, loaded, options) : null
  const costs = tuned.costs.map((way) => ({ ...way, usd: toUsd(way.cost, price) }))
  const outcome: Outcome = { ...tuned, costs, changes, written }
  const { stdout } = surroundings
  stdout.write(options.json ? `${JSON.stringify(outcome, null, 2)}\n` : formatOutcome(outcome, price, surroundings))
  return EXIT.done
}

/** Lists the tools of gateway traffic from the start that save most: this is how a gateway folds. Returns the exit code. */
async function tuneGateway(file: string, options: TuneOptions, { stdout }: Surroundings): Promise<number> {
  const { config = findDefaultConfig(process.cwd()), dryRun = false } = options
  if (config !== undefined) await requireFile(config)
  const learned = await learnFromTraffic(file, options)
  const pays = learned.evidence.isEnough && learned.core.length > 0 && learned.checked.mean > 0
  const target = pays && !dryRun && config !== undefined ? getTunedFile(config) : null
  if (target !== null) await writeTunedFile(target, learned.core)
  if (options.json) {
    stdout.write(`${JSON.stringify({ ...learned, written: target }, null, 2)}\n`)
    return EXIT.done
  }
  const said = pays
    ? describeTunedFile(target, dryRun)
    : 'Nothing was written: no core saves anything on other clients.'
  stdout.write(`${formatCore(learned, stdout.columns)}${said}\n`)
  return EXIT.done
}

function describeTunedFile(target: string | null, dryRun: boolean): string {
  if (target !== null) return `Written to ${target}. Delete the file to undo it.`
  if (dryRun) return 'Nothing was written, because of --dry-run.'
  return 'Nothing was written: this folder has no configuration. Name it with --config <file>.'
}

async function findRuns(file: string, loaded: LoadedPrompt) {
  const runs = await readPromptRuns(file, loaded)
  return runs.map(({ run, ...said }) => ({ prompt: loaded.bound, steps: toSimulationSteps(run), ...said }))
}

/** The sections that are shown in another way than now. */
function findChanges({ visibility }: Tuned, { bound }: LoadedPrompt): Readonly<Record<string, Visibility>> {
  const now = new Map(bound.render().nodes.map((node) => [node.path, node.visibility]))
  return Object.fromEntries(
    Object.entries(visibility).filter(([path, wanted]) => now.has(path) && now.get(path) !== wanted),
  )
}

/** Writes a way to fold into the store. The file of the default tag is this command's own, and is replaced. */
async function writeOverrides(
  { overrides }: Tuned,
  { bound, node }: LoadedPrompt,
  { root = DEFAULT_ROOT, tag = DEFAULT_TAG }: TuneOptions,
): Promise<string> {
  const { prompt } = bound
  try {
    const store = node.createOverrideStore({ root })
    // One write, so a process that is killed leaves the old file or the new one.
    await store.upsert(prompt, { tag, overrides, replace: tag === DEFAULT_TAG })
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
  return join(root, prompt.ns, prompt.key, `${tag}.json`)
}

function formatOutcome(outcome: Outcome, price: AdvicePrice, { stdout }: Surroundings): string {
  const { runs, costs, changes, written, name } = outcome
  const rows = costs.map((way) => [
    way.name === name ? `* ${way.name}` : `  ${way.name}`,
    formatNumber(way.cost),
    way.usd === undefined ? '' : formatUsd(way.usd),
  ])
  const head = ['  way', 'tokens a run', price.usdPerMillion === undefined ? '' : 'dollars']
  const table = formatTable([head, ...rows], stdout.columns)
  const lines = [
    ...Object.entries(changes).map(([path, how]) => `${path}: ${how === 'full' ? 'open' : 'folded'}`),
    ...outcome.core.map((tool) => `${tool}: listed from the start`),
    ...(outcome.ahead ? ['the section that fits the input best: open ahead'] : []),
  ].map((line) => `  ${toLine(line)}`)
  const below = [describeSaving(outcome, price), ...describeWritten(written, lines.length > 0), ...outcome.assumptions]
  const title = `${runs} ${runs === 1 ? 'run' : 'runs'}. What each way to fold costs:`
  return `${[title, ...table, ...lines].join('\n')}\n${below.map((each) => formatSentences([each], stdout)).join('')}`
}

function describeSaving({ name, saved, isCertain }: Outcome, price: AdvicePrice): string {
  if (name === 'as it is') return 'Nothing to change: no other way costs less on runs it was not computed from.'
  const { mean, low, high, share } = saved
  const usd = toUsd(mean, price)
  const doubt = isCertain ? '' : ' That is not certain: record more runs.'
  const dollars = usd === undefined ? '' : `, ${formatUsd(usd)}`
  return `On runs it was not computed from, '${name}' saves ${formatNumber(mean)} tokens a run${dollars} (${Math.round(share * 100)} %; between ${formatNumber(low)} and ${formatNumber(high)} with 95 % confidence).${doubt}`
}

function describeWritten(written: string | null, hasChanges: boolean): readonly string[] {
  if (written !== null) return [`Written to ${written}. Delete the file to undo it.`]
  return hasChanges ? ['Nothing was written, because of --dry-run.'] : []
}
