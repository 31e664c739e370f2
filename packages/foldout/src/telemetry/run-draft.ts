import { type AgentInput, toUserMessage } from '../agent/input.ts'
import { type TokenCounter, estimatedTokens } from '../core/tokens/tokens.ts'
import type { DisclosureStrategy } from '../disclosure/strategy.ts'
import type { PromptOverrides } from '../prompt/overrides/overrides.ts'
import type { BoundPrompt } from '../prompt/prompt.ts'
import type { SessionReader } from '../session/session.ts'
import { NO_USAGE, addUsage, type Usage } from '../adapters/contract.ts'
import { priceUsage, type UsageRates } from '../adapters/usage/price-usage.ts'
import { describeUserMessage } from '../adapters/user-parts.ts'
import type { AgentEvent } from '../agent/events.ts'
import type { RenderedPrompt } from '../prompt/render/rendered-prompt.ts'
import type { Visibility } from '../session/visibility.ts'
import { toolTokens } from '../tools/definition.ts'
import { isOpening, watchOpenings } from './openings.ts'
import type {
  RecordedAhead,
  RecordedFold,
  RecordedOpening,
  RecordedReadBack,
  RecordedRender,
  RecordedRequest,
  RecordedRestart,
  RecordedRun,
  RecordedToolCall,
} from './recording.ts'
import type { RunEnd } from './runs.ts'
import {
  promptCosts,
  renderAsked,
  toolCosts,
  type CostOptions,
  type SectionCost,
  type ToolCost,
} from './section-costs.ts'

/** The record of a run in progress. */
export interface RunDraft {
  onEvent(event: AgentEvent): void
  /** Returns the record so far, with the status `'unfinished'`. */
  preview(): RecordedRun
  finish(end: RunEnd): RecordedRun
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type EventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>

interface DraftState {
  readonly counter: TokenCounter
  readonly renders: RenderLog
  readonly requests: Mutable<RecordedRequest>[]
  readonly openings: Mutable<RecordedOpening>[]
  readonly ahead: Mutable<RecordedAhead>[]
  readonly restarts: RecordedRestart[]
  readonly toolCalls: Mutable<RecordedToolCall>[]
  readonly folds: RecordedFold[]
  readonly readBacks: RecordedReadBack[]
  /** The outcomes of approvals, by call. */
  readonly answers: Map<string, NonNullable<RecordedToolCall['approval']>>
  /** The text before the conversation, which may be older than the last render. */
  systemTokens: number
  conversationTokens: number
  /** Whether the recorder was not told the user input. */
  readonly isInputUnknown: boolean
  /** The sum of the replies. */
  usage: Usage
  /** The whole run's usage, once the run has reported it. */
  reportedUsage: Usage | undefined
}

export function draftRun(options: RecorderOptions): RunDraft {
  const { prompt: bound, input, counter = estimatedTokens, rates } = options
  const { ns, key } = bound.prompt
  const state: DraftState = {
    counter,
    renders: logRenders({ ...options, counter }),
    requests: [],
    openings: [],
    ahead: [],
    restarts: [],
    toolCalls: [],
    folds: [],
    readBacks: [],
    answers: new Map(),
    conversationTokens: input === undefined ? 0 : counter.count(describeUserMessage(toUserMessage(input))),
    systemTokens: 0,
    isInputUnknown: input === undefined,
    usage: NO_USAGE,
    reportedUsage: undefined,
  }
  const watch = watchOpenings(({ callId }, by) => {
    const opening = state.openings.findLast((asked) => asked.callId === callId)
    if (opening) opening.answeredBy = by
  })
  // A copy, because the state is still written to.
  const toRun = ({ status, errorType }: RunEnd): RecordedRun =>
    structuredClone({
      prompt: { ns, key },
      counter: { name: counter.name, exact: counter.exact },
      status,
      errorType: errorType ?? null,
      usage: state.reportedUsage ?? state.usage,
      ...(rates && { usd: priceUsage(state.reportedUsage ?? state.usage, rates) }),
      ...state.renders.getCosts(),
      renders: state.renders.entries,
      requests: state.requests,
      openings: state.openings,
      ...(state.ahead.length === 0 ? {} : { ahead: state.ahead }),
      restarts: state.restarts,
      toolCalls: state.toolCalls,
      ...(state.folds.length === 0 ? {} : { folds: state.folds }),
      ...(state.readBacks.length === 0 ? {} : { readBacks: state.readBacks }),
    })
  return {
    onEvent(event) {
      applyEvent(state, event)
      watch.onEvent(event)
    },
    preview: () => toRun({ status: 'unfinished', errorType: undefined }),
    finish(end) {
      watch.settle()
      return toRun(end)
    },
  }
}

function applyEvent(state: DraftState, event: AgentEvent): void {
  const request = state.requests.at(-1)
  switch (event.type) {
    case 'run/started':
      if (state.isInputUnknown) state.conversationTokens = state.counter.count(event.input ?? '')
      break
    case 'prompt/rendered':
      state.renders.add(event.full, event.summarized)
      state.systemTokens = state.counter.count(event.text)
      break
    case 'request/sent':
      addRequest(state, event)
      break
    case 'request/retried':
      if (request) request.retries += 1
      break
    case 'reply/lost':
      state.usage = addUsage(state.usage, event.usage)
      break
    case 'reply/received':
      state.usage = addUsage(state.usage, event.usage)
      state.conversationTokens += state.counter.count(event.message.text)
      if (request) {
        request.usage = event.usage
        request.outputTokens = event.usage.outputTokens
      }
      break
    case 'sections/opened':
      addAhead(state, event)
      break
    case 'tool/called':
      for (const ahead of state.ahead) if (ahead.tools.includes(event.call.name)) ahead.isUsed = true
      addCall(state, event)
      break
    case 'tool/invoked':
      addResult(state, event)
      break
    case 'approval/asked':
      for (const call of state.toolCalls) if (call.callId === event.callId) call.approval = 'waiting'
      break
    case 'approval/answered':
      state.answers.set(event.callId, event.approved ? 'approved' : 'denied')
      break
    case 'run/expanded':
      state.restarts.push({ keys: event.keys, request: state.requests.length - 1 })
      break
    case 'output/refused':
      state.conversationTokens += state.counter.count(event.message)
      break
    case 'results/folded':
      addFold(state, event)
      break
    case 'result/read':
      addReadBack(state, event)
      break
    case 'run/finished':
      state.reportedUsage = event.usage
  }
}

function addFold(state: DraftState, event: EventOf<'results/folded'>): void {
  const { type: _type, ...fold } = event
  state.folds.push({ ...fold, request: state.requests.length - 1 })
  state.conversationTokens = Math.max(0, state.conversationTokens - fold.freed)
}

function addReadBack(state: DraftState, { callId, tool, age, tokens }: EventOf<'result/read'>): void {
  state.readBacks.push({ callId, tool, age, tokens, request: state.requests.length - 1 })
}

function addRequest(state: DraftState, { messages, tools, context }: EventOf<'request/sent'>): void {
  const { renders, requests, systemTokens } = state
  // A run that goes on with a conversation begins with all of it.
  if (requests.length === 0 && messages > 1 && context)
    state.conversationTokens = context.sections + context.results + context.conversation
  const { conversationTokens } = state
  const before = requests.at(-1)?.conversationTokens ?? 0
  requests.push({
    render: renders.entries.length - 1,
    messages,
    tools,
    systemTokens,
    toolTokens: tools.reduce((sum, name) => sum + renders.getToolTokens(name), 0),
    conversationTokens,
    addedTokens: Math.max(0, conversationTokens - before),
    outputTokens: 0,
    usage: null,
    retries: 0,
  })
}

function addAhead(state: DraftState, event: EventOf<'sections/opened'>): void {
  const { rule, keys, tools, place, tokens } = event
  const isUsed = tools.length === 0 ? null : false
  state.ahead.push({ rule, keys, tools, place, request: state.requests.length, tokens, isUsed })
  if (place === 'message') state.conversationTokens += tokens
}

function addCall(state: DraftState, { call, target }: EventOf<'tool/called'>): void {
  const { id, name, arguments: args, malformed } = call
  const approval = state.answers.get(id)
  const argumentsTokens = state.counter.count(malformed ?? JSON.stringify(args) ?? '')
  state.conversationTokens += state.counter.count(name) + argumentsTokens
  state.toolCalls.push({
    callId: id,
    name,
    ...(target ? { target: target.name } : {}),
    ...(approval && { approval }),
    ok: null,
    isDisclosure: false,
    request: state.requests.length - 1,
    argumentsTokens,
    resultTokens: 0,
  })
}

function addResult(state: DraftState, event: EventOf<'tool/invoked'>): void {
  const { counter, openings } = state
  const call = state.toolCalls.findLast(({ callId }) => callId === event.callId)
  if (!call) return
  call.ok = event.ok
  call.isDisclosure = event.disclosure !== undefined
  call.resultTokens = counter.count(event.message)
  state.conversationTokens += call.resultTokens
  if (!isOpening(event)) return
  const { callId, disclosure } = event
  const tokens = counter.count(call.name) + call.argumentsTokens + call.resultTokens
  openings.push({ callId, keys: disclosure.keys, request: call.request, answeredBy: 'none', tokens })
}

interface RenderLog {
  readonly entries: readonly RecordedRender[]
  add(full: readonly string[], summarized: readonly string[]): void
  /** Returns the cost of each section when the run began, and of the tools that open sections. */
  getCosts(): { readonly sections: readonly SectionCost[]; readonly disclosureTools: readonly ToolCost[] }
  getToolTokens(name: string): number
}

/** Renders the prompt each time the run does, to measure the cost of its sections and tools. */
function logRenders(options: CostOptions): RenderLog {
  const { counter } = options
  const entries: RecordedRender[] = []
  const tokensByTool = new Map<string, number>()
  let costs: ReturnType<RenderLog['getCosts']> = { sections: [], disclosureTools: [] }
  let latest: RenderedPrompt | undefined
  const learn = (tools: readonly ToolCost[]): void => {
    for (const { name, tokens } of tools) tokensByTool.set(name, tokens)
  }
  return {
    entries,
    getCosts: () => costs,
    add(full, summarized) {
      if (entries.length === 0) {
        costs = promptCosts(options)
        learn([...costs.sections.flatMap(({ tools }) => tools), ...costs.disclosureTools])
      }
      latest = renderAsked(options, { ...toVisibilities(full, 'full'), ...toVisibilities(summarized, 'summary') })
      const tools = toolCosts(latest.tools, counter)
      learn(tools)
      entries.push({
        tokens: latest.tokens,
        tokensIfAllOpen: latest.tokensIfAllOpen,
        sections: latest.nodes.map(({ path, visibility, tokens }) => ({ path, visibility, tokens })),
        tools,
      })
    },
    getToolTokens(name) {
      const known = tokensByTool.get(name)
      if (known !== undefined) return known
      // No section lists the tool: a section offers it on demand, like the section of a catalog.
      const tool = latest?.findToolOnDemand(name)
      const tokens = tool ? toolTokens(tool, counter) : 0
      tokensByTool.set(name, tokens)
      return tokens
    },
  }
}

function toVisibilities(paths: readonly string[], how: Visibility): Record<string, Visibility> {
  return Object.fromEntries(paths.map((path) => [path, how]))
}

/**
 * Options of a recorder. Pass the same prompt and options as to the run.
 *
 * @example
 * ```ts
 * const options: RecorderOptions = { prompt: bound, input: 'Refund order 17.', counter: await gptTokenizer() }
 * ```
 */
export interface RecorderOptions {
  readonly prompt: Pick<BoundPrompt, 'prompt' | 'render'>
  /** Default: what the run says about its input. */
  readonly input?: AgentInput
  readonly session?: SessionReader
  readonly disclosure?: DisclosureStrategy
  readonly overrides?: PromptOverrides
  /** Counts tokens. Default: a quick estimate. */
  readonly counter?: TokenCounter
  /** Your rates: recorded runs then have their price, too. */
  readonly rates?: UsageRates
}
