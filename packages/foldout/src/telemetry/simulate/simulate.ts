import { agentRun } from '../../agent/state/run-state.ts'
import type { ResultsFolded } from '../../agent/events.ts'
import type { AgentOptions } from '../../agent/options.ts'
import type { RefoldOptions } from '../../agent/refold/options.ts'
import { runAgent } from '../../agent/loop/run-agent.ts'
import { checkNumbers } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import { nearest } from '../../core/text.ts'
import { estimatedTokens, type TokenCounter } from '../../core/tokens/tokens.ts'
import type { PromptCache } from '../../core/price/prompt-cache.ts'
import type { OpenAhead } from '../../disclosure/ahead/rule.ts'
import type { DisclosureStrategy } from '../../disclosure/strategy.ts'
import type { PromptOverrides } from '../../prompt/overrides/overrides.ts'
import { getRegistry, type BoundPrompt } from '../../prompt/prompt.ts'
import { createSession } from '../../session/session.ts'
import { isVisibility, visibility, type Visibility } from '../../session/visibility.ts'
import { createStepAdapter } from './adapter.ts'
import { billRequests, getCache, type Bill, type CacheOptions, type Charge } from './cache.ts'
import { createRecordingFilesystem } from './files.ts'
import { createKeptConversation } from './kept-conversation.ts'
import { getTokens } from './request.ts'
import { isSectionShown, sectionBodies, type ShownTexts } from './shown.ts'

/**
 * A call of one of the prompt's own tools. The tool is not run; only the cost of the call counts.
 *
 * @example
 * ```ts
 * const call: SimulatedCall = { name: 'refund_order', argumentsTokens: 12, resultTokens: 40 }
 * ```
 */
export interface SimulatedCall {
  readonly name: string
  /** Tokens of its arguments as JSON. */
  readonly argumentsTokens: number
  readonly resultTokens: number
  /** The qualified name of the tool that it ran, for a tool that runs those of a catalog. */
  readonly target?: string
}

/**
 * A turn with a person: the model says something, and hears an answer. Both are numbers of tokens; a person's own words
 * also count as input for what opens sections ahead.
 *
 * @example
 * ```ts
 * const talk: SimulatedTalk = { says: 73, hears: 'And when does it arrive?', afterMs: 60_000 }
 * ```
 */
export interface SimulatedTalk {
  readonly says: number
  readonly hears: number | string
  /** How long the person takes. A cache that does not live that long is cold afterwards. Default 0. */
  readonly afterMs?: number
}

/**
 * A part of an earlier result that the model needs again. It costs nothing unless the result was folded since.
 *
 * @example
 * ```ts
 * const need: SimulatedNeed = { call: 1, tokens: 40 }
 * ```
 */
export interface SimulatedNeed {
  /** The number of the call that returned it, from 1 on, over all steps. */
  readonly call: number
  /** How much of it the model needs. */
  readonly tokens: number
}

/**
 * One action of a model, however the prompt is shown to it.
 *
 * @example
 * ```ts
 * const steps: SimulationStep[] = [{ opens: ['refunds'] }, { calls: [call] }, { answers: 80 }]
 * ```
 */
export type SimulationStep =
  /** The model needs these sections, by path. Sections that it can already read cost nothing. */
  | { readonly opens: readonly string[] }
  /** The model calls tools, all in one reply. */
  | { readonly calls: readonly SimulatedCall[] }
  /** The model needs parts of earlier results again. */
  | { readonly needs: readonly SimulatedNeed[] }
  | SimulatedTalk
  /** The model answers with this number of tokens, and the run is over. */
  | { readonly answers: number }

/**
 * The actions of a model in a run, independent of how sections are disclosed to it.
 *
 * @example
 * ```ts
 * const run: SimulatedRun = { prompt: bound, input: 'Refund order 17.', steps: [{ opens: ['refunds'] }, { answers: 80 }] }
 * ```
 */
export interface SimulatedRun {
  readonly prompt: Pick<BoundPrompt, 'prompt' | 'render'>
  /** The user input. */
  readonly input?: string
  readonly steps: readonly SimulationStep[]
}

/**
 * How tools get into a conversation: `'dynamic'` if the provider can append them to it, `'dynamic-plain'` if they are added
 * to the end of the tool list, `'restart'` if the prompt is rendered again.
 *
 * @example
 * ```ts
 * for (const adapter of ['dynamic', 'restart'] satisfies SimulatedAdapter[]) await simulate(run, { strategy, adapter })
 * ```
 */
export type SimulatedAdapter = 'dynamic' | 'dynamic-plain' | 'restart'

/**
 * The options of {@link simulate}.
 *
 * @example
 * ```ts
 * const options: SimulationOptions = { strategy: readSection(), cache: 'anthropic', visibility: { refunds: 'full' } }
 * ```
 */
export interface SimulationOptions extends CacheOptions {
  /** The strategy, or `'everything-in-full'` to fold no section at all. */
  readonly strategy: DisclosureStrategy | 'everything-in-full'
  /** How tools are added. Default `'dynamic'`. */
  readonly adapter?: SimulatedAdapter
  /**
   * Sections that start open (`full`) or folded (`summary`), by path, instead of their default, to see what it would
   * cost to show a section from the start. The model can still open folded sections.
   */
  readonly visibility?: Readonly<Record<string, Visibility>>
  /** The sections to open before the first request for each of the user's inputs, as in `runAgent`. */
  readonly open?: OpenAhead
  /** Overrides of the prompt, as in `runAgent`. */
  readonly overrides?: PromptOverrides
  /**
   * Folds results as `runAgent` does, with stand-ins for the results of the prompt's tools. The cache is that of
   * `cache`, unless it has its own. Default: nothing is folded back, unless there is a `contextWindow`.
   */
  readonly refold?: RefoldOptions | false
  /** The size of the model's window, as in `runAgent`. Default: unlimited. */
  readonly contextWindow?: number
  /** Counts tokens. Default: a quick estimate. */
  readonly counter?: TokenCounter
}

/**
 * The cost of one request.
 *
 * @example
 * ```ts
 * const largest = Math.max(...requests.map(({ inputTokens }: SimulatedRequest) => inputTokens))
 * ```
 */
export interface SimulatedRequest extends Charge {
  /** The tokens that the model writes in reply. */
  readonly outputTokens: number
  /** The tokens of the tool definitions before the conversation. */
  readonly tools: number
  readonly system: number
  /** The tokens of the conversation, with the tool definitions that were appended to it. */
  readonly messages: number
}

/**
 * The cost of a simulated run, and what the model can read and call at its end.
 *
 * @example
 * ```ts
 * const { billedTokens, restarts }: Simulation = await simulate(run, { strategy: readSection() })
 * ```
 */
export interface Simulation extends Bill {
  readonly requests: readonly SimulatedRequest[]
  /** How often the prompt was rendered again. */
  readonly restarts: number
  /** The folds of results, with reason, cost and gain. */
  readonly folds: readonly ResultsFolded[]
  /** How often the model read a folded result again. */
  readonly readBacks: number
  /** Paths of the sections whose whole text the model can read at the end, in the order of the prompt. */
  readonly sections: readonly string[]
  /** The prompt's own tools that the model can call at the end, in the order of the prompt. */
  readonly tools: readonly string[]
  readonly counter: { readonly name: string; readonly exact: boolean }
  /** Bills the same run at another price, without simulating it again. */
  bill(options: CacheOptions): Bill
}

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
