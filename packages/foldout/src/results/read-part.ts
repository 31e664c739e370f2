import { outlineJson } from './outline.ts'
import { readJson } from './read-json.ts'
import { readText } from './read-text.ts'
import type { Reading, ReadingAnswer } from './reading.ts'

/**
 * Reads part of a text: lines, characters, what matches a pattern, or items of JSON. Searches have limits, so a pattern
 * or a path cannot take forever.
 *
 * @example
 * ```ts
 * const answer = await readPart('one\ntwo', { grep: 't', from: 1, ignoreCase: false, characters: 100 })
 * 'fault' in answer ? [] : answer.entries.map(({ text }) => text) // => [ 'two' ]
 * ```
 */
export async function readPart(text: string, reading: Reading, isJson?: boolean): Promise<ReadingAnswer> {
  const wantsItems = reading.path !== undefined || reading.unit === 'items'
  const value = isJson === false ? undefined : parseJson(text)
  if (!value) {
    if (wantsItems) return { fault: 'This result is text, not JSON. Read it with grep, or by lines or characters.' }
    return readText(text, reading)
  }
  const isItems = wantsItems || reading.unit === undefined
  if (isItems) return readJson(value.json, reading)
  return readText(text, reading)
}

/**
 * Describes the shape of a text that is a JSON object or list, a line for each path; `undefined` for any other text.
 *
 * @example
 * ```ts
 * outlineText('[1, 2]') // => '$: list of 2\n$[*]: number'
 * ```
 */
export function outlineText(text: string): string | undefined {
  const value = parseJson(text)
  return value && outlineJson(value.json)
}

/** Parses an object or a list. Any other value is read as text. */
export function parseJson(text: string): { readonly json: object } | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return { json: JSON.parse(text) as object }
  } catch {
    return undefined
  }
}
