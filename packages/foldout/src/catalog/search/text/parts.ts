import { isActionWord } from './actions.ts'
import { STOP_WORDS } from './stop-words.ts'
import { getWords } from './words.ts'

/** Where one thing that is asked for may end and the next begin. */
const SEAM = /(?<=[.!?;。！？；])\s*(?=\S)|\n+|,?\s+(?:and then|and also|as well as|and|then|also|plus)\s+|,\s+|，|、/iu
/** So many telling words make a part: "red and blue" are none. */
const ENOUGH_WORDS = 3
/** A part may be shorter if one of its first words says what to do: "tell me the weather". */
const OPENING = 3
const MOST_PARTS = 8

interface Part {
  text: string
  isOwn: boolean
}

/** The parts of a request that may each need a tool of its own; the request alone if it has but one. */
export function getParts(request: string): readonly string[] {
  const parts: Part[] = []
  for (const piece of request.split(SEAM)) {
    const text = piece.trim()
    if (text === '') continue
    const last = parts.at(-1)
    const isOwn = canStandAlone(text)
    if (last && (!isOwn || !last.isOwn || parts.length === MOST_PARTS)) {
      last.text += ` ${text}`
      last.isOwn ||= isOwn || canStandAlone(last.text)
    } else parts.push({ text, isOwn })
  }
  return parts.length > 1 ? parts.map(({ text }) => text) : [request]
}

function canStandAlone(text: string): boolean {
  const words = getWords(text)
  const telling = words.filter((word) => !STOP_WORDS.has(word))
  if (telling.length >= ENOUGH_WORDS) return true
  const action = words.slice(0, OPENING).find(isActionWord)
  return action !== undefined && telling.some((word) => word !== action)
}
