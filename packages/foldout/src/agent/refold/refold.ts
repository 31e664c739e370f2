import type { Message, ToolCall, ToolMessage, Usage } from '../../adapters/contract.ts'
import { decideFold, isFull, mayFold, planFold, type FoldPlan, type FoldableResult } from '../../results/decide-fold.ts'
import { READ_RESULT } from '../../results/read-result.ts'
import type { ContextCount, ContextParts } from './context-count.ts'
import { readRequestedFold, type BeforeRequest, type RequestedFold } from './hook.ts'
import { createLedger, type Conversation, type Ledger } from './ledger.ts'
import type { RefoldTerms } from './options.ts'
import { getForms, projectResults, type FoldedResult } from './projection.ts'

/** What is folded before the next request. */
export interface DueFold {
  readonly plan: FoldPlan | undefined
  /** The folded results that were sections which are closed by now. */
  readonly spent: ReadonlySet<string>
  /** The sections that close. */
  readonly sections: readonly string[]
  /** Why they close. */
  readonly reason: FoldPlan['reason']
  /** The summary of the older turns, if the caller has written one. */
  readonly summary: string | undefined
  /** Whether the older turns must be summarized before anything else is folded. */
  readonly isSummaryFirst: boolean
  /** The tokens of the request that would be sent otherwise. */
  readonly context: number
}

export interface RefoldParts {
  readonly terms: RefoldTerms
  /** Whether results are folded. */
  readonly isOn: boolean
  /** Whether the texts of closed sections leave when the cache is lost anyway. */
  readonly leavesClosed: boolean
  /** The size of the context window in tokens, if known. */
  readonly window: number | undefined
  readonly adapter: { readonly bindsReasoning?: boolean; readonly removesTools?: boolean }
  readonly beforeRequest: BeforeRequest | undefined
  readonly context: ContextCount
  /** The conversation as the session has it, and what is known about it. */
  getState(): FoldState
  isDisclosure(name: string): boolean
  /** Whether a call of a disclosure tool only asked for sections that are closed by now, or are about to be. */
  createClosedCheck(closing: ReadonlySet<string>): (call: ToolCall) => boolean
  /** Finds the sections that the model no longer uses. */
  findUnused(ledger: Ledger): readonly string[]
  /** Returns the paths of those sections that are open and can close. */
  findClosable(sections: readonly string[]): readonly string[]
}

/** What of a run's state decides about folding. */
export interface FoldState extends Conversation {
  readonly usage: Usage
  /** When the model last replied. */
  readonly repliedAt: number | null
}

/** Decides what a run folds, and keeps its requests within the window. */
export interface Refold {
  readonly terms: RefoldTerms
  /** Whether results are folded. */
  readonly isOn: boolean
  /** The messages that the next request sends, with their sizes. */
  readonly ledger: Ledger
  /** Whether the provider's cache does not have the next request, by the clock or because its beginning changed. */
  readonly isCold: boolean
  /** The tokens of the next request, with what follows the conversation. */
  count(next?: readonly Message[]): number
  /** Returns results as they are sent, after the conversation so far. */
  show(results: readonly ToolMessage[]): readonly ToolMessage[]
  /** Finds the results that are too large to be sent even once. */
  findLarge(results: readonly ToolMessage[]): readonly ToolMessage[]
  /** Decides what is folded before the request that has these messages, too. */
  decide(next: readonly Message[]): Promise<DueFold | undefined>
  /** Whether the request with these messages is too large even so, and can be shortened. */
  isTooFull(next: readonly Message[]): boolean
  /** Says that the provider's cache does not matter for the next request, because what precedes the messages changed. */
  loseCache(): void
  /** Says that a summary has failed. None is tried again in this run. */
  giveUpSummary(): void
  /** Says that a request was sent, so the provider has it in its cache. */
  sent(usage: Usage): void
  /** Says what the tokens of the next request are for. */
  describeContext(): ContextParts
  /** Counts the next request, which has these messages, too, and says why it does not fit the window, if so. */
  findMisfit(next?: readonly Message[]): string | undefined
}

export function createRefold(parts: RefoldParts): Refold {
  const { getState, window, context, adapter, terms } = parts
  const readLedger = createLedger({ ...context, removesTools: adapter.removesTools ?? false })
  const getLedger = (): Ledger => readLedger(getState())
  let isCacheLost = false
  let counted = 0
  const isCold = (): boolean => isCacheLost || isExpired(getState().repliedAt, terms.cache.ttlMs)
  const countRaw = (next: readonly Message[]): number =>
    sumStart(context) + getLedger().tokens + next.reduce((sum, message) => sum + context.countMessage(message), 0)
  const count = (next: readonly Message[] = []): number => context.correct(countRaw(next))
  let canSummarize = terms.summarize !== undefined
  const isTooFull = (next: readonly Message[]): boolean => parts.isOn && canSummarize && isFull(count(next), window)
  const show: Refold['show'] = (results) => projectResults(results, getLedger().results, getState().folded)
  return {
    terms,
    isOn: parts.isOn,
    get ledger() {
      return getLedger()
    },
    get isCold() {
      return isCold()
    },
    count,
    show,
    findLarge(results) {
      if (!parts.isOn) return []
      return results.filter((result) => !isKept(parts, result) && isLarge(result, parts))
    },
    async decide(next) {
      if (!parts.isOn && !isCold()) return undefined
      const asked = parts.isOn ? await ask(parts, { getLedger, next, tokens: count(next) }) : undefined
      const question = { context: count(next), isCold: isCold(), ledger: getLedger(), canSummarize }
      if (asked) return toDue(parts, asked, question)
      return (parts.isOn ? decideOwn(parts, question) : undefined) ?? foldClosed(parts, question)
    },
    isTooFull,
    giveUpSummary() {
      canSummarize = false
    },
    loseCache() {
      isCacheLost = true
    },
    sent(usage) {
      isCacheLost = false
      context.learn(usage, counted)
    },
    describeContext() {
      const { system, tools } = context.countStart()
      let sections = 0
      let results = 0
      for (const [name, tokens] of getLedger().tokensByTool) {
        if (parts.isDisclosure(name)) sections += tokens
        else results += tokens
      }
      const { correct } = context
      return {
        system: correct(system),
        tools: correct(tools),
        sections: correct(sections),
        results: correct(results),
        conversation: correct(getLedger().tokens - sections - results),
      }
    },
    findMisfit(next = []) {
      counted = countRaw(next)
      const needed = context.correct(counted)
      if (window === undefined || Number.isNaN(window) || needed <= window) return undefined
      return `The next request would have about ${needed} tokens, and the model's window is ${window}. Start a new conversation, lower refold.at or refold.keepTurns, pass refold.summarize, or let tools answer with less.`
    },
  }
}

/** By the clock of the conversation. One reply without cached tokens proves nothing. */
function isExpired(repliedAt: number | null, ttlMs: number): boolean {
  return repliedAt !== null && Date.now() - repliedAt >= ttlMs
}

function isLarge(result: ToolMessage, { context, terms }: RefoldParts): boolean {
  return context.correct(context.countMessage(result)) > terms.largeTokens
}

/** Whether a result stays whole as it arrives. */
function isKept(
  { terms, isDisclosure, getState }: RefoldParts,
  { name, isError, images, callId }: ToolMessage,
): boolean {
  if (isError || images !== undefined || terms.keep.has(name) || isDisclosure(name) || name === READ_RESULT) return true
  return getForms(getState().folded).get(callId) === 'kept'
}

interface Asked {
  readonly next: readonly Message[]
  readonly tokens: number
  getLedger(): Ledger
}

async function ask(
  { beforeRequest, getState, window }: RefoldParts,
  { getLedger, next, tokens }: Asked,
): Promise<RequestedFold | undefined> {
  if (!beforeRequest) return undefined
  const messages = [...getLedger().sent, ...next]
  return readRequestedFold(await beforeRequest({ messages, tokens, usage: getState().usage, window }))
}

interface Question {
  readonly context: number
  readonly isCold: boolean
  readonly ledger: Ledger
  readonly canSummarize: boolean
}

function decideOwn(parts: RefoldParts, question: Question): DueFold | undefined {
  const { terms, window, adapter } = parts
  const { context, isCold, ledger, canSummarize } = question
  const { at, cache } = terms
  if (!mayFold({ context, window, at, isCold })) return undefined
  const sections = parts.findUnused(ledger)
  const results = listFor(parts, ledger, new Set(sections))
  const plan = decideFold({
    context,
    window,
    at,
    isCold,
    frees: terms.frees,
    horizon: terms.horizon,
    keepTurns: terms.keepTurns,
    leastTurns: terms.leastTurns,
    minTokens: terms.minTokens,
    turns: ledger.replies,
    bindsReasoning: adapter.bindsReasoning ?? false,
    cacheRead: cache.read,
    cacheWrite: cache.write,
    results,
  })
  const isSummaryFirst =
    canSummarize &&
    !isCold &&
    adapter.bindsReasoning === true &&
    terms.summarize === 'provider' &&
    isFull(context, window)
  const isStillFull = canSummarize && isFull(context - (plan?.freed ?? 0), window)
  if (!plan && !isStillFull && sections.length === 0) return undefined
  const reason = plan?.reason ?? getReason(question, window)
  return { plan, spent: getSpent(results), sections, reason, summary: undefined, isSummaryFirst, context }
}

/** Folds the texts of sections that were closed since: nobody wants them, and without a cache their going costs nothing. */
function foldClosed(parts: RefoldParts, question: Question): DueFold | undefined {
  if (!question.isCold || !parts.leavesClosed) return undefined
  const results = listFor(parts, question.ledger, NONE).filter(
    ({ isSpent, tokens, stubTokens }) => isSpent === true && tokens > stubTokens,
  )
  if (results.length === 0) return undefined
  return foldThese(parts, question, { results, reason: 'cold', sections: [], summary: undefined })
}

interface Chosen extends Pick<DueFold, 'reason' | 'sections' | 'summary'> {
  readonly results: readonly FoldableResult[]
}

/** Folds results whatever the price. */
function foldThese(
  { terms: { cache } }: RefoldParts,
  { context, isCold }: Question,
  { results, reason, sections, summary }: Chosen,
): DueFold {
  const prices = { context, isCold, cacheRead: cache.read, cacheWrite: cache.write }
  const plan = results.length === 0 ? undefined : { ...planFold(prices, results), reason }
  return { plan, spent: getSpent(results), sections, reason, summary, isSummaryFirst: false, context }
}

/** Why something closes although no results fold. */
function getReason({ isCold, context }: Question, window: number | undefined): FoldPlan['reason'] {
  if (isCold) return 'cold'
  if (isFull(context, window)) return 'window'
  return 'size'
}

/** Folds what the caller asks for, as far as that is possible: pairs stay whole, and failures and pictures stay. */
function toDue(parts: RefoldParts, asked: RequestedFold, question: Question): DueFold {
  const { keepTurns } = parts.terms
  const wanted = new Set(asked.results)
  const sections = parts.findClosable(asked.sections ?? [])
  const results = listFor(parts, question.ledger, new Set(sections), wanted).filter(
    ({ callId, tokens, stubTokens, isSpent, isReadBack, age }) =>
      (isSpent === true || (wanted.has(callId) && !(isReadBack && age < keepTurns))) && tokens > stubTokens,
  )
  return foldThese(parts, question, { results, reason: 'asked', sections, summary: asked.summary })
}

function getSpent(results: ReturnType<typeof listFoldable>): ReadonlySet<string> {
  return new Set(results.flatMap(({ callId, isSpent }) => (isSpent ? [callId] : [])))
}

const NONE: ReadonlySet<string> = new Set()

function listFor(
  parts: RefoldParts,
  ledger: Ledger,
  closing: ReadonlySet<string>,
  wanted: ReadonlySet<string> = NONE,
): ReturnType<typeof listFoldable> {
  const forms = getForms(parts.getState().folded)
  // Made once, because it looks at the prompt as it is now.
  const isClosed = parts.createClosedCheck(closing)
  return listFoldable(ledger, {
    context: parts.context,
    isKept({ name, isError, images, callId }) {
      if (isError || images !== undefined || parts.isDisclosure(name)) return true
      return !wanted.has(callId) && (parts.terms.keep.has(name) || forms.get(callId) === 'kept')
    },
    isSpent: ({ name, isError }, call) => !isError && call !== undefined && parts.isDisclosure(name) && isClosed(call),
  })
}

/** Creates the records of a plan. */
export function toRecords({ plan, spent }: Pick<DueFold, 'plan' | 'spent'>): readonly FoldedResult[] {
  return (plan?.callIds ?? []).map((callId): FoldedResult => ({ callId, form: spent.has(callId) ? 'closed' : 'old' }))
}

interface FoldableParts {
  readonly context: ContextCount
  /** Whether a result stays, whatever a fold would save. */
  isKept(message: ToolMessage): boolean
  /** Whether a result only shows sections that are closed by now. */
  isSpent(message: ToolMessage, call: ToolCall | undefined): boolean
}

function sumStart(context: ContextCount): number {
  const { system, tools } = context.countStart()
  return system + tools
}

/** Lists the results that a fold may shorten, with everything that the decision needs. */
function listFoldable(ledger: Ledger, { context, isKept, isSpent }: FoldableParts): readonly FoldableResult[] {
  const start = sumStart(context)
  const found: FoldableResult[] = []
  for (const { entry, message, call, getStub } of ledger.long) {
    const isClosed = isSpent(message, call)
    if (!isClosed && isKept(message)) continue
    const { tokens, before, replies } = entry
    found.push({
      callId: message.callId,
      tokens: context.correct(tokens),
      stubTokens: context.correct(context.countMessage(getStub(isClosed))),
      age: ledger.replies - replies,
      before: context.correct(start + before),
      ...(message.name === READ_RESULT && { isReadBack: true }),
      ...(isClosed && { isSpent: true }),
    })
  }
  return found
}
