import { listed } from '../core/text.ts'
import type { BoundPrompt } from '../prompt/prompt.ts'
import type { RecordedRun, Recording } from './recording.ts'
import { addSavings, folding, isWithin, offering, replay, showing, type Saving } from './replay.ts'

/** A change to a prompt, found from recorded runs. */
export interface Advice {
  readonly type: 'show-section' | 'fold-section' | 'offer-tool'
  /** The section it is about, or that the tool belongs to. */
  readonly path: string
  readonly tool: string | undefined
  /** How many runs it is judged by. */
  readonly runs: number
  /** In how many of them the section was opened or the tool was called. */
  readonly used: number
  /** What it would have saved over these runs; below zero where it would have cost more. */
  readonly saved: Saving
  readonly message: string
}

export interface AdviseOptions {
  /** The prompt as it is now: what is done already is not advised. */
  readonly bound: Pick<BoundPrompt, 'prompt' | 'render'>
  /** How many runs are needed to judge by. Default 3. */
  readonly minRuns?: number
  /** From how many tokens on a section without a summary is worth writing one. Default 500. */
  readonly largeTokens?: number
}

/**
 * Finds what to show from the start and what to fold, with what that would have saved over the recorded runs. The biggest
 * saving comes first.
 */
export function advise(recordings: readonly Recording[], options: AdviseOptions): readonly Advice[] {
  const { bound, minRuns = 3, largeTokens = 500 } = options
  const { ns, key } = bound.prompt
  const runs = recordings
    .flatMap((recording) => recording.runs)
    .filter(({ prompt, requests }) => prompt.ns === ns && prompt.key === key && requests.length > 0)
  const { nodes } = bound.render()
  const now = (visibility: 'full' | 'summary') =>
    nodes.filter((node) => node.visibility === visibility).map(({ path }) => path)
  const folds = now('full').flatMap((path) => foldAdvice(runs, path, { minRuns, largeTokens }))
  const offered = new Set(nodes.flatMap((node) => node.tools.map(({ name }) => name)))
  return [
    ...now('summary').flatMap((path) => showAdvice(runs, path, minRuns)),
    // What lies in a section that is to be folded goes with it.
    ...folds.filter(({ path }) => !folds.some((other) => other.path !== path && isWithin(path, other.path))),
    ...toolsIn(runs)
      .filter(({ name }) => !offered.has(name))
      .flatMap(({ name, path }) => toolAdvice(runs, name, path, minRuns)),
  ].sort(
    (a, b) =>
      b.saved.tokens - a.saved.tokens ||
      b.saved.restarts - a.saved.restarts ||
      b.saved.requests - a.saved.requests ||
      compare(a.type, b.type) ||
      compare(a.path, b.path) ||
      compare(a.tool ?? '', b.tool ?? ''),
  )
}

function showAdvice(all: readonly RecordedRun[], path: string, minRuns: number): Advice[] {
  const runs = all.filter((run) => isShown(run, path, 'summary'))
  const used = runs.filter((run) => wasOpened(run, path)).length
  if (runs.length < minRuns || used * 2 <= runs.length) return []
  const saved = addSavings(runs.map((run) => replay(run, showing(run, path))))
  if (!isWorthIt(saved)) return []
  const message = `Show section '${path}' in full from the start: ${used} of ${runs.length} runs opened it. Over these runs that would have ${savedWords(saved)}.`
  return [{ type: 'show-section', path, tool: undefined, runs: runs.length, used, saved, message }]
}

function foldAdvice(
  all: readonly RecordedRun[],
  path: string,
  { minRuns, largeTokens }: { readonly minRuns: number; readonly largeTokens: number },
): Advice[] {
  const runs = all.filter((run) => isShown(run, path, 'full'))
  const within = runs.at(-1)?.sections.filter((section) => isWithin(section.path, path)) ?? []
  const own = within.find((section) => section.path === path)
  if (runs.length < minRuns || !own || runs.some((run) => wasUsed(run, path))) return []
  const hasSummary = own.summaryTokens !== null
  if (!hasSummary && within.reduce((sum, { fullTokens }) => sum + fullTokens, 0) < largeTokens) return []
  const saved = addSavings(runs.map((run) => replay(run, folding(run, path))))
  if (saved.tokens <= 0) return []
  const why = within.some(({ tools }) => tools.length > 0)
    ? `none of its tools was called in ${runs.length} runs`
    : `it has no tools, and nothing in ${runs.length} runs tells whether its text was needed`
  const summary = hasSummary ? '' : ' It has no summary yet: write one, whose cost is not counted here.'
  const message = `Fold section '${path}' by default: ${why}. Over these runs that would have ${savedWords(saved)}.${summary}`
  return [{ type: 'fold-section', path, tool: undefined, runs: runs.length, used: 0, saved, message }]
}

function toolAdvice(all: readonly RecordedRun[], name: string, path: string, minRuns: number): Advice[] {
  const runs = all.filter((run) => run.renders[0]?.tools.every((tool) => tool.name !== name))
  const used = runs.filter((run) => run.toolCalls.some((call) => call.name === name && call.ok !== null)).length
  if (runs.length < minRuns || used * 2 <= runs.length) return []
  const saved = addSavings(
    runs.map((run) => {
      const section = run.sections.find((each) => each.path === path)
      const tool = section?.tools.find((each) => each.name === name)
      return tool ? replay(run, offering(run, tool, path)) : { tokens: 0, requests: 0, restarts: 0 }
    }),
  )
  if (!isWorthIt(saved)) return []
  const message = `Offer tool '${name}' from the start, as a core tool in a section that is shown in full: ${used} of ${runs.length} runs called it after opening '${path}'. If the section's text is not needed to call it, that would have ${savedWords(saved)} over these runs.`
  return [{ type: 'offer-tool', path, tool: name, runs: runs.length, used, saved, message }]
}

/** Every tool of the sections in some runs, where it was last. */
function toolsIn(runs: readonly RecordedRun[]): { readonly name: string; readonly path: string }[] {
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

/** Whether a section or anything in it was asked for, or a tool in it called. */
function wasUsed(run: RecordedRun, path: string): boolean {
  const tools = new Set(
    run.sections
      .filter((section) => isWithin(section.path, path))
      .flatMap((section) => section.tools.map(({ name }) => name)),
  )
  return wasOpened(run, path) || run.toolCalls.some(({ name }) => tools.has(name))
}

const isWorthIt = (saved: Saving): boolean => saved.tokens > 0 || saved.requests > 0 || saved.restarts > 0

function savedWords({ tokens, requests, restarts }: Saving): string {
  const counted = (count: number, word: string): string[] =>
    count > 0 ? [`${count} ${word}${count === 1 ? '' : 's'}`] : []
  const saved = listed([...counted(tokens, 'token'), ...counted(requests, 'request'), ...counted(restarts, 'restart')])
  const cost = counted(-tokens, 'token').map((words) => `cost ${words} more`)
  return [...cost, ...(saved === '' ? [] : [`saved ${saved}`])].join(' and ')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
