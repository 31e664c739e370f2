import { estimatedTokens } from 'foldout'
import { addUsage, NO_USAGE as NOTHING_BILLED, type Usage } from 'foldout/adapter'
import { priceUsage, type UsageRates } from 'foldout/telemetry'
import type { ChartPoint, RunOpening, RunStatus, RunSummary, TokenUsage } from '../protocol/protocol.ts'
import { Conversation, type ModelMessage } from './conversation.ts'
import type { EventOf, RunEvent } from './lines.ts'
import { explainMiss, getContext, scaleParts, type ModelRequest, type ModelStep } from './requests.ts'

const NO_USAGE: TokenUsage = { input: 0, output: 0, cached: 0 }

/**
 * One run, put together from its events as they come. Its status is `running` until `run/finished` or `run/failed` says how
 * it ended.
 */
export class RunModel {
  readonly id: string
  readonly startedAt: number
  readonly steps: ModelStep[] = []
  readonly requests: ModelRequest[] = []
  readonly tools = new Set<string>()
  status: RunStatus = 'running'
  readonly #conversation = new Conversation()
  readonly #openings = new Openings()
  readonly #rates: UsageRates | undefined
  #billed: Usage = NOTHING_BILLED
  /** What the last start and the last render say. */
  #latest: { readonly start?: EventOf<'run/started'>; readonly render?: EventOf<'prompt/rendered'> } = {}
  #endedAt: number

  constructor(id: string, at: number, rates?: UsageRates) {
    this.id = id
    this.#rates = rates
    this.startedAt = at
    this.#endedAt = at
  }

  get size(): number {
    return this.steps.length
  }

  get messages(): readonly ModelMessage[] {
    return this.#conversation.messages
  }

  get openings(): readonly RunOpening[] {
    return this.#openings.list
  }

  get output(): string {
    return this.#conversation.output
  }

  /** Whether the recording has texts. */
  get hasTexts(): boolean {
    return this.#conversation.hasTexts
  }

  /** How many messages the run began with that are not in the recording, such as earlier turns of a chat. */
  get earlier(): number {
    return this.#conversation.earlier
  }

  get window(): number | undefined {
    return this.#latest.start?.model?.contextWindow
  }

  get summary(): RunSummary {
    const { start, render } = this.#latest
    return {
      kind: 'run',
      id: this.id,
      prompt: render?.prompt ?? '',
      model: start?.model ? `${start.model.provider}/${start.model.name}` : '',
      status: this.status,
      startedAt: this.startedAt,
      durationMs: this.#endedAt - this.startedAt,
      input: start?.input ?? start?.continuedInput ?? '',
      requests: this.requests.length,
      openings: this.openings.length,
      restarts: this.#openings.restarts,
      usage: toTokens(this.#billed),
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
    this.#addStep(at, event, event.type === 'request/sent' ? 1 : 0)
    const request = this.requests.length
    switch (event.type) {
      case 'run/started':
        this.#latest = { ...this.#latest, start: event }
        return this.#conversation.start(event.input)
      case 'prompt/rendered':
        return this.#render(event)
      case 'request/sent':
        return this.#send(event)
      case 'reply/received':
        return this.#receive(at, event)
      case 'reply/lost':
        this.#billed = addUsage(this.#billed, event.usage)
        return undefined
      case 'tool/invoked': {
        const { callId, name, ok, message } = event
        this.#conversation.say(request, { role: 'tool', callId, name, text: message, isBad: !ok })
        return this.#openings.addAsked(request, event)
      }
      case 'tools/injected':
        for (const name of event.names) this.tools.add(name)
        return this.#conversation.say(request, { role: 'tools', names: event.names })
      case 'sections/opened':
        return this.#openings.addAhead(request, event)
      case 'tool/called':
        return this.#openings.use(event.call.name)
      case 'results/folded':
        return this.#conversation.shrink(event.freed)
      case 'run/expanded':
        this.#openings.restarts++
        return undefined
      case 'output/refused':
        return this.#conversation.say(request, { role: 'user', text: event.message })
      case 'run/finished':
        this.#conversation.sayInput(request)
        this.status = event.status
        return undefined
      case 'run/failed':
        this.#conversation.sayInput(request)
        this.status = event.errorType === 'unfinished' ? 'unfinished' : 'failed'
    }
  }

  #addStep(at: number, event: ModelStep['event'], ahead = 0): void {
    this.steps.push({ at: at - this.startedAt, request: this.requests.length + ahead, event })
  }

  #render(event: EventOf<'prompt/rendered'>): void {
    this.#latest = { ...this.#latest, render: event }
    this.#openings.tokens = 0
    for (const name of [...event.tools, ...Object.keys(event.toolsInFolds)]) this.tools.add(name)
    this.#conversation.saySystem(this.requests.length, event.text)
  }

  #send({ tools, messages, context }: EventOf<'request/sent'>): void {
    this.#conversation.sayInput(this.requests.length)
    if (this.requests.length === 0) this.#conversation.countEarlier(messages)
    for (const name of tools) this.tools.add(name)
    this.requests.push({
      tools,
      messages: this.messages.length,
      render: this.#latest.render,
      opened: this.#openings.tokens,
      conversation: this.#conversation.tokens,
      parts: context,
      usage: undefined,
    })
  }

  #receive(at: number, { message, usage }: EventOf<'reply/received'>): void {
    const before = this.requests.at(-2)?.usage
    const request = this.requests.at(-1)
    const used = toTokens(usage)
    this.#billed = addUsage(this.#billed, usage)
    if (request) request.usage = used
    // After a cache hit, the next request is expected to hit at least as much.
    if (before && before.cached > 0 && used.cached < before.cached) {
      const cause = explainMiss(this.steps, this.requests)
      this.#addStep(at, { type: 'cache/missed', lost: before.cached - used.cached, cause })
    }
    this.#conversation.sayReply(this.requests.length, message)
  }
}

const toTokens = ({ inputTokens, outputTokens, cachedInputTokens }: Usage): TokenUsage => ({
  input: inputTokens,
  output: outputTokens,
  cached: cachedInputTokens,
})

/** What a run opened: because the model asked, or ahead of a request. */
class Openings {
  readonly list: RunOpening[] = []
  /** What openings have brought into the conversation since the last render, in tokens. */
  tokens = 0
  /** How often an opening restarted the run. */
  restarts = 0
  /** Openings ahead, with the tools that show that they were needed. */
  readonly #ahead: { readonly at: number; readonly tools: ReadonlySet<string> }[] = []

  addAhead(request: number, { keys, rule, place, tools, tokens }: EventOf<'sections/opened'>): void {
    if (keys.length === 0) return
    // Without tools, nothing says whether a section was needed.
    const isUsed = tools.length === 0 ? undefined : false
    this.list.push({ request, keys, reason: rule, answer: 'ahead', isUsed })
    this.#ahead.push({ at: this.list.length - 1, tools: new Set(tools) })
    if (place === 'message') this.tokens += tokens
  }

  addAsked(request: number, { message, disclosure }: EventOf<'tool/invoked'>): void {
    if (!disclosure) return
    const { keys, reason, answer } = disclosure
    this.list.push({ request, keys, reason, answer })
    if (answer === 'in-place') this.tokens += estimatedTokens.count(message)
  }

  /** A tool was called, so the sections that were opened ahead for it were needed. */
  use(tool: string): void {
    for (const { at, tools } of this.#ahead) {
      const opening = this.list[at]
      if (opening && tools.has(tool)) this.list[at] = { ...opening, isUsed: true }
    }
  }
}
