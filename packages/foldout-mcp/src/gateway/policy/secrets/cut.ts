import { HIDDEN } from '../../../shared/secret-text.ts'
import { CUT_MARGIN } from './limits.ts'

/**
 * The start of a text without secrets, also without the first half of one that the cut would leave. Of a long text, only a little
 * more than the start is searched.
 */
export function hideStart(text: string, most: number, hide: (text: string) => string): string {
  if (text.length <= most + CUT_MARGIN) return hide(text).slice(0, most)
  const hidden = hide(text.slice(0, most + CUT_MARGIN))
  // A secret that goes on after the margin is not recognized. It is in the last part of what is left, after everything that was hidden.
  const end = Math.max(hidden.length - CUT_MARGIN, hidden.lastIndexOf(HIDDEN) + HIDDEN.length)
  return hidden.slice(0, Math.min(most, end))
}

/** The end of a text that may have been cut before, with `most` and the margin left of it. */
export function hideEnd(text: string, most: number, hide: (text: string) => string): string {
  const hidden = hide(text)
  const isCut = text.length >= most + CUT_MARGIN
  const first = hidden.indexOf(HIDDEN)
  const start = isCut ? Math.min(CUT_MARGIN, first === -1 ? Infinity : first) : 0
  return hidden.slice(Math.max(hidden.length - most, start))
}
