import { FoldoutError } from '../core/errors.ts'
import { ignore, isThenable } from '../core/promises.ts'
import { shorten } from '../core/text.ts'
import type { Event } from './event.ts'
import { freezeChanges } from './freeze.ts'
import { findSliceName, type AnySlice, type PayloadCheck, type Reducer } from './slice.ts'

/** How one slice handles one type of event. */
export interface Answer {
  readonly slice: AnySlice
  readonly reduce: Reducer<unknown>
  readonly check: PayloadCheck | undefined
}

/** The slices that handle each type of event. */
export type Answers = ReadonlyMap<string, readonly Answer[]>

export function findAnswers(slices: ReadonlyMap<string, AnySlice>): Answers {
  const answers = new Map<string, Answer[]>()
  for (const slice of slices.values()) {
    for (const [type, reduce] of slice.reducers) {
      const answer: Answer = { slice, reduce, check: slice.checks?.get(type) }
      const list = answers.get(type)
      if (list) list.push(answer)
      else answers.set(type, [answer])
    }
  }
  return answers
}

/** Throws if the session does not have the slice of an event, or if the slice rejects its payload. */
export function checkAnswered(event: Event, answers: readonly Answer[] | undefined): void {
  if (answers === undefined) {
    const missing = findSliceName(event.type)
    // An event that belongs to no slice is only for listeners.
    if (missing !== undefined)
      throw createMissingSliceError(missing, `so the event '${shorten(event.type)}' would be lost`)
    return
  }
  for (const { slice, check } of answers) {
    const fault = check?.(event.payload)
    if (fault === undefined) continue
    throw new FoldoutError(
      'event-invalid',
      `The slice '${slice.name}' rejected this '${shorten(event.type)}' event: ${fault}. Nothing was changed.`,
    )
  }
}

/** Whether `dispatch` would accept an event read from a journal. */
export function isTaken(event: Event, answers: readonly Answer[]): boolean {
  return answers.every(({ check }) => check?.(event.payload) === undefined)
}

/** Computes the state of a slice after an event. */
export function computeState(answer: Answer, before: unknown, payload: unknown): unknown {
  const after = answer.reduce(before, payload as never)
  if (after === before) return before
  if (isThenable(after)) {
    void ignore(after, 'the error below says what is wrong')
    throw new TypeError(
      'its reducer returned a promise. Reducers are synchronous: await first, then dispatch the result.',
    )
  }
  return freezeChanges(after, before)
}

export function createMissingSliceError(name: string, consequence?: string): FoldoutError {
  return new FoldoutError(
    'slice-unknown',
    `This session has no slice '${name}'${consequence === undefined ? '' : `, ${consequence}`}. Create it with createSession({ slices: [${name}] }).`,
  )
}
