import { runAgent } from '../../agent/run-agent.ts'
import { FoldoutError } from '../../core/errors.ts'
import { estimatedTokens, type TokenCounter } from '../../core/tokens/tokens.ts'
import type { DisclosureStrategy } from '../../disclosure/strategy.ts'
import { getRegistry, type BoundPrompt } from '../../prompt/prompt.ts'
import { createSession } from '../../session/session.ts'
import type { Visibility } from '../../session/visibility.ts'
import { followingAdapter } from './adapter.ts'
import { billing, type CacheOptions, type Charge } from './cache.ts'
import { recordingFilesystem } from './files.ts'
import { getTokens } from './request.ts'
import { isSectionShown, sectionBodies, type ShownTexts } from './shown.ts'

/** A call of one of the prompt's own tools. The tool is not run: only what the call costs is known. */
export interface SimulatedCall {
  readonly name: string
  /** Tokens of its arguments as JSON. */
  readonly argumentsTokens: number
  readonly resultTokens: number
}

/** One thing a model does, however it is shown the prompt. */
export type SimulationStep =
  /** It needs these sections, by path. Those it has before it already cost nothing. */
  | { readonly opens: readonly string[] }
  /** It calls tools, side by side. */
  | { readonly calls: readonly SimulatedCall[] }
  /** It answers with so many tokens, and the run is over. */
  | { readonly answers: number }

/** What a model does in a run, said without regard to how sections are disclosed to it. */
export interface SimulatedRun {
  readonly prompt: Pick<BoundPrompt, 'prompt' | 'render'>
  /** What the user says. */
  readonly input?: string
  readonly steps: readonly SimulationStep[]
}

/**
 * How tools get into a conversation: `'dynamic'` where the provider can append them to it, `'dynamic-plain'` where they are
 * added to the end of the tool list, `'restart'` where the prompt is rendered anew.
 */
export type SimulatedAdapter = 'dynamic' | 'dynamic-plain' | 'restart'

export interface SimulationOptions extends CacheOptions {
  /** How folded sections are disclosed, or that none is folded at all. */
  readonly strategy: DisclosureStrategy | 'everything-in-full'
  /** Default `'dynamic'`. */
  readonly adapter?: SimulatedAdapter
  /** Who counts tokens. Default: a quick estimate. */
  readonly counter?: TokenCounter
}

/** What one request costs. */
export interface SimulatedRequest extends Charge {
  /** Tokens of the tool definitions before the conversation. */
  readonly tools: number
  readonly system: number
  /** Tokens of the conversation, with the tool definitions that were appended to it. */
  readonly messages: number
}

export interface Simulation extends Charge {
  readonly requests: readonly SimulatedRequest[]
  /** How often the prompt was rendered anew. */
  readonly restarts: number
  /** Paths of the sections whose whole text the model has before it in the end, in walking order. */
  readonly sections: readonly string[]
  /** The prompt's own tools that it can call in the end, in walking order. */
  readonly tools: readonly string[]
  readonly counter: { readonly name: string; readonly exact: boolean }
}

/**
 * Works out what a run's input costs: the run is made with the agent loop, a real render and a real session, and only the
 * model and the prompt's own tools are stand-ins. A message costs what its texts cost: the few tokens with which providers
 * mark where it begins are not known and left out, for all strategies alike.
 */
export async function simulate(run: SimulatedRun, options: SimulationOptions): Promise<Simulation> {
  const { strategy, adapter: kind = 'dynamic', counter = estimatedTokens } = options
  checkSteps(run)
  const session = createSession()
  const files = recordingFilesystem()
  const paths = getRegistry(run.prompt.prompt).slots.map(({ path }) => path)
  const everything = Object.fromEntries(paths.map((path): [string, Visibility] => [path, 'full']))
  const inFull = run.prompt.render({ session, counter, visibility: everything })
  const rendering = strategy === 'everything-in-full' ? { visibility: everything } : { disclosure: strategy }
  const bodies = sectionBodies(inFull)
  const render = () => run.prompt.render({ session, counter, ...rendering })
  const isShown = (path: string, texts: ShownTexts) =>
    isSectionShown(path, bodies.get(path), { texts, rendered: render() })
  const adapter = followingAdapter({ steps: run.steps, kind, counter, files, paths: new Set(paths), render, isShown })
  const { state } = await runAgent(run.prompt as BoundPrompt, {
    adapter,
    session,
    counter,
    filesystem: files.filesystem,
    maxExpansions: Number.POSITIVE_INFINITY,
    ...(run.input === undefined ? {} : { input: run.input }),
    ...rendering,
  })
  const charge = billing(options, counter)
  const requests = adapter.requests.map((request, i): SimulatedRequest => ({
    ...charge(request, adapter.requests[i - 1]),
    tools: getTokens(request.tools),
    system: request.system.tokens,
    messages: getTokens(request.messages),
  }))
  const callable = new Set(state.disclosed)
  const { texts } = adapter
  return {
    requests,
    inputTokens: total(requests, 'inputTokens'),
    cacheReadTokens: total(requests, 'cacheReadTokens'),
    cacheWriteTokens: total(requests, 'cacheWriteTokens'),
    billedTokens: total(requests, 'billedTokens'),
    restarts: state.expansions,
    sections: [...bodies.keys()].filter((path) => isShown(path, texts)),
    tools: inFull.tools.map(({ name }) => name).filter((name) => callable.has(name)),
    counter: { name: counter.name, exact: counter.exact },
  }
}

function total(requests: readonly SimulatedRequest[], field: keyof Charge): number {
  return requests.reduce((sum, request) => sum + request[field], 0)
}

function checkSteps({ steps }: SimulatedRun): void {
  const early = steps.findIndex((step, i) => 'answers' in step && i < steps.length - 1)
  if (early === -1) return
  throw new FoldoutError(
    'simulation-invalid',
    `Step ${early + 1} of the run answers, and ${steps.length - early - 1} more follow. An answer ends a run: put it last.`,
  )
}
