import { createHash } from 'node:crypto'
import { isObject } from 'foldout-shared/values'

/**
 * Equal for equal JSON, regardless of field order.
 *
 * @throws RangeError if it is nested too deeply to serialize.
 */
export function hashJson(value: unknown): string {
  return hashText(JSON.stringify(value, sortFields) ?? 'null')
}

export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function sortFields(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
