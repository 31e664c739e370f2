import { formatNumber } from 'foldout-shared/numbers'
import { MAX_SHOWN_CHARACTERS } from './limits.ts'

// Texts of steps, which the page shows as they are.

const MOST_DETAIL = 1_000

export function shorten(text: string): string {
  if (text.length <= MOST_DETAIL) return text
  return `${text.slice(0, MOST_DETAIL)}…`
}

/** A text that may be very long, up to a limit. */
export function cut(text: string): string {
  if (text.length <= MAX_SHOWN_CHARACTERS) return text
  return `${text.slice(0, MAX_SHOWN_CHARACTERS)}\n… and ${formatNumber(text.length - MAX_SHOWN_CHARACTERS)} more characters`
}
