import { toTotals } from '../totals.ts'
import { learnCore, type CatalogRecording } from 'foldout/catalog'
import { estimatedTokens, type BoundPrompt, type RenderedPrompt } from 'foldout'
import type * as telemetry from 'foldout/telemetry'
import type { Advice, AdvicePrice } from 'foldout/telemetry'
import { dropUndefined } from 'foldout-shared/values'
import type { ClientStore } from '../clients/store.ts'
import type { InspectorSource } from '../inspector.ts'
import type { AdviceItem, AdviceView, CoreView, TokenTotals } from '../protocol/protocol.ts'
import type { RunStore } from '../runs/store.ts'

/** A prompt, and the copy of the library that made it. */
export interface AdvisedPrompt {
  readonly bound: BoundPrompt
  readonly telemetry: Pick<typeof telemetry, 'advise' | 'createRecorder'>
}

export interface AdviceParts {
  readonly runs: RunStore
  readonly prompt?: AdvisedPrompt | undefined
  /** What runs are billed at. */
  readonly price?: AdvicePrice | undefined
  /** What clients did with a catalog. */
  readonly getUse?: (() => Promise<CatalogRecording>) | undefined
  /** Says when they have done something more. */
  readonly clients?: Pick<ClientStore, 'subscribe'> | undefined
}

/** The advice view: what recorded use says about a prompt and about a catalog. */
export function createAdviceSource({ runs, prompt, price, getUse, clients }: AdviceParts): InspectorSource {
  return {
    view: 'advice',
    subscribe(listener) {
      const stops = [runs.subscribe(listener), clients?.subscribe(listener)]
      return () => {
        for (const stop of stops) stop?.()
      }
    },
    handlers: {
      'advice/get': async (): Promise<AdviceView> => ({
        runs: runs.runs.length,
        hasPrompt: prompt !== undefined,
        promptRuns: prompt ? countRuns(runs, prompt) : 0,
        minRuns: MIN_RUNS,
        items: prompt ? advise(runs, prompt, price) : [],
        core: getUse ? describeCore(await getUse()) : null,
      }),
    },
  }
}

/** How many runs of a prompt advice needs. */
const MIN_RUNS = 3

/** Counts the runs that `advise` reads: those of the prompt that sent a request. */
function countRuns(runs: RunStore, { bound }: AdvisedPrompt): number {
  const { ns, key } = bound.prompt
  return runs.runs.filter(({ summary, requests }) => summary.prompt === `${ns}/${key}` && requests.length > 0).length
}

function advise(
  runs: RunStore,
  { bound, telemetry: { advise: adviseOn, createRecorder } }: AdvisedPrompt,
  price: AdvicePrice | undefined,
): readonly AdviceItem[] {
  const recordings = runs.runs.map((run) => {
    const recorder = createRecorder({ prompt: bound })
    for (const { event } of run.steps)
      // The page's events have everything the recorder reads, but less than a run's own events.
      if (event.type !== 'cache/missed') recorder.onEvent(event as Parameters<typeof recorder.onEvent>[0])
    return recorder.recording()
  })
  const before = bound.render()
  return adviseOn(recordings, { prompt: bound, minRuns: MIN_RUNS, ...dropUndefined({ price }) }).map((advice) => {
    const { type, path, tool, runs: based, used, saved, message } = advice
    const after = applyAdvice(bound, before, advice)
    return {
      type,
      path,
      tool,
      runs: based,
      used,
      saved,
      message,
      before: toTotals(before.tokens),
      after: after && toTotals(after),
    }
  })
}

/** The context of the first request after the change; undefined if the summary is not written yet. */
function applyAdvice(
  bound: BoundPrompt,
  before: RenderedPrompt,
  { type, path, tool }: Advice,
): TokenTotals | undefined {
  if (type === 'show-all') return before.tokensIfAllOpen
  if (path === undefined) return undefined
  if (type === 'delegate-section') return before.tokens
  if (type === 'show-section') return bound.render({ visibility: { [path]: 'full' } }).tokens
  if (type === 'offer-tool') {
    const open = bound.render({ visibility: openUpTo(path) }).tools.filter(({ name }) => name === tool)
    const added = open.reduce((sum, each) => sum + countTool(each), 0)
    const { total, text, tools } = before.tokens
    return { total: total + added, text, tools: tools + added }
  }
  const folded = bound.render({ visibility: { [path]: 'summary' } })
  if (folded.summarized.includes(path)) return folded.tokens
  return undefined
}

function openUpTo(path: string): Readonly<Record<string, 'full'>> {
  const keys = path.split('.')
  return Object.fromEntries(keys.map((_, i) => [keys.slice(0, i + 1).join('.'), 'full']))
}

function countTool({ name, description, inputSchema }: RenderedPrompt['tools'][number]): number {
  return estimatedTokens.count(JSON.stringify({ name, description, inputSchema }))
}

function describeCore(use: CatalogRecording): CoreView {
  const { core, saved, of, tools, evidence } = learnCore(use)
  return {
    core,
    saved,
    spent: { tokens: of.tokens, roundTrips: of.roundTrips },
    tools: tools.slice(0, 200),
    isEnough: evidence.isEnough,
    summary: evidence.summary,
  }
}
