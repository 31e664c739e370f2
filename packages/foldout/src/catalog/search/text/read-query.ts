import { FoldoutError } from '../../../core/errors.ts'
import { cutText, toOwnText } from '../../../core/text.ts'
import { MAX_QUERY_CHARACTERS } from '../limits.ts'

/** Long runs of blanks mean nothing, and regular expressions would try to match from each of their characters. */
const LONG_BLANKS = /\s{17,}/g

/** The part of a query that is read. */
export interface ReadQuery {
  readonly text: string
  /** How many characters at its end were not read. */
  readonly ignoredCharacters: number
}

/** Cuts a query to the part that is read, which bounds all the work of a search. */
export function readQuery(query: string): ReadQuery {
  const whole = query.length > MAX_QUERY_CHARACTERS ? query.trim() : query
  const kept = whole.length > MAX_QUERY_CHARACTERS ? toOwnText(cutText(whole, MAX_QUERY_CHARACTERS)) : toOwnText(whole)
  const text = kept.replace(LONG_BLANKS, (blanks) => (blanks.includes('\n') ? '\n' : ' '))
  return { text, ignoredCharacters: whole.length - kept.length }
}

/** Throws `search-empty` for a query without words. */
export function refuseEmptyQuery(query: string): void {
  if (query.trim() === '')
    throw new FoldoutError('search-empty', 'A search needs words: say what you want to do, or name a tool.')
}
