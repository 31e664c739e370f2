import { formatUsd } from 'foldout-shared/numbers'
import { checkNumbers } from '../core/check-number.ts'
import { getAncestors, joinWords } from '../core/text.ts'
import type { BoundPrompt } from '../prompt/prompt.ts'
import type { RecordedRequest, RecordedRun, Recording } from './recording.ts'
import type { DelegateTerms } from '../core/price/delegate.ts'
import { proposeDelegates } from './advise-delegate.ts'
import { proposeRefold, type RefoldProposal } from './advise-refold.ts'
import {
  addSavings,
  foldSection,
  isWithin,
  NO_SAVING,
  offerTool,
  replay,
  showAll,
  showSection,
  type Saving,
} from './replay.ts'
import { describeCacheTerms, getCache, type CacheOptions } from './simulate/cache.ts'

/**
 * A change to a prompt, found from recorded runs.
 *
 * @example
 * ```ts
 * for (const { type, path, message } of advise(recordings, { prompt: bound })) console.log(type, path, message)
 * ```
 */
export interface Advice {
  /** `show-all`: folding costs more than it saves. It comes first. */
  readonly type: 'show-all' | 'show-section' | 'fold-section' | 'offer-tool' | 'delegate-section' | 'refold'
  /** The section that the advice is about, or that the tool belongs to; undefined for `show-all`. */
  readonly path: string | undefined
  readonly tool: string | undefined
  /** The number of runs that the advice is based on. */
  readonly runs: number
  /** The number of those runs in which the section was opened or the tool was called; for `show-all`, any section. */
  readonly used: number
  /** The saving of the change over these runs; negative if it would have cost more. */
  readonly saved: Saving
  readonly message: string
  /** The options of the run, for advice of the type `refold`. Its savings count input with a prompt cache. */
  readonly refold?: RefoldProposal
}

/**
 * What recorded runs are billed at.
 *
 * @example
 * ```ts
 * const price: AdvicePrice = { cache: 'anthropic', cacheStart: { perHour: 40 }, usdPerMillion: 3 }
 * ```
 */
export interface AdvicePrice extends CacheOptions {
  /** What a million tokens of input cost, to state savings in US dollars, too. */
  readonly usdPerMillion?: number
}

/**
 * The options of {@link advise}.
 *
 * @example
 * ```ts
 * const options: AdviseOptions = { prompt: bound, minRuns: 10 }
 * ```
 */
export interface AdviseOptions {
  /** The prompt as it is now. Advice that it already follows is left out. */
  readonly prompt: Pick<BoundPrompt, 'prompt' | 'render'>
  /** The minimum number of runs that advice may be based on. Default 3. */
  readonly minRuns?: number
  /** Decides by what runs are billed, as {@link simulate} computes it. Default: by tokens, without a prompt cache. */
  readonly price?: AdvicePrice
  /**
   * The cache of the model, the price of a delegate's model, and the size of questions and answers, for advice of the
   * type `delegate-section`. Its savings count input with a prompt cache.
   */
  readonly delegate?: DelegateTerms
  /** The size in tokens from which a section without a summary deserves one. Default 500. */
  readonly largeTokens?: number
}

/**
 * Advises which sections to show from the start and which to fold, and computes what each change would have saved over the
 * recorded runs. If folding costs more than it saves, that advice comes first, followed only by advice that saves even more.
 * Otherwise the biggest saving comes first. Each section gets only its best advice. Tokens are counted without a prompt
 * cache, unless `price` names one.
 *
 * @example
 * ```ts
 * const recordings = await readRecordingFile('runs.jsonl')
 * for (const { message } of advise(recordings, { prompt: bound })) console.log(message)
 * ```
 */
export function advise(recordings: readonly Recording[], options: AdviseOptions): readonly Advice[] {
  const { prompt: bound, minRuns = 3, largeTokens = 500, price } = options
  checkNumbers({ minRuns, largeTokens, usdPerMillion: price?.usdPerMillion }, { code: 'recording-invalid' })
  const delegate: DelegateTerms = { ...(price && { cache: getCache(price) }), ...options.delegate }
  const terms: Terms = { minRuns, largeTokens, price }
  const { ns, key } = bound.prompt
  const runs = recordings
    .flatMap((recording) => recording.runs)
    .filter(({ prompt, requests }) => prompt.ns === ns && prompt.key === key && requests.length > 0)
  const { nodes } = bound.render()
  const getPaths = (visibility: 'full' | 'summary') =>
    nodes.filter((node) => node.visibility === visibility).map(({ path }) => path)
  const folded = getPaths('summary')
  const offered = new Set(nodes.flatMap((node) => node.tools.map(({ name }) => name)))
  const openings = [
    ...folded.flatMap((path) => adviseToShow(runs, path, terms)),
    ...getTools(runs)
      .filter(({ name }) => !offered.has(name))
      .flatMap(({ name, path }) => adviseToOffer(runs, { name, path }, terms)),
  ]
  const folds = getPaths('full').flatMap((path) => adviseToFold(runs, path, terms))
  const merged = [...getBestBySection(openings, folded), ...getOutermost(folds)].sort(compareAdvice)
  const all = folded.length > 0 ? adviseToShowAll(runs, terms) : undefined
  const refold = adviseRefold(runs, minRuns)
  const shown = new Set(merged.map(({ path }) => path))
  const { view } = bound.render({ delegation: true })
  const open = folded.filter((path) => !shown.has(path) && view.findDelegate(path) === undefined)
  const delegates = adviseToDelegate(runs, open, { ...delegate, minRuns })
  if (all === undefined) return [...merged, ...delegates, ...refold]
  return [all, ...merged.filter(({ saved }) => getWorth(saved) > getWorth(all.saved)), ...delegates, ...refold]
}

/** What all advice is computed with. */
interface Terms {
  readonly minRuns: number
  readonly largeTokens: number
  readonly price: AdvicePrice | undefined
}

/** What a change saves, by which advice is judged. */
function getWorth({ cost, tokens }: Saving): number {
  return cost ?? tokens
}

function adviseToDelegate(...args: Parameters<typeof proposeDelegates>): readonly Advice[] {
  return proposeDelegates(...args).map(({ path, runs, used, tokens, message }) => {
    const saved: Saving = { tokens, requests: 0, restarts: 0 }
    return { type: 'delegate-section', path, tool: undefined, runs, used, saved, message }
  })
}

/** Advises how to fold results, if recorded runs have read many of them again or folded too late. */
function adviseRefold(runs: readonly RecordedRun[], minRuns: number): readonly Advice[] {
  const found = proposeRefold(runs, minRuns)
  if (!found) return []
  const { refold, runs: count, used, tokens, requests, message } = found
  const saved: Saving = { tokens, requests, restarts: 0 }
  return [{ type: 'refold', path: undefined, tool: undefined, runs: count, used, saved, message, refold }]
}

/** Showing a section and offering one of its tools make the same openings unnecessary, so only the better one is advised. */
function getBestBySection(openings: readonly Advice[], folded: readonly string[]): readonly Advice[] {
  const best = new Map<string, Advice>()
  for (const advice of openings.toSorted(compareAdvice)) {
    const { path = '' } = advice
    const section = folded.find((each) => isWithin(path, each)) ?? path
    if (!best.has(section)) best.set(section, advice)
  }
  return [...best.values()]
}

/** Leaves out sections inside a section that is to be folded, because they are folded with it. */
function getOutermost(folds: readonly Advice[]): readonly Advice[] {
  const paths = new Set(folds.map(({ path }) => path))
  return folds.filter(({ path = '' }) => !getAncestors(path).some((ancestor) => paths.has(ancestor)))
}

function compareAdvice(one: Advice, other: Advice): number {
  return (
    getWorth(other.saved) - getWorth(one.saved) ||
    other.saved.restarts - one.saved.restarts ||
    other.saved.requests - one.saved.requests ||
    compareText(one.type, other.type) ||
    compareText(one.path ?? '', other.path ?? '') ||
    compareText(one.tool ?? '', other.tool ?? '')
  )
}

/** Advises to fold nothing, if the runs would have cost less with every section open from the start. */
function adviseToShowAll(all: readonly RecordedRun[], { minRuns, price }: Terms): Advice | undefined {
  const runs = all.filter(({ renders }) => renders[0]?.sections.some(({ visibility }) => visibility === 'summary'))
  const saved = addSavings(runs.map((run) => replay(run, showAll(run), price)))
  if (runs.length < minRuns || getWorth(saved) <= 0) return undefined
  const used = runs.filter(({ openings }) => openings.some(({ answeredBy }) => answeredBy !== 'none')).length
  const spent = runs.flatMap(({ requests }) => requests).reduce((sum, request) => sum + getRequestTokens(request), 0)
  const lost = Math.round((saved.tokens / (spent - saved.tokens)) * 100)
  const share = lost < 1 ? 'less than 1 %' : `${lost} %`
  const more = `, and all of them together took ${share} more tokens than with every section shown in full from the start`
  const message = `Folding costs more than it saves in this prompt: ${used} of ${runs.length} runs opened sections${lost < 0 ? '' : more}. Showing every section from the start would have ${formatSaving(saved, price)}`
  return { type: 'show-all', path: undefined, tool: undefined, runs: runs.length, used, saved, message }
}

function getRequestTokens(request: RecordedRequest): number {
  return request.systemTokens + request.toolTokens + request.conversationTokens + request.outputTokens
}

function adviseToShow(all: readonly RecordedRun[], path: string, { minRuns, price }: Terms): Advice[] {
  const runs = all.filter((run) => isShown(run, path, 'summary'))
  const used = runs.filter((run) => wasOpened(run, path)).length
  if (runs.length < minRuns || used * 2 <= runs.length) return []
  const saved = addSavings(runs.map((run) => replay(run, showSection(run, path), price)))
  if (!isWorthIt(saved)) return []
  const message = `Show section '${path}' in full from the start: ${used} of ${runs.length} runs opened it. Over these runs that would have ${formatSaving(saved, price)}`
  return [{ type: 'show-section', path, tool: undefined, runs: runs.length, used, saved, message }]
}

function adviseToFold(all: readonly RecordedRun[], path: string, { minRuns, largeTokens, price }: Terms): Advice[] {
  const runs = all.filter((run) => isShown(run, path, 'full'))
  const within = runs.at(-1)?.sections.filter((section) => isWithin(section.path, path)) ?? []
  const own = within.find((section) => section.path === path)
  if (runs.length < minRuns || !own || runs.some((run) => wasUsed(run, path))) return []
  const hasSummary = own.summaryTokens !== null
  if (!hasSummary && within.reduce((sum, { fullTokens }) => sum + fullTokens, 0) < largeTokens) return []
  const saved = addSavings(runs.map((run) => replay(run, foldSection(run, path), price)))
  if (getWorth(saved) <= 0) return []
  const why = within.some(({ tools }) => tools.length > 0)
    ? `none of its tools was called in ${runs.length} runs`
    : `it has no tools, and nothing in ${runs.length} runs shows whether its text was needed`
  const summary = hasSummary ? '' : ' It has no summary yet: write one, whose cost is not counted here.'
  const message = `Fold section '${path}' by default: ${why}. Over these runs that would have ${formatSaving(saved, price)}${summary}`
  return [{ type: 'fold-section', path, tool: undefined, runs: runs.length, used: 0, saved, message }]
}

function adviseToOffer(
  all: readonly RecordedRun[],
  { name, path }: { readonly name: string; readonly path: string },
  { minRuns, price }: Terms,
): Advice[] {
  const runs = all.filter((run) => run.renders[0]?.tools.every((tool) => tool.name !== name))
  const used = runs.filter((run) => run.toolCalls.some((call) => call.name === name && call.ok !== null)).length
  if (runs.length < minRuns || used * 2 <= runs.length) return []
  const saved = addSavings(
    runs.map((run) => {
      const section = run.sections.find((each) => each.path === path)
      const tool = section?.tools.find((each) => each.name === name)
      if (tool) return replay(run, offerTool(run, tool, path), price)
      return NO_SAVING
    }),
  )
  if (!isWorthIt(saved)) return []
  const message = `Offer tool '${name}' from the start, as a core tool in a section that is shown in full: ${used} of ${runs.length} runs called it after opening '${path}'. If the section's text is not needed to call it, over these runs that would have ${formatSaving(saved, price)}`
  return [{ type: 'offer-tool', path, tool: name, runs: runs.length, used, saved, message }]
}

/** Lists every tool of the recorded sections, with the last section that had it. */
function getTools(runs: readonly RecordedRun[]): { readonly name: string; readonly path: string }[] {
  const places = new Map<string, string>()
  for (const { sections } of runs)
    for (const { path, tools } of sections) for (const { name } of tools) places.set(name, path)
  return [...places].map(([name, path]) => ({ name, path }))
}

function isShown({ renders }: RecordedRun, path: string, how: 'full' | 'summary'): boolean {
  return renders[0]?.sections.some((section) => section.path === path && section.visibility === how) ?? false
}

function wasOpened({ openings }: RecordedRun, path: string): boolean {
  return openings.some(({ answeredBy, keys }) => answeredBy !== 'none' && keys.some((key) => isWithin(key, path)))
}

/** Whether a section or a section inside it was opened, or one of their tools was called. */
function wasUsed(run: RecordedRun, path: string): boolean {
  const tools = new Set(
    run.sections
      .filter((section) => isWithin(section.path, path))
      .flatMap((section) => section.tools.map(({ name }) => name)),
  )
  return wasOpened(run, path) || run.toolCalls.some(({ name }) => tools.has(name))
}

function isWorthIt(saved: Saving): boolean {
  return getWorth(saved) > 0 || (saved.cost === undefined && (saved.requests > 0 || saved.restarts > 0))
}

/** Describes a saving, up to the end of the sentence. */
function formatSaving({ tokens, requests, restarts, cost }: Saving, price: AdvicePrice | undefined): string {
  const saved = joinWords([
    ...formatCount(tokens, 'token'),
    ...formatCount(requests, 'request'),
    ...formatCount(restarts, 'restart'),
  ])
  const more = formatCount(-tokens, 'token').map((words) => `cost ${words} more`)
  const counted = [...more, ...(saved === '' ? [] : [`saved ${saved}`])].join(' and ')
  if (cost === undefined || !price) return `${counted}, counted without a prompt cache.`
  const { usdPerMillion } = price
  const usd = usdPerMillion === undefined ? '' : ` (${formatUsd((cost * usdPerMillion) / 1_000_000)})`
  return `${counted}. Billed ${describeCacheTerms(price)}, it saves ${formatNumber(Math.round(cost))} tokens at the price of input${usd}.`
}

const formatNumber = (count: number): string => count.toLocaleString('en')

function formatCount(count: number, word: string): string[] {
  if (count <= 0) return []
  return [`${formatNumber(count)} ${word}${count === 1 ? '' : 's'}`]
}

function compareText(one: string, other: string): number {
  if (one === other) return 0
  if (one < other) return -1
  return 1
}
