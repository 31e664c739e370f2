import { stemmer } from 'stemmer'
import { toOwnText } from '../../../core/text.ts'
import { MAX_CACHED_CHARACTERS, MAX_CACHED_WORD_LENGTH, MAX_CACHED_WORDS } from '../limits.ts'
import { STOP_WORDS } from './stop-words.ts'
import { createWordCache } from './word-cache.ts'

const PLAIN = /^[a-z]+$/
const NOT_ASCII = /[^\0-\x7f]/
const ACCENTS = /[\u0300-\u036f]/g
/** Marks are kept: in many scripts they are vowels. */
const RUN = /[\p{L}\p{N}\p{M}]+/gu
const CONTRACTION = /(?<=[a-z])['’](?:s|d|ll|m|re|ve|t)(?![a-z])/gi
/** A capital after a small letter, the last of several capitals before a small letter, a letter beside a digit. */
const BOUNDARY = /(?<=\p{Ll}\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u
const SEVERAL_CAPITALIZED = /^\p{Lu}\p{L}+$/u
/** Longer words are not stemmed: English words are shorter. */
const LONGEST_STEMMED = 64
/** Scripts written without spaces between words, and Hangul, in which particles stick to words. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu

/** Most runs are one word, for which a list would take more memory than the word. */
type Words = string | readonly string[]

/** The same few thousand words make up most texts. */
const CACHE_LIMITS = {
  entries: MAX_CACHED_WORDS,
  characters: MAX_CACHED_CHARACTERS,
  keyLength: MAX_CACHED_WORD_LENGTH,
}
const wordsByRun = createWordCache<Words>(CACHE_LIMITS)
const termsByRun = createWordCache<Words>(CACHE_LIMITS)
const stemByWord = createWordCache<string>(CACHE_LIMITS)

/**
 * Splits a text or an identifier into words, in lower case and without accents: `getWeatherV2` → `get weather v 2`. A name in two
 * capitalized parts also counts as one word, because people write it that way: `GitHub` → `git hub github`. Scripts without spaces
 * are split into pairs of characters.
 */
export function getWords(text: string): string[] {
  return collectParts(text, splitIntoWords)
}

/** Gets the stems of a text's words, in order, without stop words. */
export function getTerms(text: string): string[] {
  return collectParts(text, splitIntoTerms)
}

/** Gets the form that all forms of an English word share. A word of another language stays as it is. */
export function getStem(word: string): string {
  const known = stemByWord.get(word)
  if (known !== undefined) return known
  if (word.length > LONGEST_STEMMED) return word
  return stemByWord.set(word, word.length > 2 && PLAIN.test(word) ? stemmer(word) : toOwnText(word))
}

function collectParts(text: string, getParts: (run: string) => Words): string[] {
  const found: string[] = []
  const plain = text.includes("'") || text.includes('’') ? text.replace(CONTRACTION, '') : text
  const runs = NOT_ASCII.test(plain) ? getRunsOfAnyScript(plain) : getAsciiRuns(plain)
  for (const run of runs) {
    const parts = getParts(run)
    if (typeof parts === 'string') found.push(parts)
    else for (const part of parts) found.push(part)
  }
  return found
}

function getRunsOfAnyScript(text: string): readonly string[] {
  return text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').match(RUN) ?? []
}

/** For ASCII, which most texts of tools are: a loop is several times as fast as an expression that knows every script. */
function getAsciiRuns(text: string): readonly string[] {
  const runs: string[] = []
  let start = -1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isWord = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
    if (isWord) {
      if (start < 0) start = at
    } else if (start >= 0) {
      runs.push(text.slice(start, at))
      start = -1
    }
  }
  if (start >= 0) runs.push(text.slice(start))
  return runs
}

function splitIntoTerms(run: string): Words {
  const known = termsByRun.get(run)
  if (known !== undefined) return known
  const words = splitIntoWords(run)
  if (typeof words === 'string') return termsByRun.set(run, STOP_WORDS.has(words) ? NO_WORDS : getStem(words))
  return termsByRun.set(run, toWords(words.filter((word) => !STOP_WORDS.has(word)).map(getStem)))
}

function splitIntoWords(run: string): Words {
  const known = wordsByRun.get(run)
  if (known !== undefined) return known
  return wordsByRun.set(run, PLAIN.test(run) ? toOwnText(run) : toWords(splitRun(run)))
}

const NO_WORDS: readonly string[] = []

function toWords(words: readonly string[]): Words {
  const [first] = words
  if (first === undefined) return NO_WORDS
  if (words.length === 1) return first
  return words
}

function splitRun(run: string): readonly string[] {
  const words: string[] = []
  if (!NOT_ASCII.test(run)) {
    addParts(words, run, splitAscii(run))
    return words
  }
  let end = 0
  for (const { 0: unspaced, index } of run.matchAll(UNSPACED)) {
    addSpaced(words, run.slice(end, index))
    addPairs(words, unspaced)
    end = index + unspaced.length
  }
  addSpaced(words, run.slice(end))
  return words
}

/** Adds the words of a run in a script with spaces. */
function addSpaced(words: string[], run: string): void {
  if (run !== '') addParts(words, run, run.split(BOUNDARY))
}

function addParts(words: string[], run: string, parts: readonly string[]): void {
  const small = parts.map((part) => part.toLowerCase())
  for (const part of small) words.push(part)
  if (small.length === 2 && SEVERAL_CAPITALIZED.test(run)) words.push(small.join(''))
}

/** Splits letters and digits of ASCII at the same boundaries as the expression, which takes milliseconds to compile. */
function splitAscii(run: string): readonly string[] {
  const parts: string[] = []
  let start = 0
  for (let at = 1; at < run.length; at++) {
    if (!isBoundary(run, at)) continue
    parts.push(run.slice(start, at))
    start = at
  }
  parts.push(run.slice(start))
  return parts
}

function isBoundary(run: string, at: number): boolean {
  const before = getKind(run.charCodeAt(at - 1))
  const after = getKind(run.charCodeAt(at))
  if (before === 'digit' || after === 'digit') return before !== after
  if (after === 'small') return false
  const isSmall = (index: number): boolean => getKind(run.charCodeAt(index)) === 'small'
  if (before === 'small') return isSmall(at - 2)
  return isSmall(at + 1) && isSmall(at + 2)
}

function getKind(code: number): 'digit' | 'capital' | 'small' | 'none' {
  if (code >= 97 && code <= 122) return 'small'
  if (code >= 65 && code <= 90) return 'capital'
  if (code >= 48 && code <= 57) return 'digit'
  return 'none'
}

/** Adds each two neighboring characters of a run. */
function addPairs(words: string[], run: string): void {
  let before: string | undefined
  let characters = 0
  for (const character of run) {
    if (before !== undefined) words.push(before + character)
    before = character
    characters++
  }
  // A run of one character is one word.
  if (characters === 1) words.push(run)
}
