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
  /** The tokens from which results are folded back, and below which a fold brings the request if it can. */
  readonly at: number
  /** Results of this many last turns stay, unless nothing else fits the window. */
  readonly keepTurns: number
  /** Fewer turns stay, but at least this many, if only that frees enough or pays. Default: `keepTurns`. */
  readonly leastTurns?: number | undefined
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
  /**
   * `'cold'`: the cache has expired anyway. `'price'`: it pays. `'size'`: the request has reached `at`, and no fold pays.
   * `'window'`: nothing else fits. `'asked'`: the caller wants it.
   */
  readonly reason: 'cold' | 'price' | 'size' | 'window' | 'asked'
  /** The tokens that every later request is smaller by. */
  readonly freed: number
  /** What the fold costs in the next request, in tokens at the price of input. Negative: it saves. */
  readonly cost: number
  /** What each later request saves while the cache is warm, in tokens at the price of input. */
  readonly gain: number
}

/** The most requests that a conversation is expected to have left. */
const HORIZON = 30

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
 * Decides which results of a conversation to fold back: rarely and many together, from `at` on, or earlier when the
 * cache is cold anyway. As many of the youngest stay as price and window allow. Everything that it depends on is in its
 * argument.
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
  const { context, window, isCold, bindsReasoning = false } = question
  if (!mayFold(question)) return undefined
  const isUrgent = isFull(context, window)
  if (bindsReasoning && !isCold && !isUrgent) return undefined
  const plan = isUrgent ? planToFit(question) : planToPay(question)
  if (!plan || isCold) return plan
  if (isUrgent) return { ...plan, reason: 'window' }
  return { ...plan, reason: isPaying(plan, question) ? 'price' : 'size' }
}

/** Folds younger results too, as far as needed. The results of the last reply stay. */
function planToFit(question: FoldQuestion): FoldPlan | undefined {
  const { context, window = Infinity } = question
  // A fold that frees next to nothing would be repeated before every request.
  const least = context > window ? 1 : getLeastFreed(question) * LEAST_SHARE
  const plans = listPlans(question, 1).filter(({ freed }) => freed >= least)
  return plans.find(({ freed }) => !isFull(context - freed, window)) ?? plans.at(-1)
}

/**
 * Folds younger results too, if that brings the request below `at`: the more of them fold, the less is left behind the
 * first that has to be written again, until it pays.
 */
function planToPay(question: FoldQuestion): FoldPlan | undefined {
  const { context, at, keepTurns, leastTurns = keepTurns } = question
  const least = getLeastFreed(question)
  const list = (youngest: number): readonly FoldPlan[] =>
    listPlans(question, youngest).filter(({ freed }) => freed >= least)
  const pays = (plan: FoldPlan): boolean => isPaying(plan, question)
  const below = list(context < at ? keepTurns : leastTurns).filter(({ freed }) => context - freed < at)
  return below.find(pays) ?? below.at(-1) ?? list(keepTurns).find(pays)
}

/** Whether the requests that are left save more than the fold costs. */
function isPaying({ gain, cost }: FoldPlan, { turns, horizon = HORIZON }: FoldQuestion): boolean {
  return Math.min(turns, horizon) * gain > cost
}

function getLeastFreed({ at, frees }: FoldQuestion): number {
  return Math.max(frees ?? Math.max(Math.min(LEAST_FREED, at / 3), at / 6), 1)
}

/** Lists the folds of results older than `keepTurns`, half as many turns and so on, down to `least`. */
function listPlans(question: FoldQuestion, least: number): readonly FoldPlan[] {
  const { keepTurns } = question
  const plans = [createPlan(question, keepTurns)]
  for (let keep = Math.floor(keepTurns / 2); keep >= Math.max(least, 1); keep = Math.floor(keep / 2))
    plans.push(createPlan(question, keep))
  return plans
}

function createPlan(question: FoldQuestion, keep: number): FoldPlan {
  return planFold(
    question,
    question.results.filter((result) => isOld(result, question, keep)),
  )
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
