import { deferPattern } from '../../../core/defer-pattern.ts'

/** Formats a value as JSON in one line; `undefined` if JSON cannot represent it. */
export function literal(value: unknown): string | undefined {
  try {
    const json = JSON.stringify(value) as string | undefined
    return json?.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  } catch {
    return undefined
  }
}

const getIdentifier = deferPattern(String.raw`^[\p{ID_Start}$_][\p{ID_Continue}$]*$`, 'u')

/** Formats the name of a field: quoted unless it is an identifier. */
export function fieldName(name: string): string {
  if (getIdentifier().test(name)) return name
  return literal(name) ?? name
}

const getBlanks = deferPattern(String.raw`[\s\p{Cc}]+`, 'gu')

/** Removes line breaks and control characters from a text. */
export function oneLine(text: string): string {
  return text.replace(getBlanks(), ' ').trim()
}
