/** JSON in one line, or `undefined` for what has none. */
export function literal(value: unknown): string | undefined {
  try {
    const json = JSON.stringify(value) as string | undefined
    return json?.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  } catch {
    return undefined
  }
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

/** A name as it stands before a colon: quoted unless it is an identifier. */
export function fieldName(name: string): string {
  return IDENTIFIER.test(name) ? name : literal(name)!
}

/** A text without line breaks and control characters. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
}
