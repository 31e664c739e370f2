import type { Message, ProviderAdapter } from '../../adapters/contract.ts'
import { checkNumber } from '../../core/check-number.ts'
import { USUAL_CACHE, type PromptCache } from '../../core/price/prompt-cache.ts'
import { FoldoutError } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'

/**
 * When a run folds old results back. The conversation in the session keeps them: the model reads any part with
 * `read_result`.
 *
 * @example
 * ```ts
 * const refold: RefoldOptions = { at: 60_000, keepTurns: 5, keep: ['get_contract'] }
 * await runAgent(bound, { adapter, refold })
 * ```
 */
export interface RefoldOptions {
  /** The tokens of a request from which results are folded back. Default: 0.6 of the window, at most 120,000. */
  readonly at?: number
  /** A fold frees at least this many tokens. Default: 20,000 or a sixth of `at`, less if `at` is below 60,000. */
  readonly frees?: number
  /** Results of this many last replies stay if the window allows it. Default: 10, or fewer if only that frees enough or pays. */
  readonly keepTurns?: number
  /** Smaller results stay. Default 300. */
  readonly minTokens?: number
  /** Larger results are folded as they arrive. Default 20,000, less for small windows. */
  readonly largeTokens?: number
  /** The most replies that a conversation is expected to have left; never more than it has had. Default 30. */
  readonly horizon?: number
  /**
   * Tools whose results stay. Results of disclosure tools, errors and images always stay, and so do the answers of
   * tools that run an agent of their own.
   */
  readonly keep?: readonly string[]
  /**
   * Closes a section that the model has opened if it has called none of its tools for this many replies. The model can
   * open it again. Default: sections stay open.
   */
  readonly closeAfter?: number
  /** What the provider's cache costs. Default: what the adapter says, or 0.1, 1.25 and five minutes. */
  readonly cache?: RefoldCache
  /**
   * Shortens the older turns if folding is not enough: with your own function, which returns the summary, with the
   * run's own `'model'`, or with the `'provider'`, if its adapter can. Everything open stays word for word. Default:
   * `'provider'` if the adapter can, and otherwise nothing.
   */
  readonly summarize?: 'provider' | 'model' | Summarize
}

/** What of a provider's cache decides about folding. */
type RefoldCache = Pick<PromptCache, 'read' | 'write' | 'ttlMs'>

/**
 * Writes a summary of the older turns of a conversation.
 *
 * @example
 * ```ts
 * const summarize: Summarize = ({ messages }) => `The conversation so far had ${messages.length} messages.`
 * await runAgent(bound, { adapter, refold: { summarize } })
 * ```
 */
export type Summarize = (request: SummaryRequest) => string | Promise<string>

/**
 * What a summary is written from.
 *
 * @example
 * ```ts
 * const summarize = async ({ messages }: SummaryRequest): Promise<string> => `${messages.length} messages about order A-17.`
 * ```
 */
export interface SummaryRequest {
  /** The turns that the summary replaces, as they were sent. */
  readonly messages: readonly Message[]
  /** Aborts when the run does. */
  readonly signal: AbortSignal
}

/** The options of a run with their defaults. */
export interface RefoldTerms {
  readonly at: number
  readonly frees: number | undefined
  readonly keepTurns: number
  readonly leastTurns: number
  readonly minTokens: number
  readonly largeTokens: number
  readonly horizon: number | undefined
  readonly keep: ReadonlySet<string>
  readonly closeAfter: number | undefined
  readonly cache: RefoldCache
  readonly summarize: RefoldOptions['summarize']
}

const MOST_AT = 120_000
const SHARE_OF_WINDOW = 0.6
const LARGE_TOKENS = 20_000

/** Fills in the defaults. */
export function toRefoldTerms(
  options: RefoldOptions,
  { window, adapter }: { readonly window: number | undefined; readonly adapter: ProviderAdapter },
): RefoldTerms {
  const at = options.at ?? Math.min((window ?? Infinity) * SHARE_OF_WINDOW, MOST_AT)
  return {
    at,
    frees: options.frees,
    keepTurns: options.keepTurns ?? 10,
    leastTurns: options.keepTurns ?? 1,
    minTokens: options.minTokens ?? 300,
    largeTokens: options.largeTokens ?? Math.min(LARGE_TOKENS, at / 3),
    horizon: options.horizon,
    keep: new Set(options.keep),
    closeAfter: options.closeAfter,
    cache: options.cache ?? adapter.promptCache ?? USUAL_CACHE,
    summarize: options.summarize ?? (adapter.compact ? 'provider' : undefined),
  }
}

/** Rejects invalid options before anything happens. */
export function checkRefold(refold: RefoldOptions | false | undefined, adapter: ProviderAdapter): void {
  if (!refold) return
  const check = (name: string, value: unknown, least?: number): void =>
    checkNumber(`refold.${name}`, value, {
      code: 'run-options',
      ...(least !== undefined && { least }),
    })
  for (const name of ['at', 'keepTurns', 'largeTokens', 'closeAfter'] as const) check(name, refold[name], 1)
  for (const name of ['frees', 'minTokens', 'horizon'] as const) check(name, refold[name])
  if (refold.cache !== undefined) checkCache(refold.cache, check)
  const { summarize, keep } = refold
  if (keep !== undefined && !(Array.isArray(keep) && keep.every((name) => typeof name === 'string')))
    throw refuse('refold.keep must be a list of names of tools')
  if (summarize === 'provider' && !adapter.compact)
    throw refuse(`refold.summarize is 'provider', but the adapter '${adapter.name}' cannot compact a conversation`)
  if (
    summarize !== undefined &&
    !['provider', 'model'].includes(summarize as string) &&
    typeof summarize !== 'function'
  )
    throw refuse("refold.summarize must be 'provider', 'model' or a function")
}

function checkCache(cache: unknown, check: (name: string, value: unknown) => void): void {
  if (!isObject(cache)) throw refuse('refold.cache must have read, write and ttlMs')
  for (const name of ['read', 'write', 'ttlMs']) {
    if (cache[name] === undefined) throw refuse(`refold.cache.${name} is missing`)
    check(`cache.${name}`, cache[name])
  }
}

function refuse(fault: string): FoldoutError {
  return new FoldoutError('run-options', `${fault}. Change it, or leave it out.`)
}
