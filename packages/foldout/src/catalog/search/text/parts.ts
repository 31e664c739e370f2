import { isActionWord } from './actions.ts'
import { STOP_WORDS } from './stop-words.ts'
import { getWords } from './words.ts'

/** Where one request may end and the next begin. Addresses and file names have dots, too, but no blanks after them. */
const SEAM =
  /(?<=[.!?;])\s+(?=\S)|(?<=[。！？；])\s*(?=\S)|\n+|,?\s+(?:and then|and also|as well as|and|then|also|plus)\s+|,\s+|，|、/iu
/** A part needs this many meaningful words: "red and blue" does not have two parts. */
const ENOUGH_WORDS = 3
/** A part may be shorter if one of its first words is an action: "tell me the weather". */
const OPENING = 3
const MOST_PARTS = 8

interface Part {
  text: string
  isOwn: boolean
  readonly summary: Summary
}

/** What determines whether a part can stand alone: its first words, and its first meaningful words. */
interface Summary {
  readonly opening: string[]
  readonly telling: string[]
}

/** Splits a request into parts that may each need their own tool. A request with one part is returned as it is. */
export function getParts(request: string): readonly string[] {
  const parts: Part[] = []
  for (const piece of request.split(SEAM)) {
    const text = piece.trim()
    if (text === '') continue
    const last = parts.at(-1)
    const summary = summarize(text)
    const isOwn = canStandAlone(summary)
    if (last && (!isOwn || !last.isOwn || parts.length === MOST_PARTS)) {
      last.text += ` ${text}`
      append(last.summary, summary)
      last.isOwn ||= isOwn || canStandAlone(last.summary)
    } else parts.push({ text, isOwn, summary })
  }
  if (parts.length > 1) return parts.map(({ text }) => text)
  return [request]
}

function summarize(text: string): Summary {
  const words = getWords(text)
  const telling: string[] = []
  for (const word of words) {
    if (telling.length === ENOUGH_WORDS) break
    if (!STOP_WORDS.has(word)) telling.push(word)
  }
  return { opening: words.slice(0, OPENING), telling }
}

/** Extends the first summary to cover both texts, without reading them again. */
function append({ opening, telling }: Summary, next: Summary): void {
  opening.push(...next.opening.slice(0, OPENING - opening.length))
  telling.push(...next.telling.slice(0, ENOUGH_WORDS - telling.length))
}

function canStandAlone({ opening, telling }: Summary): boolean {
  if (telling.length >= ENOUGH_WORDS) return true
  const action = opening.find(isActionWord)
  return action !== undefined && telling.some((word) => word !== action)
}
