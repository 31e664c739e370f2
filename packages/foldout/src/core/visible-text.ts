import { deferPattern } from './defer-pattern.ts'

/**
 * Removes the invisible parts of a foreign text. Invisible characters can carry instructions that a human reviewer does not
 * see, and direction controls can make the text read differently.
 *
 * Removed: control characters except tabs and line breaks, tag characters, direction controls, zero-width characters,
 * variation selectors, fillers and all other characters without a glyph. Kept where they affect visible text: joiners inside
 * an emoji and between letters of scripts that need them, the selector after an emoji, and the flags of England, Scotland
 * and Wales.
 */
export function toVisibleText(text: string): string {
  if (PLAIN.test(text)) return text
  const lines = text.replaceAll(getHalfCharacters(), '\uFFFD').replaceAll(LINE_BREAKS, '\n')
  const kept: string[] = []
  let before = ''
  let from = 0
  const keep = (piece: string): void => {
    if (piece === '') return
    kept.push(piece)
    before = getLastCharacter(piece)
  }
  for (const match of lines.matchAll(getFlagsOrInvisible())) {
    const [found, flag] = match
    const end = match.index + found.length
    keep(lines.slice(from, match.index))
    // Removed characters do not count as neighbors; otherwise, cleaning a text twice would remove more.
    const after = String.fromCodePoint(lines.codePointAt(end) ?? 0)
    if (flag !== undefined || belongsToShape(found, before, after)) keep(found)
    from = end
  }
  keep(lines.slice(from))
  return kept.join('')
}

/**
 * Does the same for a regular expression, but escapes invisible characters, because removing them would change its
 * meaning.
 */
export function toVisiblePattern(pattern: string): string {
  if (PLAIN.test(pattern)) return pattern
  const escape = (found: string): string => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`
  return pattern.replaceAll(getHalfCharacters(), '\uFFFD').replaceAll(getInvisible(), escape)
}

/** Whether the texts and names of JSON data have only characters that are certainly visible. The data must not be circular. */
export function isPlainJson(data: object): boolean {
  const text = JSON.stringify(data)
  return !/[^ -~]/.test(text) && !ESCAPED.test(text)
}

/** Any escape but those of quotation marks, backslashes, tabs and line breaks. Before it is an even number of backslashes. */
const ESCAPED = /(?<!\\)(?:\\\\)*\\[^"\\nt]/
const PLAIN = /^[\t\n -~]*$/
const getHalfCharacters = deferPattern(String.raw`\p{Surrogate}`, 'gu')
const LINE_BREAKS = /\r\n?|[\u2028\u2029\u0085\v\f]/g

/** Characters without a glyph. The number signs of Arabic, Syriac and Kaithi are in the same class but have one. */
const INVISIBLE = String.raw`(?![\t\n\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]`
const getInvisible = deferPattern(INVISIBLE, 'gu')

/** The three flags that use tag characters. Any other sequence of tag characters is hidden text. */
const FLAGS = ['gbeng', 'gbsct', 'gbwls'].map((region) => `\u{1F3F4}${Array.from(region, toTag).join('')}\u{E007F}`)
const getFlagsOrInvisible = deferPattern(`(${FLAGS.join('|')})|${INVISIBLE}`, 'gu')

function toTag(letter: string): string {
  return String.fromCodePoint(0xe0000 + letter.charCodeAt(0))
}

const ZERO_WIDTH_NON_JOINER = '\u200C'
const ZERO_WIDTH_JOINER = '\u200D'
const getEmoji = deferPattern(String.raw`^\p{Extended_Pictographic}$`, 'u')
const getEmojiOrPart = deferPattern(String.raw`^[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F]$`, 'u')
const KEYCAP = '\u20E3'
/** Letters and marks of scripts in which joiners change the appearance of a word. */
const getJoinedLetter = deferPattern(
  String.raw`^(?=[\p{L}\p{M}])(?!\p{Default_Ignorable_Code_Point})[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]$`,
  'u',
)

/** Whether an invisible character belongs to the visible text around it. */
function belongsToShape(found: string, before: string, after: string): boolean {
  const isJoiner = found === ZERO_WIDTH_JOINER || found === ZERO_WIDTH_NON_JOINER
  const isSelector = found === '\uFE0E' || found === '\uFE0F'
  if (!isJoiner && !isSelector) return false
  if (isSelector) return getEmoji().test(before) || (/^[\d#*]$/.test(before) && after === KEYCAP)
  if (getJoinedLetter().test(before) && getJoinedLetter().test(after)) return true
  return found === ZERO_WIDTH_JOINER && getEmojiOrPart().test(before) && getEmoji().test(after)
}

function getLastCharacter(text: string): string {
  const last = text.at(-1) ?? ''
  if (/[\uDC00-\uDFFF]/.test(last)) return text.slice(-2)
  return last
}
