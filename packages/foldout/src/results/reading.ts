/**
 * The part of a result that a model wants to read.
 *
 * @example
 * ```ts
 * const reading: Reading = { path: '$.items[0:10]', from: 1, ignoreCase: false, characters: 4_000 }
 * ```
 */
export interface Reading {
  /** What it is counted in. Missing: lines of a text, items of JSON. */
  readonly unit?: ReadingUnit
  /** The number of the first one, from 1 on; a negative one counts from the end. */
  readonly from: number
  readonly count?: number
  /** A JSONPath; its matches are the items. */
  readonly path?: string
  /** A regular expression; only what matches is read. */
  readonly grep?: string
  readonly ignoreCase: boolean
  /** How many characters are wanted at most. */
  readonly characters: number
  /** Whether it is read in a thread that can be ended, so it may take longer. Default false. */
  readonly hasOwnThread?: boolean
}

/**
 * What a part of a result is counted in.
 *
 * @example
 * ```ts
 * const unit: ReadingUnit = 'lines'
 * ```
 */
export type ReadingUnit = 'lines' | 'characters' | 'items'

/**
 * A part of a result.
 *
 * @example
 * ```ts
 * const format = ({ label, text }: ReadingEntry): string => `${label}: ${text}`
 * ```
 */
export interface ReadingEntry {
  readonly at: number
  /** Its position, for the model; empty if obvious. */
  readonly label: string
  readonly text: string
  /** Whether only the beginning is there. */
  readonly isCut: boolean
}

/**
 * What was read, or why nothing was.
 *
 * @example
 * ```ts
 * const isRead = (answer: ReadingAnswer): boolean => !('fault' in answer)
 * ```
 */
export type ReadingAnswer =
  | {
      readonly unit: ReadingUnit
      readonly entries: readonly ReadingEntry[]
      /** How many there are; missing if they were not all counted. */
      readonly total: number | undefined
      /** Where to continue; missing if that was all. */
      readonly next: number | undefined
      /** Whether only matches were wanted. */
      readonly isSearch: boolean
    }
  | { readonly fault: string }
