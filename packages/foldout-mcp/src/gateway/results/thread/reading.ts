/** The part of a result that a model wants to read. */
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
}

export type ReadingUnit = 'lines' | 'characters' | 'items'

/** A part of a result. */
export interface ReadingEntry {
  readonly at: number
  /** Its position, for the model; empty if obvious. */
  readonly label: string
  readonly text: string
  /** Whether only the beginning is there. */
  readonly isCut: boolean
}

/** What was read, or why nothing was. */
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

/** Where a kept text is. */
export type ResultSource = { readonly text: string } | { readonly file: string }

/** Work for the thread. */
export type ReadingJob =
  | { readonly type: 'outline' }
  | { readonly type: 'read'; readonly reading: Reading; readonly isJson: boolean }

export type ReadingResult = { readonly outline: string | undefined } | ReadingAnswer
