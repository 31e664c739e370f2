/** Characters without a glyph, and those that change the direction of text. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}\p{Default_Ignorable_Code_Point}]/gu

/** A text without its invisible characters. */
export function toVisible(text: string): string {
  return text.replaceAll(INVISIBLE, '')
}

/** Spells out the invisible characters of a text, so that a person can see them. Line breaks and tabs stay. */
export function showInvisible(text: string): string {
  return text.replaceAll(INVISIBLE, (found) => {
    if (found === '\n' || found === '\t') return found
    return `<U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`
  })
}
