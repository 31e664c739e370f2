import { checkCore, learnCore, type CheckedCore, type LearnedCore } from 'foldout/catalog'
import type { Advice } from 'foldout/telemetry'
import { UsageError } from '../../gateway/config/config.ts'
import { dropUndefined } from 'foldout-shared/values'
import { formatCount, formatNumber } from 'foldout-shared/numbers'
import { isTraffic, readTraffic, toCatalogRecording } from '../../gateway/traffic/recording.ts'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { formatTable, toLine } from '../support/text.ts'
import { loadPrompt, type ValueOptions } from '../support/prompt-module.ts'
import { readAdvicePrice, type PriceOptions } from '../support/prices.ts'
import { readRecorded, selectPromptRuns } from './runs.ts'

export interface AdviseOptions extends ValueOptions, PriceOptions {
  /** The module with the prompt whose runs were recorded. */
  readonly prompt?: string
  readonly minRuns?: number
  readonly json?: boolean
}

/** `foldout advise <recording>`: gives advice based on runs of a prompt or on gateway traffic. Returns the exit code. */
export async function adviseFrom(file: string, options: AdviseOptions, { stdout }: Surroundings): Promise<number> {
  if (await isTraffic(file)) {
    const learned = await learnFromTraffic(file, options)
    stdout.write(options.json ? `${JSON.stringify(learned, null, 2)}\n` : formatCore(learned, stdout.columns))
    return EXIT.done
  }
  const recorded = await readRecorded(file)
  if (options.prompt === undefined)
    throw new UsageError(
      'Name the recorded prompt with --prompt <module>, so that advice it already follows is left out.',
    )
  const loaded = await loadPrompt(options.prompt, options)
  const runs = selectPromptRuns(file, recorded, loaded).map(({ run }) => run)
  const advice = loaded.telemetry.advise([{ version: 1, runs }], {
    prompt: loaded.bound,
    price: await readAdvicePrice(options),
    ...dropUndefined({ minRuns: options.minRuns }),
  })
  const count = runs.length
  stdout.write(options.json ? `${JSON.stringify({ runs: count, advice }, null, 2)}\n` : formatAdvice(advice, count))
  return EXIT.done
}

/** Computes which tools of gateway traffic are worth listing from the start. */
export async function learnFromTraffic(
  file: string,
  { minRuns }: Pick<AdviseOptions, 'minRuns'>,
): Promise<CheckedLearning> {
  const recording = toCatalogRecording(await readTraffic(file))
  const terms = dropUndefined({ minClients: minRuns })
  return { ...learnCore(recording, terms), checked: checkCore(recording, terms) }
}

function formatAdvice(advice: readonly Advice[], runs: number): string {
  if (advice.length === 0) return `Nothing to change, after ${runs} recorded ${runs === 1 ? 'run' : 'runs'}.\n`
  return `${advice.map(({ message }) => toLine(message)).join('\n')}\n`
}

export interface CheckedLearning extends LearnedCore {
  /** What learned cores save clients that they were not learned from. */
  readonly checked: CheckedCore
}

export function formatCore(
  { core, saved, tools, evidence, checked }: CheckedLearning,
  columns: number | undefined,
): string {
  const rows = tools.map((tool) => [
    tool.core ? '  list it' : '',
    toLine(tool.name),
    `used ${formatCount(tool.uses, 'time')} by ${formatCount(tool.clients, 'client')}; listing it costs ${formatNumber(tool.costs)} tokens and saves ${formatNumber(tool.saves.tokens)}`,
  ])
  const advice =
    core.length === 0
      ? 'No tool is worth listing from the start.'
      : `List ${toLine(core.join(', '))} from the start ("core": true in the configuration). That would have saved ${formatNumber(saved.tokens)} tokens and ${formatNumber(saved.roundTrips)} round trips.`
  const said = [advice, ...(core.length > 0 ? [describeCheck(checked)] : [])]
  return `${[toLine(evidence.summary), ...(evidence.isEnough ? said : []), ...formatTable(rows, columns)].join('\n')}\n`
}

function describeCheck({ mean, low, high, isCertain }: CheckedCore): string {
  const doubt = isCertain ? '' : ' That is not certain: record more clients first.'
  return `On clients it was not learned from, a core saves ${formatNumber(mean)} tokens a client (between ${formatNumber(low)} and ${formatNumber(high)} with 95 % confidence).${doubt}`
}
