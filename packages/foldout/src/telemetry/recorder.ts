import { NO_USAGE, addUsage, type Usage } from '../adapters/contract.ts'
import type { AgentEvent } from '../agent/events.ts'
import { estimatedTokens, type TokenCounter } from '../core/tokens/tokens.ts'
import type { DisclosureStrategy } from '../disclosure/strategy.ts'
import type { PromptOverrides } from '../prompt/overrides/overrides.ts'
import type { BoundPrompt } from '../prompt/prompt.ts'
import type { RenderedPrompt } from '../prompt/render/rendered-prompt.ts'
import type { SessionReader } from '../session/session.ts'
import type { Visibility } from '../session/visibility.ts'
import { toolTokens } from '../tools/tool.ts'
import { isOpening, watchOpenings } from './openings.ts'
import type {
  RecordedOpening,
  RecordedRender,
  RecordedRequest,
  RecordedRestart,
  RecordedRun,
  RecordedToolCall,
  Recording,
} from './recording.ts'
import { watchRuns, type RunEnd, type RunListener } from './runs.ts'
import {
  promptCosts,
  renderAsked,
  toolCosts,
  type CostOptions,
  type SectionCost,
  type ToolCost,
} from './section-costs.ts'

/**
 * What the recorder needs to count tokens: the same as you pass to the run.
 *
 * @example
 * ```ts
 * const options: RecorderOptions = { bound, input: 'Refund order 17.', counter: await gptTokenizer() }
 * ```
 */
export interface RecorderOptions {
  readonly bound: Pick<BoundPrompt, 'prompt' | 'render'>
  readonly input?: string
  readonly session?: SessionReader
  readonly disclosure?: DisclosureStrategy
  readonly overrides?: PromptOverrides
  /** Who counts tokens. Default: a quick estimate. */
  readonly counter?: TokenCounter
}

/**
 * Records runs, one after the other. Runs that overlap each need a recorder of their own.
 *
 * @example
 * ```ts
 * const recorder: Recorder = createRecorder({ bound })
 * await runAgent(bound, { adapter, onEvent: recorder.onEvent })
 * recorder.recording().runs.length
 * ```
 */
export interface Recorder extends RunListener {
  /** All runs so far, one that is not finished yet included. */
  recording(): Recording
}

/**
 * Creates a recorder in memory. It only listens: the run is the same without it.
 *
 * @example
 * ```ts
 * const recorder = createRecorder({ bound })
 * await runAgent(bound, { adapter, onEvent: recorder.onEvent })
 * for (const { message } of advise([recorder.recording()], { bound })) console.log(message)
 * ```
 */
export function createRecorder(options: RecorderOptions): Recorder {
  const runs: RecordedRun[] = []
  const listener = recordRuns(options, (run) => runs.push(run))
  return {
    onEvent: listener.onEvent,
    recording: () => {
      const current = listener.current()
      return { version: 1, runs: current ? [...runs, current] : [...runs] }
    },
  }
}

export interface RunRecorder extends RunListener {
  current(): RecordedRun | undefined
}

/** Gives each run as soon as it has ended. */
export function recordRuns(options: RecorderOptions, ended: (run: RecordedRun) => void): RunRecorder {
  let draft: RunDraft | undefined
  const listener = watchRuns({
    begins: () => (draft = draftRun(options)),
    tells: (event) => draft?.onEvent(event),
    ends: (end) => {
      const run = draft?.finish(end)
      draft = undefined
      if (run) ended(run)
    },
  })
  return { ...listener, current: () => draft?.asIs() }
}

interface RunDraft {
  onEvent(event: AgentEvent): void
  finish(end: RunEnd): RecordedRun
  asIs(): RecordedRun
}

type Draft<T> = { -readonly [K in keyof T]: T[K] }

function draftRun(options: RecorderOptions): RunDraft {
  const { bound, counter = estimatedTokens } = options
  const costing: CostOptions = { ...options, counter }
  const { ns, key } = bound.prompt
  const renders: RecordedRender[] = []
  const requests: Draft<RecordedRequest>[] = []
  const openings: Draft<RecordedOpening>[] = []
  const restarts: RecordedRestart[] = []
  const toolCalls: Draft<RecordedToolCall>[] = []
  const toolPrices = new Map<string, number>()
  let sections: readonly SectionCost[] = []
  let disclosureTools: readonly ToolCost[] = []
  let conversation = options.input === undefined ? 0 : counter.count(options.input)
  let usage = NO_USAGE
  let total: Usage | undefined
  let last: RenderedPrompt | undefined

  const watch = watchOpenings(({ callId }, by) => {
    const opening = openings.findLast((asked) => asked.callId === callId)
    if (opening) opening.answeredBy = by
  })

  function rendered(full: readonly string[], summarized: readonly string[]): void {
    if (renders.length === 0) {
      const costs = promptCosts(costing)
      sections = costs.sections
      disclosureTools = costs.disclosureTools
      for (const { name, tokens } of [...sections.flatMap((section) => section.tools), ...disclosureTools])
        toolPrices.set(name, tokens)
    }
    const shown = (paths: readonly string[], how: Visibility) => paths.map((path): [string, Visibility] => [path, how])
    const render = renderAsked(costing, Object.fromEntries([...shown(full, 'full'), ...shown(summarized, 'summary')]))
    last = render
    const tools = toolCosts(render.tools, counter)
    for (const { name, tokens } of tools) toolPrices.set(name, tokens)
    renders.push({
      tokens: render.tokens,
      tokensIfAllOpen: render.tokensIfAllOpen,
      sections: render.nodes.map(({ path, visibility, tokens }) => ({ path, visibility, tokens })),
      tools,
    })
  }

  function getPrice(name: string): number {
    const known = toolPrices.get(name)
    if (known !== undefined) return known
    // One that was opened by itself, from among a catalog's, say.
    const folded = last?.findToolOnDemand(name)
    const price = folded ? toolTokens(folded, counter) : 0
    toolPrices.set(name, price)
    return price
  }

  function sent(messages: number, tools: readonly string[]): void {
    const before = requests.at(-1)?.conversationTokens ?? 0
    requests.push({
      render: renders.length - 1,
      messages,
      tools,
      systemTokens: renders.at(-1)!.tokens.text,
      toolTokens: tools.reduce((sum, name) => sum + getPrice(name), 0),
      conversationTokens: conversation,
      addedTokens: Math.max(0, conversation - before),
      outputTokens: 0,
      usage: null,
      retries: 0,
    })
  }

  function onEvent(event: AgentEvent): void {
    const request = requests.length - 1
    switch (event.type) {
      case 'prompt/rendered':
        rendered(event.full, event.summarized)
        break
      case 'request/sent':
        sent(event.messages, event.tools)
        break
      case 'request/retried':
        if (requests[request]) requests[request].retries += 1
        break
      case 'reply/received':
        usage = addUsage(usage, event.usage)
        conversation += counter.count(event.message.text)
        if (requests[request])
          Object.assign(requests[request], { usage: event.usage, outputTokens: event.usage.outputTokens })
        break
      case 'tool/called': {
        const { id, name, arguments: args, malformed } = event.call
        const argumentsTokens = counter.count(malformed ?? JSON.stringify(args) ?? '')
        conversation += counter.count(name) + argumentsTokens
        const target = event.target ? { target: event.target.name } : {}
        const spent = { argumentsTokens, resultTokens: 0 }
        toolCalls.push({ callId: id, name, ...target, ok: null, isDisclosure: false, request, ...spent })
        break
      }
      case 'tool/invoked': {
        const call = toolCalls.findLast(({ callId }) => callId === event.callId)
        if (!call) break
        call.ok = event.ok
        call.isDisclosure = event.disclosure !== undefined
        call.resultTokens = counter.count(event.message)
        conversation += call.resultTokens
        if (!isOpening(event)) break
        const { callId, disclosure } = event
        const tokens = counter.count(call.name) + call.argumentsTokens + call.resultTokens
        openings.push({ callId, keys: disclosure.keys, request: call.request, answeredBy: 'none', tokens })
        break
      }
      case 'run/expanded':
        restarts.push({ keys: event.keys, request })
        break
      case 'output/refused':
        conversation += counter.count(event.message)
        break
      case 'run/finished':
        total = event.usage
    }
    watch.onEvent(event)
  }

  // A copy, so that nobody holds what is still written to.
  const runAs = ({ status, errorType }: RunEnd): RecordedRun =>
    structuredClone({
      prompt: { ns, key },
      counter: { name: counter.name, exact: counter.exact },
      status,
      errorType: errorType ?? null,
      usage: total ?? usage,
      sections,
      disclosureTools,
      renders,
      requests,
      openings,
      restarts,
      toolCalls,
    })
  return {
    onEvent,
    asIs: () => runAs({ status: 'unfinished', errorType: undefined }),
    finish(end) {
      watch.settle()
      return runAs(end)
    },
  }
}
