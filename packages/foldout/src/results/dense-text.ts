import { deferPattern } from '../core/defer-pattern.ts'

/**
 * The tokens that the library's estimate misses. It is made for prose and code: it takes whitespace for part of the words around it, and
 * a long word for one of a natural language. A result may be a table padded with spaces, base64, or nothing but empty lines.
 */
export function countMissedTokens(text: string): number {
  let tokens = 0
  for (const { 0: run } of text.matchAll(SPACE_RUNS)) tokens += countSpace(run)
  for (const { 0: run } of text.matchAll(ASCII_RUNS)) tokens += countWord(run)
  for (const { 0: run } of text.matchAll(getOtherRuns())) tokens += run.length * (OTHER_RATE - ESTIMATED_RATE)
  return tokens
}

/** One space between two words is part of a word. */
const SPACE_RUNS = /\s{2,}/g

const ASCII_RUNS = /[A-Za-z0-9]{8,}/g

/** Scripts without spaces, except for Chinese, Japanese and Korean, which the estimate knows. */
const getOtherRuns = deferPattern(String.raw`[^\p{ASCII}\s\u2E80-\uD7FF\uFF00-\uFFEF]{16,}`, 'gu')

/** What the estimate counts for a character of a long word. */
const ESTIMATED_RATE = 1 / 7
const OTHER_RATE = 1 / 2
/** Letters and digits in no order, such as base64 and hexadecimal numbers. */
const RANDOM_RATE = 1 / 1.6
/** Words that are joined, or letters in no order. */
const LONG_RATE = 1 / 3.5
/** The length of a word that is hardly one word. */
const LONG_WORD = 32

function countWord(run: string): number {
  if (isRandom(run)) return run.length * (RANDOM_RATE - ESTIMATED_RATE)
  if (run.length >= LONG_WORD && /[A-Za-z]/.test(run)) return run.length * (LONG_RATE - ESTIMATED_RATE)
  return 0
}

/** Whether digits are among letters, rather than before or after them as in a name with a number. */
function isRandom(run: string): boolean {
  return /\d[A-Za-z]+\d/.test(run)
}

/** Tokenizers have tokens for many of the same character, but not for mixed ones. */
function countSpace(run: string): number {
  let tokens = run.includes('\n') ? 0 : 1
  let last = run[0]
  for (const character of run) {
    tokens += SPACE_RATES.get(character) ?? OTHER_SPACE_RATE
    const isLineEnd = last === '\r' && character === '\n'
    if (character !== last && !isLineEnd) tokens += MIXED_SPACE_RATE
    last = character
  }
  return tokens
}

const SPACE_RATES: ReadonlyMap<string, number> = new Map([
  [' ', 1 / 64],
  ['\n', 1 / 16],
  ['\r', 1 / 16],
  ['\t', 1 / 16],
])
const OTHER_SPACE_RATE = 1 / 4
const MIXED_SPACE_RATE = 1 / 4
