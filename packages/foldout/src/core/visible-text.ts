/**
 * Keeps what a reader can see of a text that somebody else wrote. Invisible characters can carry instructions that a person who
 * reviews the text does not see, and controls of direction can make it read as another one.
 *
 * Removed: control characters but tabs and line breaks, tag characters, controls of direction, zero-width characters, variation
 * selectors, fillers and everything else that has no shape of its own. Kept where they belong to what is seen: joiners inside an
 * emoji and between letters of scripts that need them, the selector behind an emoji, and the flags of England, Scotland and Wales.
 */
export function toVisibleText(text: string): string {
  if (PLAIN.test(text)) return text
  const lines = text.replaceAll(HALF_CHARACTERS, '\uFFFD').replaceAll(LINE_BREAKS, '\n')
  const kept: string[] = []
  let before = ''
  let from = 0
  const keep = (piece: string): void => {
    if (piece === '') return
    kept.push(piece)
    before = getLastCharacter(piece)
  }
  for (const match of lines.matchAll(FLAGS_OR_INVISIBLE)) {
    const [found, flag] = match
    const end = match.index + found.length
    keep(lines.slice(from, match.index))
    // What was left out does not count as a neighbor, or cleaning a text twice would leave out more.
    const after = String.fromCodePoint(lines.codePointAt(end) ?? 0)
    if (flag !== undefined || belongsToShape(found, before, after)) keep(found)
    from = end
  }
  keep(lines.slice(from))
  return kept.join('')
}

/** The same for a regular expression, in which leaving a character out would mean something else: it is escaped. */
export function toVisiblePattern(pattern: string): string {
  if (PLAIN.test(pattern)) return pattern
  const escape = (found: string): string => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`
  return pattern.replaceAll(HALF_CHARACTERS, '\uFFFD').replaceAll(INVISIBLE, escape)
}

const PLAIN = /^[\t\n -~]*$/
const HALF_CHARACTERS = /\p{Surrogate}/gu
const LINE_BREAKS = /\r\n?|[\u2028\u2029\u0085\v\f]/g

/** What has no shape. The signs before numbers in Arabic, Syriac and Kaithi are of the same kind and have one. */
const INVISIBLE =
  /(?![\t\n\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** The three flags that are written with tag characters; in any other order these spell a hidden text. */
const FLAGS = ['gbeng', 'gbsct', 'gbwls'].map((region) => `\u{1F3F4}${Array.from(region, toTag).join('')}\u{E007F}`)
const FLAGS_OR_INVISIBLE = new RegExp(`(${FLAGS.join('|')})|${INVISIBLE.source}`, 'gu')

function toTag(letter: string): string {
  return String.fromCodePoint(0xe0000 + letter.charCodeAt(0))
}

const ZERO_WIDTH_NON_JOINER = '\u200C'
const ZERO_WIDTH_JOINER = '\u200D'
const EMOJI = /^\p{Extended_Pictographic}$/u
const EMOJI_OR_PART = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F]$/u
const KEYCAP = '\u20E3'
/** Letters and marks of scripts in which joiners change what a word looks like. */
const JOINED_LETTER =
  /^(?=[\p{L}\p{M}])(?!\p{Default_Ignorable_Code_Point})[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]$/u

/** Whether an invisible character is part of what is seen around it. */
function belongsToShape(found: string, before: string, after: string): boolean {
  const isJoiner = found === ZERO_WIDTH_JOINER || found === ZERO_WIDTH_NON_JOINER
  const isSelector = found === '\uFE0E' || found === '\uFE0F'
  if (!isJoiner && !isSelector) return false
  if (isSelector) return EMOJI.test(before) || (/^[\d#*]$/.test(before) && after === KEYCAP)
  if (JOINED_LETTER.test(before) && JOINED_LETTER.test(after)) return true
  return found === ZERO_WIDTH_JOINER && EMOJI_OR_PART.test(before) && EMOJI.test(after)
}

function getLastCharacter(text: string): string {
  const last = text.at(-1) ?? ''
  return /[\uDC00-\uDFFF]/.test(last) ? text.slice(-2) : last
}
