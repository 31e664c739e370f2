import type { Reading, ReadingAnswer } from 'foldout/results'

/** Where a kept text is. */
export type ResultSource = { readonly text: string } | { readonly file: string }

/** Work for the thread. */
export type ReadingJob =
  | { readonly type: 'outline' }
  | { readonly type: 'read'; readonly reading: Reading; readonly isJson: boolean }

export type ReadingResult = { readonly outline: string | undefined } | ReadingAnswer
