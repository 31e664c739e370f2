import type { Message, Usage } from '../../adapters/contract.ts'
import { describeGiven } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'

/**
 * The request that a run is about to send.
 *
 * @example
 * ```ts
 * const isLarge = ({ tokens, window = Infinity }: RequestPreview): boolean => tokens > window / 2
 * ```
 */
export interface RequestPreview {
  /** The messages as they would be sent. */
  readonly messages: readonly Message[]
  /** Its tokens, with system text and tools. */
  readonly tokens: number
  /** The usage of the current user input so far. */
  readonly usage: Usage
  /** The size of the context window, if known. */
  readonly window: number | undefined
}

/**
 * What a run should shorten before its next request.
 *
 * @example
 * ```ts
 * const fold: RequestedFold = { results: ['call_17'], sections: ['guide'] }
 * ```
 */
export interface RequestedFold {
  /**
   * The ids of the calls whose results fold to one line. Failed calls, results with images, what was just read back and
   * unknown ids are left out.
   */
  readonly results?: readonly string[]
  /** The paths of the sections that close. Those that are not open or have no summary are left out. */
  readonly sections?: readonly string[]
  /** A summary that replaces the older turns. */
  readonly summary?: string
}

/**
 * Decides before each request what to fold; undefined leaves the decision to the run's own rules.
 *
 * @example
 * ```ts
 * const beforeRequest: BeforeRequest = ({ messages, tokens }) => {
 *   if (tokens < 50_000) return undefined
 *   const results = messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : []))
 *   return { results: results.slice(0, -3) }
 * }
 * await runAgent(bound, { adapter, beforeRequest })
 * ```
 */
export type BeforeRequest = (request: RequestPreview) => RequestedFold | undefined | Promise<RequestedFold | undefined>

/** Reads what a hook has returned, or says what is wrong with it. */
export function readRequestedFold(given: unknown): RequestedFold | undefined {
  if (given === undefined || given === null) return undefined
  if (!isObject(given)) throw refuse(`returned a value that is ${describeGiven(given)}`)
  const { results, sections, summary } = given
  if (!isOptionalList(results)) throw refuse('returned results that are no list of ids')
  if (!isOptionalList(sections)) throw refuse('returned sections that are no list of paths')
  if (summary !== undefined && typeof summary !== 'string') throw refuse('returned a summary that is no text')
  return { ...(results && { results }), ...(sections && { sections }), ...(summary !== undefined && { summary }) }
}

function isOptionalList(given: unknown): given is readonly string[] | undefined {
  return given === undefined || (Array.isArray(given) && given.every((item) => typeof item === 'string'))
}

function refuse(fault: string): FoldoutError {
  return new FoldoutError(
    'run-options',
    `beforeRequest() ${fault}. Return { results, sections, summary }, or undefined to leave it to the run.`,
  )
}
