/**
 * Characters that a name can have and that a line of an answer cannot: control characters and line breaks of every kind,
 * which would forge lines, and invisible ones, which would hide text or turn its order round.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu

/** A path as one line of an answer: what cannot be seen is written out, as `\n` or `\u{202e}`. */
export function showPath(path: string): string {
  return path.replaceAll(HIDDEN, escapeCharacter)
}

/** A line of a file as one line of an answer. Tabs and the invisible parts of emoji stay. */
export function showLine(line: string): string {
  return line.replaceAll(/[^\P{Cc}\t]|[\p{Zl}\p{Zp}]/gu, escapeCharacter)
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n'
  if (character === '\r') return '\\r'
  if (character === '\t') return '\\t'
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}
