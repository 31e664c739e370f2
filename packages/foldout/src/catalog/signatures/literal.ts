/** Formats a value as JSON in one line; `undefined` if JSON cannot represent it. */
export function literal(value: unknown): string | undefined {
  try {
    const json = JSON.stringify(value) as string | undefined
    return json?.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  } catch {
    return undefined
  }
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

/** Formats the name of a field: quoted unless it is an identifier. */
export function fieldName(name: string): string {
  return IDENTIFIER.test(name) ? name : (literal(name) ?? name)
}

/** Removes line breaks and control characters from a text. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
}
