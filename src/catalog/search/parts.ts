import { termsOf } from './words.ts'

/** Where one thing that is asked for may end and the next begin. */
const SEAM = /(?<=[.!?;。！？；])\s*(?=\S)|\n+|,?\s+(?:and then|and also|as well as|and|then|also|plus)\s+|,\s+|，|、/iu
/** A part with fewer telling words belongs to the part before it: "red and blue". */
const FEWEST_TERMS = 3
const MOST_PARTS = 8

/** The parts of a request that may each need a tool of its own; the request alone if it has but one. */
export function partsOf(request: string): readonly string[] {
  const parts: { text: string; terms: number }[] = []
  for (const piece of request.split(SEAM)) {
    const text = piece.trim()
    if (text === '') continue
    const terms = termsOf(text).length
    const last = parts.at(-1)
    const isOwn = terms >= FEWEST_TERMS && (last === undefined || last.terms >= FEWEST_TERMS)
    if (last && (!isOwn || parts.length === MOST_PARTS)) {
      last.text += ` ${text}`
      last.terms += terms
    } else parts.push({ text, terms })
  }
  return parts.length > 1 ? parts.map(({ text }) => text) : [request]
}
