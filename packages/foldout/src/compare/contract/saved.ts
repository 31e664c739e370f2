import type { Usage } from '../../adapters/contract.ts'
import type { AgentEvent } from '../../agent/events.ts'
import type { ComparePrices } from './options.ts'

/**
 * A line of a saved comparison. The first line is a header; every later start adds another one, and the last counts.
 * Lines may come in any order after that, and the last line of a killed process may be cut off.
 *
 * @example
 * ```ts
 * const isRun = (line: SavedLine): line is SavedRun => line.type === 'run'
 * ```
 */
export type SavedLine = SavedHeader | SavedText | SavedEvent | SavedRun

/**
 * What a comparison was asked to do.
 *
 * @example
 * ```ts
 * const getArms = ({ arms }: SavedHeader): string[] => Object.keys(arms)
 * ```
 */
export interface SavedHeader {
  readonly type: 'header'
  readonly version: 1
  /** Milliseconds since 1970. */
  readonly at: number
  readonly base: string
  /** Every arm with the digest of its prompt and its options: runs with another digest are not used. */
  readonly arms: Readonly<Record<string, string>>
  /** The model of each arm, as `provider/model`: runs of another one are not used. `null` if it is not known. */
  readonly models: Readonly<Record<string, string | null>>
  readonly cases: readonly SavedCase[]
  readonly repeat: number
  readonly looks: readonly number[]
  readonly margin: number
  readonly seed: number
  readonly prices: ComparePrices | null
  readonly perHour: number | null
  /** What counted the tokens. */
  readonly counter: { readonly name: string; readonly exact: boolean }
}

/**
 * A case in a header.
 *
 * @example
 * ```ts
 * const isLong = ({ input }: SavedCase): boolean => input.length > 100
 * ```
 */
export interface SavedCase {
  readonly id: string
  /** The digest of the case and the names of its graders: runs with another digest are not used. */
  readonly digest: string
  /** What the user said first, shortened. */
  readonly input: string
  readonly conversation?: string
  /** The sections that the case names. */
  readonly needs?: readonly string[]
}

/**
 * A system text, which many events share.
 *
 * @example
 * ```ts
 * const texts = new Map<string, string>()
 * const learn = ({ id, text }: SavedText): void => void texts.set(id, text)
 * ```
 */
export interface SavedText {
  readonly type: 'text'
  readonly id: string
  readonly text: string
}

/**
 * One event of a run, as it happened. A `prompt/rendered` event has an empty `text`, and `text` of this line names it.
 *
 * @example
 * ```ts
 * const isReply = ({ event }: SavedEvent): boolean => event.type === 'reply/received'
 * ```
 */
export interface SavedEvent {
  readonly type: 'event'
  /** The run, as in {@link SavedRun.run}. */
  readonly run: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly event: AgentEvent
  readonly text?: string
}

/**
 * A run that has ended.
 *
 * @example
 * ```ts
 * const hasPassed = ({ score }: SavedRun): boolean => score === 1
 * ```
 */
export interface SavedRun {
  readonly type: 'run'
  /** Unique: the arm, the case, the repeat and the digests. */
  readonly run: string
  readonly arm: string
  readonly armDigest: string
  readonly case: string
  readonly caseDigest: string
  /** From 0. */
  readonly repeat: number
  readonly status: 'completed' | 'stopped' | 'waiting' | 'failed'
  /** The error that ended it, shortened; `null` if it ended without one. */
  readonly error: string | null
  readonly grades: Readonly<Record<string, number>>
  /** The smallest grade; 0 for an error. */
  readonly score: number
  readonly ms: number
  readonly requests: readonly SavedRequest[]
  readonly usage: Usage
  /** What a simulated user's model has used; `null` if there was none. */
  readonly userUsage: Usage | null
  /** The sections that were folded when the run began. */
  readonly folded: readonly string[]
  /** The sections that were opened: by the model, and ahead of it. */
  readonly opened: readonly string[]
  readonly ahead: readonly string[]
  /** The sections whose tools the run has called with success. */
  readonly used: readonly string[]
  /** The sections that could not be read at the beginning and could at the end, those inside others included. */
  readonly readable: readonly string[]
  /** Calls of tools that were not offered. */
  readonly callsNotOffered: number
  /** The provider and the model, as `provider/model`. */
  readonly model: string
  /** The digest of the tools and the system text of the first request, with the model and the options of the arm. */
  readonly begins: string
}

/**
 * One request of a run, in tokens: what is needed to bill it with any cache.
 *
 * @example
 * ```ts
 * const getNew = ({ input, same }: SavedRequest): number => input - same
 * ```
 */
export interface SavedRequest {
  /** The whole input: tools, system text and conversation. */
  readonly input: number
  /** The tools and the system text. */
  readonly start: number
  /** The tools alone, without those that were added to the conversation. */
  readonly tools: number
  /** The tools that were added to the conversation since the request before it. */
  readonly added: number
  /** What begins like the request before it, in whole blocks; 0 for the first. */
  readonly same: number
  /** The same, token by token, for providers that do not cache whole blocks. */
  readonly sameTokens: number
  readonly output: number
  /** How long after the previous request it was sent, in milliseconds. */
  readonly afterMs: number
}
