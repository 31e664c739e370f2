import { agentRun } from '../../agent/state/run-state.ts'
import type { ResultsFolded } from '../../agent/events.ts'
import type { AgentOptions } from '../../agent/options.ts'
import { runAgent } from '../../agent/loop/run-agent.ts'
import { checkNumbers } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import { nearest } from '../../core/text.ts'
import { estimatedTokens, type TokenCounter } from '../../core/tokens/tokens.ts'
import type { PromptCache } from '../../core/price/prompt-cache.ts'
import { getRegistry, type BoundPrompt } from '../../prompt/prompt.ts'
import { createSession } from '../../session/session.ts'
import { isVisibility, visibility, type Visibility } from '../../session/visibility.ts'
import type { SimulationStep, SimulatedRun, SimulationOptions, SimulatedRequest, Simulation } from './contract.ts'
import { createStepAdapter } from './adapter.ts'
import { billRequests, getCache, type Bill, type CacheOptions, type Charge } from './cache.ts'
import { createRecordingFilesystem } from './files.ts'
import { createKeptConversation } from './kept-conversation.ts'
import { getTokens } from './request.ts'
import { isSectionShown, sectionBodies, type ShownTexts } from './shown.ts'

/**
 * Computes the cost of a run: its input and output in every request, at one price or at several. The run uses the real agent loop, renderer and session; only the model and the
 * prompt's own tools are simulated. A message costs as much as its texts: the few tokens with which providers mark the
 * start of a message are unknown, so they are left out for every strategy.
 *
 * @example
 * ```ts
 * const run = { prompt: bound, steps: [{ opens: ['refunds'] }, { answers: 80 }] }
 * const now = await simulate(run, { strategy: readSection(), cache: 'anthropic' })
 * const then = await simulate(run, { strategy: readSection(), cache: 'anthropic', visibility: { refunds: 'full' } })
 * console.log(`Showing refunds would save ${now.billedTokens - then.billedTokens} tokens.`)
 * ```
 */
export async function simulate(run: SimulatedRun, options: SimulationOptions): Promise<Simulation> {
  const { strategy, adapter: kind = 'dynamic', counter = estimatedTokens } = options
  checkSteps(run)
  const paths = getRegistry(run.prompt.prompt).slots.map(({ path }) => path)
  checkVisibility(options, paths)
  const session = createSession({ slices: [visibility.seed(options.visibility ?? {})] })
  const files = createRecordingFilesystem()
  const everything = Object.fromEntries(paths.map((path): [string, Visibility] => [path, 'full']))
  // In a separate session, because sections folded in the run's session would stay folded.
  const { overrides } = options
  const wording = overrides && { overrides }
  const inFull = run.prompt.render({ session: createSession(), counter, visibility: everything, ...wording })
  const how = strategy === 'everything-in-full' ? { visibility: everything } : { disclosure: strategy }
  const rendering = { ...how, ...wording }
  const bodies = sectionBodies(inFull)
  const promptCache = getCache(options)
  const perHour = getTraffic(options)
  const price = { cache: promptCache, perHour }
  const render = () => run.prompt.render({ session, counter, price, ...rendering })
  const isShown = (path: string, texts: ShownTexts) =>
    isSectionShown(path, bodies.get(path), { texts, rendered: render() })
  const folding = getFolding(options, promptCache)
  const kept = folding && createKeptConversation(session, counter)
  const parts = { steps: run.steps, kind, counter, files, paths: new Set(paths), render, isShown, promptCache, kept }
  const adapter = createStepAdapter(parts)
  const folds: ResultsFolded[] = []
  let readBacks = 0
  let restarts = 0
  let variants = 1
  let input = run.input
  do {
    await runAgent(run.prompt as BoundPrompt, {
      adapter,
      session,
      counter,
      filesystem: files.filesystem,
      maxExpansions: Number.MAX_SAFE_INTEGER,
      maxTurns: Number.MAX_SAFE_INTEGER,
      maxCallsPerReply: Number.MAX_SAFE_INTEGER,
      perHour,
      ...folding,
      onEvent(event) {
        if (event.type === 'sections/opened' && event.place === 'system') variants = event.variants
        if (event.type === 'run/expanded' && event.callIds.length > 0) restarts++
        if (event.type === 'results/folded') folds.push(event)
        if (event.type === 'result/read') readBacks++
      },
      ...(options.open !== undefined && { open: options.open }),
      ...(input !== undefined && { input }),
      ...rendering,
    })
    input = adapter.takeHeard()
  } while (input !== undefined || adapter.isLeft())
  const sent = adapter.requests
  const bill = (terms: CacheOptions): Bill => {
    const made = billRequests(sent, { share: 1 / variants, ...terms }, counter)
    return { ...made, assumptions: [describeCounter(counter), ...describeFolding(folding), ...made.assumptions] }
  }
  const now = bill(options)
  const callable = new Set(session.get(agentRun).disclosed)
  const texts = adapter.getTexts()
  return {
    ...now,
    requests: sent.map((request, i): SimulatedRequest => ({
      ...(now.requests[i] ?? NO_CHARGE),
      outputTokens: request.outputTokens,
      tools: getTokens(request.tools),
      system: request.system.tokens,
      messages: getTokens(request.messages),
    })),
    restarts,
    folds,
    readBacks,
    sections: [...bodies.keys()].filter((path) => isShown(path, texts)),
    tools: inFull.tools.map(({ name }) => name).filter((name) => callable.has(name)),
    counter: { name: counter.name, exact: counter.exact },
    bill,
  }
}

/** More conversations than this an hour are as good as one after the other. */
const BUSY = 1e9

/** What decides where sections are opened ahead: a warm start is a busy prompt. */
export function getTraffic({ cacheStart = 'cold' }: CacheOptions): number {
  if (typeof cacheStart === 'object') return cacheStart.perHour
  if (cacheStart === 'warm') return BUSY
  return 0
}

/** The options of the run that make it fold; undefined if it never does. */
function getFolding(
  { refold, contextWindow }: SimulationOptions,
  { read, write, ttlMs }: PromptCache,
): Pick<AgentOptions, 'refold' | 'contextWindow'> | undefined {
  if (refold === undefined && contextWindow === undefined) return undefined
  return {
    refold: refold !== false && { cache: { read, write, ttlMs }, ...refold },
    ...(contextWindow !== undefined && { contextWindow }),
  }
}

function describeFolding(folding: ReturnType<typeof getFolding>): readonly string[] {
  if (!folding?.refold) return []
  const { contextWindow } = folding
  const window = contextWindow === undefined ? 'no known window' : `a window of ${contextWindow} tokens`
  return [`Old results are folded back, in a model with ${window}.`]
}

const NO_CHARGE: Charge = { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, billedTokens: 0 }

function describeCounter({ name, exact }: TokenCounter): string {
  if (exact) return `Tokens are counted exactly (${name}).`
  return `Tokens are estimated (${name}).`
}

function checkSteps({ steps }: SimulatedRun): void {
  for (const step of steps) for (const each of listFigures(step)) checkNumbers(each, { code: 'simulation-invalid' })
  const early = steps.findIndex((step, i) => 'answers' in step && i < steps.length - 1)
  if (early === -1) return
  throw new FoldoutError(
    'simulation-invalid',
    `Step ${early + 1} of the run is an answer, but ${steps.length - early - 1} more follow. An answer ends the run: put it last.`,
  )
}

function listFigures(step: SimulationStep): readonly Readonly<Record<string, unknown>>[] {
  if ('opens' in step) return []
  if ('calls' in step) return step.calls.map(({ argumentsTokens, resultTokens }) => ({ argumentsTokens, resultTokens }))
  if ('needs' in step) return step.needs.map(({ call, tokens }) => ({ call, tokens }))
  if ('answers' in step) return [{ answers: step.answers }]
  const { says, hears, afterMs } = step
  return [{ says, afterMs, ...(typeof hears !== 'string' && { hears }) }]
}

function checkVisibility({ strategy, visibility: asked }: SimulationOptions, paths: readonly string[]): void {
  if (asked === undefined) return
  if (strategy === 'everything-in-full') {
    throw new FoldoutError(
      'simulation-invalid',
      "With the strategy 'everything-in-full', every section is open. Pass a strategy, or leave out visibility.",
    )
  }
  const known = new Set(paths)
  for (const [path, wanted] of Object.entries(asked)) {
    if (!known.has(path)) {
      const near = nearest(path, known).join(', ')
      throw new FoldoutError(
        'simulation-invalid',
        `There is no section '${path}' to set the visibility of. Nearest sections: ${near}.`,
      )
    }
    if (!isVisibility(wanted)) {
      throw new FoldoutError('simulation-invalid', `The visibility of '${path}' must be 'full' or 'summary'.`)
    }
  }
}
