/**
 * Folded results: what a model sees of a large or old result, and how it reads any part of it.
 *
 * @module foldout/results
 */

export {
  decideFold,
  isFull,
  mayFold,
  planFold,
  type FoldableResult,
  type FoldPlan,
  type FoldQuestion,
} from '../results/decide-fold.ts'
export {
  createStub,
  cutToBeginning,
  describeFolded,
  describeSize,
  type FoldedText,
} from '../results/describe-folded.ts'
export { foldCallResult, type CallFoldOptions, type KeptText } from '../results/fold-call-result.ts'
export { outlineText, readPart } from '../results/read-part.ts'
export {
  READ_RESULT,
  formatReading,
  readResultArguments,
  readResultDefinition,
  type ReadArguments,
} from '../results/read-result.ts'
export type { Reading, ReadingAnswer, ReadingEntry, ReadingUnit } from '../results/reading.ts'
export { countResultTokens } from '../results/tokens.ts'
export type { BeforeRequest, RequestPreview, RequestedFold } from '../agent/refold/hook.ts'
export type { Summarize, SummaryRequest } from '../agent/refold/options.ts'
