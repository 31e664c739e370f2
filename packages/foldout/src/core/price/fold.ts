import { checkNumbers } from '../check-number.ts'
import { computeWarmth, type PromptCache } from './prompt-cache.ts'

/**
 * What folding costs and saves depends on these facts besides the sections.
 *
 * @example
 * ```ts
 * const price: FoldPrice = { cache: adapter.promptCache, perHour: 40, requests: 12 }
 * bound.render({ price }).trace.length // => 0
 * ```
 */
export interface FoldPrice {
  /** The cache of the model. Default: 1,024 tokens, reads at 0.1, writes at 1.25, five minutes. */
  readonly cache?: PromptCache | undefined
  /** How many conversations an hour begin with the prompt. Default 40. */
  readonly perHour?: number | undefined
  /** How many requests a conversation has. Default 10. */
  readonly requests?: number | undefined
}

/** Rejects numbers that would spoil every sum. */
export function checkPrice({ perHour, requests }: FoldPrice): void {
  checkNumbers({ 'price.perHour': perHour, 'price.requests': requests }, { code: 'prompt-render' })
}

export interface FoldTerms {
  readonly cache: PromptCache
  readonly perHour: number
  readonly requests: number
  /** The tokens that are sent whatever is folded. */
  readonly base: number
  /** The tokens of the tool that opens what is folded. */
  readonly tool: number
  /** Whether a conversation can call tools that are never folded. Default: it can. */
  readonly hasTools?: boolean
}

/** Something that can be folded. */
export interface Foldable {
  /** The share of conversations that open it. */
  readonly need: number
  /** Its tokens while it is open, with its tools. */
  readonly full: number
  readonly folded: number
  /** What an opening adds to the conversation. Default: `full`. */
  readonly opened?: number
  /** How many requests an opening takes. Default 1; 0 if it is opened together with something inside it. */
  readonly requests?: number
  /** Whether it has tools. Default: it has none. */
  readonly hasTools?: boolean
}

export interface FoldChoice {
  /** Which of them to fold, by index. */
  readonly folded: ReadonlySet<number>
  /** What a conversation costs this way, in tokens at the price of input. */
  readonly cost: number
  /** What it costs with nothing folded. */
  readonly costInFull: number
  /** What folding each of them alone saves; negative if it costs. */
  readonly saves: readonly number[]
}

/** How many tokens a request adds to a conversation besides openings: a call, its result, a reply. */
const GROWTH = 400
/** As few as in short conversations, which stay below the cache's minimum for long. */
const LEAST_GROWTH = 100
/** What a call that opens something costs the model to write, at the price of input. */
const CALL = 125
const HALF_GROWTH = GROWTH / 2

/**
 * Chooses what to fold so that a conversation costs least. It never costs more than with nothing folded, whether the
 * conversation grows quickly or slowly: below the cache's minimum, what is needed most stays open until the minimum is
 * reached, if that is cheaper.
 */
export function chooseFolds(items: readonly Foldable[], terms: FoldTerms): FoldChoice {
  const none = new Set<number>()
  const costInFull = computeCost(items, none, terms)
  const slowInFull = computeCost(items, none, terms, LEAST_GROWTH)
  const saves = items.map((item) => computeSaving(item, items, terms))
  const order = items.map((_, at) => at).toSorted((a, b) => (saves[b] ?? 0) - (saves[a] ?? 0) || a - b)
  let best: ReadonlySet<number> = none
  let cost = costInFull
  let leastSaved = 0
  const folded = new Set<number>()
  for (const at of order) {
    folded.add(at)
    const now = computeCost(items, folded, terms)
    const saved = Math.min(costInFull - now, slowInFull - computeCost(items, folded, terms, LEAST_GROWTH))
    if (saved <= leastSaved) continue
    leastSaved = saved
    cost = now
    best = new Set(folded)
  }
  return { folded: best, cost, costInFull, saves }
}

/** What folding one item saves in a conversation whose beginning is large enough for the cache. */
function computeSaving(item: Foldable, items: readonly Foldable[], terms: FoldTerms): number {
  const { need, full, folded, opened = full, requests: extra = 1 } = item
  const { requests, base, cache } = terms
  const { read, write, minimum } = cache
  const context = Math.max(minimum, base + items.reduce((sum, each) => sum + each.folded, 0)) + requests * HALF_GROWTH
  const kept = (full - folded) * (getStartRate(terms) + read * (requests - 1))
  const spent = opened * (write + read * (requests - getOpeningAt(requests))) + extra * (read * context + CALL)
  return kept - need * spent
}

/** Openings come early: a third of the requests precede them. */
function getOpeningAt(requests: number): number {
  return Math.ceil(requests / 3)
}

/** Without a tool that most conversations need, an opening is the first that a model can do. */
function findOpeningAt(items: readonly Foldable[], folded: ReadonlySet<number>, terms: FoldTerms): number {
  const { hasTools = true, requests } = terms
  const canBegin = hasTools || items.some((item, at) => item.hasTools === true && item.need > 0.5 && !folded.has(at))
  if (canBegin) return getOpeningAt(requests)
  return 1
}

/** Adds up the requests of a conversation, in which what is needed on average is opened at one point. */
function computeCost(
  items: readonly Foldable[],
  folded: ReadonlySet<number>,
  terms: FoldTerms,
  growth = GROWTH,
): number {
  const { requests, base, tool } = terms
  let start = base + (folded.size > 0 ? tool : 0)
  let opened = 0
  let extra = 0
  for (const [at, item] of items.entries()) {
    const isFolded = folded.has(at)
    start += isFolded ? item.folded : item.full
    if (!isFolded) continue
    opened += item.need * (item.opened ?? item.full)
    extra += item.need * (item.requests ?? 1)
  }
  const openingAt = findOpeningAt(items, folded, terms)
  let before = start
  let cost = start < terms.cache.minimum ? start : start * getStartRate(terms)
  for (let request = 1; request < requests; request++) {
    const added = growth + (request === openingAt ? opened : 0)
    if (request === openingAt) cost += priceOpenings(before, { opened, extra }, terms)
    cost += priceRequest(before, added, terms)
    before += added
  }
  if (requests > openingAt) return cost
  return cost + opened * terms.cache.write + priceOpenings(before, { opened, extra }, terms)
}

/** The requests that only open something: each but the first follows what the first has opened. */
function priceOpenings(
  before: number,
  { opened, extra }: { readonly opened: number; readonly extra: number },
  terms: FoldTerms,
): number {
  const first = Math.min(1, extra)
  return (
    extra * CALL +
    first * priceRequest(before, 0, terms) +
    (extra - first) * priceRequest(before + opened / Math.max(1, extra), 0, terms)
  )
}

/** The price of a request that adds to what the request before it has sent. */
function priceRequest(before: number, added: number, { cache: { minimum, read, write } }: FoldTerms): number {
  if (before >= minimum) return read * before + write * added
  const now = before + added
  if (now < minimum) return now
  return write * now
}

function getStartRate({ cache, perHour }: FoldTerms): number {
  const warmth = computeWarmth(perHour, cache)
  return warmth * cache.read + (1 - warmth) * cache.write
}
