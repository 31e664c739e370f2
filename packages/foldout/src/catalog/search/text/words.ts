import { stemmer } from 'stemmer'
import { STOP_WORDS } from './stop-words.ts'

const PLAIN = /^[a-z]+$/
const NOT_ASCII = /[^\0-\x7f]/
const ACCENTS = /[\u0300-\u036f]/g
/** Marks stay: in many scripts they are vowels. */
const RUN = /[\p{L}\p{N}\p{M}]+/gu
const CONTRACTION = /(?<=[a-z])['’](?:s|d|ll|m|re|ve|t)(?![a-z])/gi
/** A capital after a small letter, the last of several capitals before a small letter, a letter beside a digit. */
const BOUNDARY = /(?<=\p{Ll}\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u
const SEVERAL_CAPITALISED = /^\p{Lu}\p{L}+$/u
/** Scripts written without spaces between words. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/u

/** The same few thousand words make up most texts. Emptied when full, so that odd input cannot fill the memory. */
const CACHE_SIZE = 50_000
const wordsByRun = new Map<string, readonly string[]>()
const termsByRun = new Map<string, readonly string[]>()
const stemByWord = new Map<string, string>()

/**
 * The words of a text or an identifier, lower-cased and without accents: `getWeatherV2` → `get weather v 2`. A name in two
 * capitalised parts is also there as one word, since people write it so: `GitHub` → `git hub github`. Scripts without
 * spaces are cut into pairs of characters.
 */
export function getWords(text: string): string[] {
  return collected(text, wordsOfRun)
}

/** The stems of a text's words, in order, without words that do not tell what a request is about. */
export function getTerms(text: string): string[] {
  return collected(text, termsOfRun)
}

/** The form under which all forms of an English word are found; a word of another language as it is. */
export function getStem(word: string): string {
  return stemByWord.get(word) ?? kept(stemByWord, word, word.length > 2 && PLAIN.test(word) ? stemmer(word) : word)
}

function collected(text: string, getParts: (run: string) => readonly string[]): string[] {
  const found: string[] = []
  const plain = text.includes("'") || text.includes('’') ? text.replace(CONTRACTION, '') : text
  const runs = NOT_ASCII.test(plain) ? runsOfAnyScript(plain) : asciiRuns(plain)
  for (const run of runs) for (const part of getParts(run)) found.push(part)
  return found
}

function runsOfAnyScript(text: string): readonly string[] {
  return text.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').match(RUN) ?? []
}

/** Most text of tools is ASCII, and a loop is several times as fast as an expression that knows every script. */
function asciiRuns(text: string): readonly string[] {
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

function termsOfRun(run: string): readonly string[] {
  const known = termsByRun.get(run)
  if (known) return known
  const telling = wordsOfRun(run).filter((word) => !STOP_WORDS.has(word))
  return kept(termsByRun, run, telling.map(getStem))
}

function wordsOfRun(run: string): readonly string[] {
  return wordsByRun.get(run) ?? kept(wordsByRun, run, PLAIN.test(run) ? [run] : splitRun(run))
}

function splitRun(run: string): readonly string[] {
  const unspaced = UNSPACED.exec(run)
  if (unspaced) {
    const [found] = unspaced
    const rest = run.slice(unspaced.index + found.length)
    return [...splitRun(run.slice(0, unspaced.index)), ...getPairs(found), ...(rest === '' ? [] : splitRun(rest))]
  }
  if (run === '') return []
  const parts = run.split(BOUNDARY).map((part) => part.toLowerCase())
  return parts.length === 2 && SEVERAL_CAPITALISED.test(run) ? [...parts, parts.join('')] : parts
}

function getPairs(run: string): string[] {
  const characters = Array.from(run)
  if (characters.length < 3) return [run]
  return characters.slice(1).map((character, i) => characters[i]! + character)
}

function kept<Value>(cache: Map<string, Value>, key: string, value: Value): Value {
  if (cache.size >= CACHE_SIZE) cache.clear()
  cache.set(key, value)
  return value
}
