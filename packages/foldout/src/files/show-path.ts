/**
 * Characters that a name can contain but a line of an answer must not: control characters and all kinds of line breaks,
 * which would forge lines, and invisible characters, which would hide or reorder text.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu

/** Formats a path as one line of an answer. Invisible characters are escaped, as `\n` or `\u{202e}`. */
export function showPath(path: string): string {
  return path.replaceAll(HIDDEN, escapeCharacter)
}

/** Formats a line of a file as one line of an answer. Tabs and the invisible parts of emoji stay. */
export function showLine(line: string): string {
  return line.replaceAll(/[^\P{Cc}\t]|[\p{Zl}\p{Zp}]/gu, escapeCharacter)
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n'
  if (character === '\r') return '\\r'
  if (character === '\t') return '\\t'
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
}
