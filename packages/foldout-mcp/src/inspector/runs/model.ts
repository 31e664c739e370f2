import { estimatedTokens } from 'foldout'
import { addUsage, NO_USAGE as NOTHING_BILLED, type Usage } from 'foldout/adapter'
import { priceUsage, type UsageRates } from 'foldout/telemetry'
import type {
  ChartPoint,
  ContextParts,
  RunMessage,
  RunOpening,
  RunStatus,
  RunSummary,
  TokenUsage,
} from '../protocol/protocol.ts'
import type { RunEvent } from './lines.ts'

type EventType = RunEvent['type']
export type EventOf<Type extends EventType> = Extract<RunEvent, { type: Type }>

/** A message with the call that it answers, as a continued run needs it. */
export interface ModelMessage extends Omit<RunMessage, 'index' | 'calls'> {
  readonly callId: string
  readonly toolCalls: EventOf<'reply/received'>['message']['toolCalls']
  readonly names: readonly string[]
}

export interface ModelStep {
  readonly at: number
  readonly request: number
  readonly event: RunEvent | { readonly type: 'cache/missed'; readonly lost: number; readonly cause: string }
}

interface ModelRequest {
  readonly tools: readonly string[]
  /** How many messages the conversation had when it was sent. */
  readonly messages: number
  readonly render: EventOf<'prompt/rendered'> | undefined
  /** What openings have brought into the conversation so far, in tokens. */
  readonly opened: number
  readonly conversation: number
  /** What its tokens are for, as the run has counted them. */
  readonly parts: ContextParts | undefined
  usage: TokenUsage | undefined
}

const NO_USAGE: TokenUsage = { input: 0, output: 0, cached: 0 }

/** One run, put together from its events as they come. */
export class RunModel {
  readonly id: string
  readonly startedAt: number
  readonly steps: ModelStep[] = []
  readonly messages: ModelMessage[] = []
  readonly requests: ModelRequest[] = []
  readonly openings: RunOpening[] = []
  /** Openings ahead, with the tools that show that they were needed. */
  readonly #ahead: { readonly at: number; readonly tools: ReadonlySet<string> }[] = []
  readonly tools = new Set<string>()
  status: RunStatus = 'running'
  window: number | undefined
  hasTexts = false
  /** How many messages the run began with that are not in the recording, such as earlier turns of a chat. */
  earlier = 0
  #endedAt: number
  #prompt = ''
  #model = ''
  #input = ''
  /** The input until the first request is sent. */
  #unsaid: string | undefined
  #restarts = 0
  #usage: TokenUsage = NO_USAGE
  #billed: Usage = NOTHING_BILLED
  readonly #rates: UsageRates | undefined
  #render: EventOf<'prompt/rendered'> | undefined
  #opened = 0
  #conversation = 0
  #output = ''

  constructor(id: string, at: number, rates?: UsageRates) {
    this.id = id
    this.#rates = rates
    this.startedAt = at
    this.#endedAt = at
  }

  get size(): number {
    return this.steps.length
  }

  get output(): string {
    return this.#output
  }

  get summary(): RunSummary {
    return {
      kind: 'run',
      id: this.id,
      prompt: this.#prompt,
      model: this.#model,
      status: this.status,
      startedAt: this.startedAt,
      durationMs: this.#endedAt - this.startedAt,
      input: this.#input,
      requests: this.requests.length,
      openings: this.openings.length,
      restarts: this.#restarts,
      usage: this.#usage,
      usd: this.#rates && priceUsage(this.#billed, this.#rates),
      reportedUsd: this.#billed.costUsd,
      peak: this.requests.reduce((most, request) => Math.max(most, getContext(request)), 0),
    }
  }

  get chart(): readonly ChartPoint[] {
    return this.requests.map((request, i) => {
      const { render, opened, usage = NO_USAGE } = request
      const context = getContext(request)
      const folded = render ? render.tokensIfAllOpen.total - render.tokens.total : 0
      const everything = Math.max(0, context + folded - opened)
      const parts = request.parts && scaleParts(request.parts, context)
      return { request: i + 1, context, everything, cached: usage.cached, output: usage.output, parts }
    })
  }

  add(at: number, event: RunEvent): void {
    this.#endedAt = Math.max(this.#endedAt, at)
    this.#step(at, event, event.type === 'request/sent' ? 1 : 0)
    switch (event.type) {
      case 'run/started':
        return this.#start(event)
      case 'prompt/rendered':
        return this.#renderPrompt(event)
      case 'request/sent':
        return this.#send(event)
      case 'reply/received':
        return this.#receive(at, event)
      case 'reply/lost':
        this.#count(event.usage)
        return undefined
      case 'tool/invoked':
        return this.#invoke(event)
      case 'tools/injected':
        for (const name of event.names) this.tools.add(name)
        return this.#say({ role: 'tools', names: event.names })
      case 'sections/opened':
        return this.#openAhead(event)
      case 'tool/called':
        return this.#use(event.call.name)
      case 'results/folded':
        this.#conversation = Math.max(0, this.#conversation - event.freed)
        return undefined
      case 'run/expanded':
        this.#restarts++
        return undefined
      case 'output/refused':
        return this.#say({ role: 'user', text: event.message })
      case 'run/finished':
        this.#sayInput()
        this.status = event.status
        return undefined
      case 'run/failed':
        this.#sayInput()
        this.status = event.errorType === 'unfinished' ? 'unfinished' : 'failed'
    }
  }

  #step(at: number, event: ModelStep['event'], ahead = 0): void {
    this.steps.push({ at: at - this.startedAt, request: this.requests.length + ahead, event })
  }

  #say(message: Partial<ModelMessage> & Pick<ModelMessage, 'role'>): void {
    const whole = { name: '', text: '', callId: '', toolCalls: [], names: [], isBad: false, ...message }
    this.messages.push({ ...whole, request: this.requests.length })
    if (whole.role !== 'system') this.#conversation += estimatedTokens.count(whole.text)
  }

  #start({ input, continuedInput = '', model }: EventOf<'run/started'>): void {
    this.window = model?.contextWindow
    if (model) this.#model = `${model.provider}/${model.name}`
    else this.#model = ''
    this.#input = input ?? continuedInput
    this.#unsaid = input
    if (input !== undefined) this.hasTexts = true
  }

  /** The input follows the system text and the results of earlier calls, as in the request that has it. */
  #sayInput(): void {
    const text = this.#unsaid
    this.#unsaid = undefined
    if (text !== undefined) this.#say({ role: 'user', text })
  }

  #renderPrompt(event: EventOf<'prompt/rendered'>): void {
    this.#render = event
    this.#prompt = event.prompt
    this.#opened = 0
    for (const name of [...event.tools, ...Object.keys(event.toolsInFolds)]) this.tools.add(name)
    if (event.text === undefined) return
    this.hasTexts = true
    this.#say({ role: 'system', text: event.text })
  }

  #send({ tools, messages, context }: EventOf<'request/sent'>): void {
    this.#sayInput()
    if (this.requests.length === 0) this.earlier = Math.max(0, messages - this.messages.filter(isSaid).length)
    for (const name of tools) this.tools.add(name)
    this.requests.push({
      tools,
      messages: this.messages.length,
      render: this.#render,
      opened: this.#opened,
      conversation: this.#conversation,
      parts: context,
      usage: undefined,
    })
  }

  #receive(at: number, { message, usage }: EventOf<'reply/received'>): void {
    const before = this.requests.at(-2)?.usage
    const request = this.requests.at(-1)
    const used = this.#count(usage)
    if (request) request.usage = used
    // After a cache hit, the next request is expected to hit at least as much.
    if (before && before.cached > 0 && used.cached < before.cached)
      this.#step(at, {
        type: 'cache/missed',
        lost: before.cached - used.cached,
        cause: explainMiss(this.steps, this.requests),
      })
    this.#say({ role: 'assistant', text: message.text, toolCalls: message.toolCalls })
    if (message.toolCalls.length === 0) this.#output = message.text
  }

  #count(usage: EventOf<'reply/received'>['usage']): TokenUsage {
    this.#billed = addUsage(this.#billed, usage)
    this.#usage = toTokens(this.#billed)
    return toTokens(usage)
  }

  #openAhead({ keys, rule, place, tools, tokens }: EventOf<'sections/opened'>): void {
    if (keys.length === 0) return
    // Without tools, nothing says whether a section was needed.
    const isUsed = tools.length === 0 ? undefined : false
    this.openings.push({ request: this.requests.length, keys, reason: rule, answer: 'ahead', isUsed })
    this.#ahead.push({ at: this.openings.length - 1, tools: new Set(tools) })
    if (place === 'message') this.#opened += tokens
  }

  #use(tool: string): void {
    for (const { at, tools } of this.#ahead) {
      const opening = this.openings[at]
      if (opening && tools.has(tool)) this.openings[at] = { ...opening, isUsed: true }
    }
  }

  #invoke({ callId, name, ok, message, disclosure }: EventOf<'tool/invoked'>): void {
    this.#say({ role: 'tool', callId, name, text: message, isBad: !ok })
    if (!disclosure) return
    const { keys, reason, answer } = disclosure
    this.openings.push({ request: this.requests.length, keys, reason, answer })
    if (answer === 'in-place') this.#opened += estimatedTokens.count(message)
  }
}

const toTokens = ({ inputTokens, outputTokens, cachedInputTokens }: Usage): TokenUsage => ({
  input: inputTokens,
  output: outputTokens,
  cached: cachedInputTokens,
})

/** Whether a message is part of the conversation that an adapter sends. */
function isSaid({ role }: ModelMessage): boolean {
  return role !== 'system' && role !== 'tools'
}

/** What a request had to read: as billed, or estimated if nothing was. */
function getContext({ usage, render, conversation }: ModelRequest): number {
  const input = usage?.input ?? 0
  if (input > 0) return input
  return (render?.tokens.total ?? 0) + conversation
}

/** The parts of a request add up to what was billed for it. */
function scaleParts(parts: ContextParts, context: number): ContextParts {
  const { system, tools, sections, results, conversation } = parts
  const scale = context / Math.max(1, system + tools + sections + results + conversation)
  const counts = [system, tools, sections, results].map((count) => Math.round(scale * count))
  const [ofSystem = 0, ofTools = 0, ofSections = 0, ofResults = 0] = counts
  const rest = Math.max(0, context - ofSystem - ofTools - ofSections - ofResults)
  return { system: ofSystem, tools: ofTools, sections: ofSections, results: ofResults, conversation: rest }
}

/** Providers keep a prefix at least as long. */
const KEPT_MS = 300_000

/** Explains why the last request did not find in the cache what the request before it had found there. */
function explainMiss(steps: readonly ModelStep[], requests: readonly ModelRequest[]): string {
  const [before, last] = requests.slice(-2)
  const from = steps.findLastIndex(({ event, request }) => event.type === 'reply/received' && request < requests.length)
  const between = steps.slice(from + 1)
  const has = (type: ModelStep['event']['type']): boolean => between.some(({ event }) => event.type === type)
  if (!before || !last) return 'Nothing before this request is known.'
  if (has('run/expanded')) return 'An opening restarted the run, so the prompt was rendered again.'
  if (has('results/folded')) return 'Results were folded, so the messages after them changed.'
  if (!hasSameText(before, last)) return 'The system text changed.'
  const removed = before.tools.filter((name, at) => last.tools[at] !== name)
  if (removed.length > 0) return `The list of tools changed: ${removed.join(', ')}.`
  const waited = getTime(steps, 'request/sent') - (steps[from]?.at ?? 0)
  if (waited > KEPT_MS) return `${Math.round(waited / 60_000)} minutes had passed, and the cache may have expired.`
  const added = last.tools.slice(before.tools.length)
  if (added.length > 0) return `Tools were added to the list, which providers read first: ${added.join(', ')}.`
  return 'Nothing that the request begins with changed, so the provider has dropped it.'
}

function getTime(steps: readonly ModelStep[], type: ModelStep['event']['type']): number {
  return steps.findLast(({ event }) => event.type === type)?.at ?? 0
}

/** A recording may leave texts out. */
function hasSameText({ render: before }: ModelRequest, { render: now }: ModelRequest): boolean {
  return before?.text === now?.text && before?.tokens.text === now?.tokens.text
}
