/**
 * A result of a conversation that may be folded.
 *
 * @example
 * ```ts
 * const result: FoldableResult = { callId: 'c1', tokens: 5_000, stubTokens: 30, age: 12, before: 20_000 }
 * ```
 */
export interface FoldableResult {
  readonly callId: string
  /** Its tokens as sent now. */
  readonly tokens: number
  /** Its tokens once folded. */
  readonly stubTokens: number
  /** How many replies the model has given since. */
  readonly age: number
  /** The tokens of everything that is sent before it. */
  readonly before: number
  /** Whether the model has asked for it again. It then stays as long as any result may. */
  readonly isReadBack?: boolean
  /** Whether it is of no more use, such as the text of a section that is closed. It is then folded however young it is. */
  readonly isSpent?: boolean
}

/**
 * What is known when a fold is decided. Prices are multiples of the price of input.
 *
 * @example
 * ```ts
 * const getLeft = ({ window = Infinity, context }: FoldQuestion): number => window - context
 * ```
 */
export interface FoldQuestion {
  /** The tokens of the next request, with system text and tools. */
  readonly context: number
  /** The size of the context window, if known. */
  readonly window?: number | undefined
  /** The tokens from which results are folded back. */
  readonly at: number
  /** Results of this many last turns stay. */
  readonly keepTurns: number
  /** Smaller results stay. */
  readonly minTokens: number
  /** A fold that frees fewer tokens is left out. Default: 20,000, or a third of `at` if that is less, and at least a sixth of it. */
  readonly frees?: number | undefined
  /** The replies of the conversation so far. */
  readonly turns: number
  /** The most requests that the conversation is expected to have left. Default 30. */
  readonly horizon?: number | undefined
  /** Whether the provider's cache has surely expired, or the prefix changes anyway. */
  readonly isCold: boolean
  /** Whether a changed history costs the model its reasoning. It is then changed only when cold or when nothing else fits. */
  readonly bindsReasoning?: boolean
  readonly cacheRead: number
  readonly cacheWrite: number
  /** How long the cache lives. Default: five minutes. */
  readonly cacheTtlMs?: number | undefined
  readonly results: readonly FoldableResult[]
}

/**
 * The results to fold, and why.
 *
 * @example
 * ```ts
 * const format = ({ callIds, reason }: FoldPlan): string => `${callIds.length} results (${reason})`
 * ```
 */
export interface FoldPlan {
  readonly callIds: readonly string[]
  /** `'cold'`: the cache has expired anyway. `'price'`: it pays. `'window'`: nothing else fits. `'asked'`: the caller wants it. */
  readonly reason: 'cold' | 'price' | 'window' | 'asked'
  /** The tokens that every later request is smaller by. */
  readonly freed: number
  /** What the fold costs in the next request, in tokens at the price of input. Negative: it saves. */
  readonly cost: number
  /** What each later request saves while the cache is warm, in tokens at the price of input. */
  readonly gain: number
}

/** The most requests that a conversation is expected to have left. */
const HORIZON = 30

/**
 * The share of requests that come after a cache of five minutes has expired, and how it falls with a longer life. From
 * 466 recorded conversations: 2.5 % after five minutes, 0.3 % after an hour.
 */
const COLD_SHARE = 0.025
const COLD_TTL_MS = 300_000
const COLD_FALL = 0.85

/** Above this share of the window, results are folded even if that does not pay. */
const FULL = 0.85

/** A fold frees at least this many tokens, so that it happens rarely. Small windows have smaller folds. */
const LEAST_FREED = 20_000

/** How much of the least a fold frees must be there for a fold because of the window. */
const LEAST_SHARE = 1 / 4

/**
 * Whether a request has more tokens than a window should hold: the reply and the next results need room, too.
 *
 * @example
 * ```ts
 * isFull(180_000, 200_000) // => true
 * ```
 */
export function isFull(context: number, window: number | undefined): boolean {
  return window !== undefined && context > window * FULL
}

/**
 * Whether a fold may be due, by the size of a request alone. Listing the results is needed only then.
 *
 * @example
 * ```ts
 * mayFold({ context: 50_000, window: 200_000, at: 120_000, isCold: false }) // => false
 * ```
 */
export function mayFold({
  context,
  window,
  at,
  isCold,
}: Pick<FoldQuestion, 'context' | 'window' | 'at' | 'isCold'>): boolean {
  return context >= at || (isCold && context >= at / 2) || isFull(context, window)
}

/**
 * Decides which results of a conversation to fold back: rarely, many together, and when it pays, when the cache is cold
 * anyway, or when nothing else fits. Everything that it depends on is in its argument.
 *
 * @example
 * ```ts
 * const results = [{ callId: 'c1', tokens: 90_000, stubTokens: 30, age: 20, before: 5_000 }]
 * const plan = decideFold({
 *   context: 130_000,
 *   at: 120_000,
 *   keepTurns: 10,
 *   minTokens: 300,
 *   turns: 30,
 *   isCold: false,
 *   cacheRead: 0.1,
 *   cacheWrite: 1.25,
 *   results,
 * })
 * plan?.reason // => 'price'
 * ```
 */
export function decideFold(question: FoldQuestion): FoldPlan | undefined {
  const { context, window, isCold, bindsReasoning = false, horizon = HORIZON } = question
  if (!mayFold(question)) return undefined
  const plan = createPlan(question, question.keepTurns)
  if (isFull(context, window)) return planToFit(question, plan)
  if (!plan || plan.freed < getLeastFreed(question)) return undefined
  if (isCold) return plan
  if (bindsReasoning) return undefined
  const requests = Math.min(question.turns, horizon)
  if (requests * getExpectedGain(question, plan) > plan.cost) return plan
  return undefined
}

/** What a later request saves on average: most find what precedes them in the cache, and a few write it again. */
function getExpectedGain(
  { cacheRead, cacheWrite, cacheTtlMs = COLD_TTL_MS }: FoldQuestion,
  { freed }: FoldPlan,
): number {
  const cold = Math.min(1, COLD_SHARE * (COLD_TTL_MS / Math.max(cacheTtlMs, 1)) ** COLD_FALL)
  return freed * ((1 - cold) * cacheRead + cold * cacheWrite)
}

function getLeastFreed({ at, frees }: FoldQuestion): number {
  return frees ?? Math.max(Math.min(LEAST_FREED, at / 3), at / 6)
}

/** Folds younger results too, as far as needed. The results of the last reply stay. */
function planToFit(question: FoldQuestion, first: FoldPlan | undefined): FoldPlan | undefined {
  const { context, window = Infinity, keepTurns } = question
  let plan = first
  for (let keep = Math.floor(keepTurns / 2); keep >= 1; keep = Math.floor(keep / 2)) {
    if (plan && !isFull(context - plan.freed, window)) break
    plan = createPlan(question, keep) ?? plan
  }
  // A fold that frees next to nothing would be repeated before every request.
  const isWorthIt = plan !== undefined && (plan.freed >= getLeastFreed(question) * LEAST_SHARE || context > window)
  if (isWorthIt && plan) return { ...plan, reason: question.isCold ? 'cold' : 'window' }
  return undefined
}

function createPlan(question: FoldQuestion, keep: number): FoldPlan | undefined {
  const old = question.results.filter((result) => isOld(result, question, keep))
  const [first] = old
  return first && planFold(question, old)
}

function isOld(
  { age, tokens, stubTokens, isReadBack = false, isSpent = false }: FoldableResult,
  { keepTurns, minTokens }: FoldQuestion,
  keep: number,
): boolean {
  if (tokens <= stubTokens) return false
  if (isSpent) return age >= 1
  // What was read back and folded again at once would be read back again.
  return tokens >= minTokens && age >= (isReadBack ? keepTurns : keep)
}

/**
 * Computes what it costs and gains to fold these results.
 *
 * @example
 * ```ts
 * const results = [{ callId: 'c1', tokens: 90_000, stubTokens: 30, age: 20, before: 5_000 }]
 * const plan = planFold({ context: 130_000, isCold: true, cacheRead: 0.1, cacheWrite: 1.25 }, results)
 * plan.freed // => 89970
 * ```
 */
export function planFold(
  { context, isCold, cacheRead, cacheWrite }: Pick<FoldQuestion, 'context' | 'isCold' | 'cacheRead' | 'cacheWrite'>,
  results: readonly FoldableResult[],
): FoldPlan {
  const freed = results.reduce((sum, { tokens, stubTokens }) => sum + tokens - stubTokens, 0)
  const before = results.reduce((least, one) => Math.min(least, one.before), context)
  const behind = context - before
  return {
    callIds: results.map(({ callId }) => callId),
    reason: isCold ? 'cold' : 'price',
    freed,
    cost: isCold ? -cacheWrite * freed : cacheWrite * (behind - freed) - cacheRead * behind,
    gain: cacheRead * freed,
  }
}
