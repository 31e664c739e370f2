import { compilePattern, type LinearPattern } from '../core/pattern/pattern.ts'
import {
  OWN_THREAD_SEARCH_MS,
  OWN_THREAD_SEARCH_STEPS,
  SEARCHED_CHARACTERS,
  SEARCH_MS,
  SEARCH_STEPS,
} from './limits.ts'
import { countLines, splitLines } from './lines.ts'
import type { Reading, ReadingAnswer, ReadingEntry } from './reading.ts'

/** A match across the end of a piece is still found if it is no longer than this. */
const OVERLAP = 200

/** Reads lines or characters of a text. */
export function readText(text: string, reading: Reading): ReadingAnswer {
  if (reading.grep !== undefined) return grepLines(text, reading, reading.grep)
  if (reading.unit === 'characters') return readCharacters(text, reading)
  return readLines(text, reading)
}

/** Where to begin, from 0 on. */
export function getStart(from: number, total: number): number {
  if (from < 0) return Math.max(total + from, 0)
  return Math.max(from - 1, 0)
}

/** Part of a text that does not begin or end inside a character. Some clients reject messages with half a character. */
export function sliceWhole(text: string, start: number, end: number): string {
  return text.slice(isInside(text, start) ? start - 1 : start, isInside(text, end) ? end + 1 : end)
}

/** Whether a position is between the two halves of a surrogate pair. */
function isInside(text: string, position: number): boolean {
  return (text.codePointAt(position - 1) ?? 0) > 0xff_ff
}

function readCharacters(text: string, { from, count = Infinity, characters }: Reading): ReadingAnswer {
  const wanted = getStart(from, text.length)
  const start = isInside(text, wanted) ? wanted - 1 : wanted
  const piece = sliceWhole(text, start, wanted + Math.min(count, characters))
  const end = start + piece.length
  return {
    unit: 'characters',
    entries: piece === '' ? [] : [{ at: start + 1, label: '', text: piece, isCut: false }],
    total: text.length,
    next: end < text.length ? end + 1 : undefined,
    isSearch: false,
  }
}

function readLines(text: string, { from, count = Infinity, characters }: Reading): ReadingAnswer {
  const total = countLines(text)
  const start = getStart(from, total)
  const entries: ReadingEntry[] = []
  let left = characters
  let next: number | undefined
  for (const line of splitLines(text, start)) {
    if (left <= 0 || entries.length >= count) {
      next = line.at
      break
    }
    const shown = sliceWhole(text, line.start, Math.min(line.end, line.start + left))
    const isCut = shown.length < line.end - line.start
    entries.push({ at: line.at, label: '', text: shown, isCut })
    left -= shown.length + 1
  }
  return { unit: 'lines', entries, total, next, isSearch: false }
}

function grepLines(text: string, reading: Reading, grep: string): ReadingAnswer {
  const search = createSearch(grep, reading)
  if ('fault' in search) return search
  const total = countLines(text)
  const entries: ReadingEntry[] = []
  const { count = Infinity, characters } = reading
  let left = characters
  for (const line of splitLines(text, getStart(reading.from, total))) {
    if (left <= 0 || entries.length >= count) return { unit: 'lines', entries, total, next: line.at, isSearch: true }
    const found = search.find(text.slice(line.start, line.end))
    if (found === 'stopped') return { unit: 'lines', entries, total, next: line.at, isSearch: true }
    if (!found) continue
    const label = found.isPiece ? `${line.at}, from character ${found.start + 1}` : String(line.at)
    entries.push({ at: line.at, label, text: sliceWhole(found.text, 0, left), isCut: found.isPiece })
    left -= found.text.length + label.length + 2
  }
  return { unit: 'lines', entries, total, next: undefined, isSearch: true }
}

/** The part of a text that matches. */
interface Found {
  readonly text: string
  readonly start: number
  /** Whether the text was too long to be searched at once. */
  readonly isPiece: boolean
}

export interface Search {
  /** The first part of a text that matches; `stopped` if the time or all steps are used up. */
  find(text: string): Found | 'stopped' | undefined
}

export function createSearch(
  grep: string,
  { ignoreCase, hasOwnThread = false }: Pick<Reading, 'ignoreCase' | 'hasOwnThread'>,
): Search | { readonly fault: string } {
  const compiled = compilePattern(grep, { ignoreCase })
  if ('problem' in compiled) {
    if (compiled.problem === 'invalid')
      return { fault: `${compiled.message}. Put a backslash before characters that should match literally.` }
    return { fault: `The pattern ${compiled.message}, which is not supported. Use a simpler pattern.` }
  }
  const steps = { left: hasOwnThread ? OWN_THREAD_SEARCH_STEPS : SEARCH_STEPS }
  const end = performance.now() + (hasOwnThread ? OWN_THREAD_SEARCH_MS : SEARCH_MS)
  return {
    find: (text) => {
      if (performance.now() > end) return 'stopped'
      return findIn(text, compiled.pattern, steps)
    },
  }
}

function findIn(text: string, pattern: LinearPattern, steps: { left: number }): Found | 'stopped' | undefined {
  const isPiece = text.length > SEARCHED_CHARACTERS
  for (let start = 0; ; start += SEARCHED_CHARACTERS - OVERLAP) {
    const piece = isPiece ? sliceWhole(text, start, start + SEARCHED_CHARACTERS) : text
    const isMatch = pattern.test(piece, steps)
    if (isMatch === undefined) return 'stopped'
    if (isMatch) return { text: piece, start, isPiece }
    if (start + SEARCHED_CHARACTERS >= text.length) return undefined
  }
}
