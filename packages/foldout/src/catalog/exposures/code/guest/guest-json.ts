import { MAX_JSON_DEPTH } from '../../../../core/json/json-in-text.ts'

/** Why JSON from a program is not handed on, or `undefined` if it is. Programs of the host may trip over such values. */
export function problemOfJson(text: string): string | undefined {
  if (isDeeperThan(text, MAX_JSON_DEPTH)) return `it is nested deeper than ${MAX_JSON_DEPTH} levels`
  // Only if the name may stand in it, if need be in escapes.
  if (/__proto__|\\u/.test(text) && hasPrototypeKey(text)) return "it has a key '__proto__'"
  return undefined
}

function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (isInString) {
      if (char === 0x5c) at++
      else if (char === 0x22) isInString = false
    } else if (char === 0x22) isInString = true
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > limit) return true
    } else if (char === 0x5d || char === 0x7d) depth--
  }
  return false
}

function hasPrototypeKey(text: string): boolean {
  let found = false
  JSON.parse(text, (key, value: unknown) => {
    if (key === '__proto__') found = true
    return value
  })
  return found
}
