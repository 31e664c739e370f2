import type { Json } from './json.ts'
import { MAX_JSON_DEPTH } from './limits.ts'

/**
 * Reads the beginning of a JSON text: everything that is certain so far, with open strings, lists and objects closed.
 * Numbers and names that may go on are left out. Returns undefined if there is nothing yet, or if it is not JSON.
 */
export function parsePartialJson(text: string): Json | undefined {
  const scan = scanJson(text)
  if (scan === undefined) return undefined
  const { end, openString, closers } = scan
  const string = openString === undefined ? '' : `${text.slice(end, openString).replace(HALF_AT_END, '')}"`
  try {
    return JSON.parse(`${text.slice(0, end)}${string}${closers.toReversed().join('')}`) as Json
  } catch {
    return undefined
  }
}

/** The first half of a surrogate pair, whose second half has not arrived. */
const HALF_AT_END = /[\ud800-\udbff]$|\\ud[89ab][0-9a-f]{2}$/i

interface Scan {
  /** The end of what is certain. */
  readonly end: number
  /** The end of a value that is an unfinished string, without an unfinished escape. It begins at or after `end`. */
  readonly openString: number | undefined
  /** What closes the open lists and objects, outermost first. */
  readonly closers: readonly string[]
}

function scanJson(text: string): Scan | undefined {
  const closers: string[] = []
  let end = 0
  // Whether the next string in the innermost object is a key.
  let isKey = false
  let at = 0
  while (at < text.length) {
    const character = text[at] ?? ''
    if (character === '"') {
      const { next, isOpen } = skipString(text, at)
      // A value that is not finished is shown as far as it goes; a key says nothing without its value.
      if (isOpen) return { end, closers, openString: isKey ? undefined : next }
      at = next
      if (!isKey) end = at
    } else if (character === '{' || character === '[') {
      closers.push(character === '{' ? '}' : ']')
      if (closers.length > MAX_JSON_DEPTH) return undefined
      isKey = character === '{'
      end = ++at
    } else if (character === '}' || character === ']') {
      if (closers.pop() !== character) return undefined
      end = ++at
      if (closers.length === 0) break
    } else if (character === ',' || character === ':') {
      isKey = character === ',' && closers.at(-1) === '}'
      at++
    } else if (/\s/.test(character)) at++
    else {
      at = skipWord(text, at)
      if (at < text.length) end = at
    }
  }
  if (end === 0) return undefined
  return { end, closers, openString: undefined }
}

/** Finds the end of a string. If it is open, `next` is before an escape that is not finished. */
function skipString(text: string, from: number): { readonly next: number; readonly isOpen: boolean } {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '"') return { next: at + 1, isOpen: false }
    if (text[at] !== '\\') continue
    const length = text[at + 1] === 'u' ? 6 : 2
    if (at + length > text.length) return { next: at, isOpen: true }
    at += length - 1
  }
  return { next: text.length, isOpen: true }
}

/** Finds the end of a number, `true`, `false` or `null`. */
function skipWord(text: string, from: number): number {
  let at = from
  while (at < text.length && !/[\s,:[\]{}"]/.test(text[at] ?? '')) at++
  return at
}

/** Reads a JSON text that begins somewhere in a streamed text. */
export interface PartialJsonReader {
  /** Returns the value so far, if it has changed. */
  add(text: string): Json | undefined
}

/** A longer text is read less often, so reading a whole answer takes time in proportion to its length. */
const GROWTH = 1.05

export function createPartialJsonReader(container: 'object' | 'array'): PartialJsonReader {
  const opener = container === 'object' ? '{' : '['
  let text = ''
  let isBegun = false
  let readLength = 0
  let shown = ''
  return {
    add(delta) {
      if (isBegun) text += delta
      else {
        const start = delta.indexOf(opener)
        if (start === -1) return undefined
        isBegun = true
        text = delta.slice(start)
      }
      if (text.length < readLength * GROWTH) return undefined
      readLength = text.length
      const value = parsePartialJson(text)
      const written = value === undefined ? '' : JSON.stringify(value)
      if (value === undefined || written === shown) return undefined
      shown = written
      return value
    },
  }
}
