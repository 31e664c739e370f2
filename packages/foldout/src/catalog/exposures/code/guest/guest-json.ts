import { MAX_JSON_DEPTH } from '../../../../core/json/json-in-text.ts'
import type { Json } from '../../../../core/json/json.ts'

/**
 * Reads JSON that a program wrote, or says why it is rejected: deep nesting or a key `__proto__` could break host code.
 */
export function readGuestJson(text: string): { readonly value: Json } | { readonly problem: string } {
  if (isNestedDeeper(text, MAX_JSON_DEPTH)) return { problem: `it is nested deeper than ${MAX_JSON_DEPTH} levels` }
  try {
    // Checked only if the name may occur, possibly with escapes.
    if (/__proto__|\\u/.test(text) && hasPrototypeKey(text)) return { problem: "it has a key '__proto__'" }
    return { value: JSON.parse(text) as Json }
  } catch {
    return { problem: 'it is not JSON' }
  }
}

function isNestedDeeper(text: string, limit: number): boolean {
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
