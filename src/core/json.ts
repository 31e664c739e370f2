export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export type JsonObject = { readonly [key: string]: Json }

/**
 * Where a value first is something that JSON cannot carry without loss, in words (`"a Date at .items[2].when"`), or
 * `undefined` if it comes back as it was.
 */
export function notJson(value: unknown): string | undefined {
  return findNotJson(value, '', new Set())
}

function findNotJson(value: unknown, at: string, above: Set<object>): string | undefined {
  const here = (what: string): string => `${what} at ${at || 'the top'}`
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
        ? undefined
        : here(Object.is(value, -0) ? '-0' : String(value))
    case 'object':
      break
    default:
      return here(value === undefined ? 'undefined' : `a ${typeof value}`)
  }
  if (value === null) return undefined
  if (above.has(value)) return here('a cycle')
  above.add(value)
  try {
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        const found = findNotJson(value[i], `${at}[${i}]`, above)
        if (found) return found
      }
      return undefined
    }
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) {
      return here(`a ${value.constructor?.name || 'class instance'}`)
    }
    for (const [key, inner] of Object.entries(value)) {
      const found = findNotJson(inner, `${at}.${key}`, above)
      if (found) return found
    }
    return undefined
  } finally {
    above.delete(value)
  }
}

/** JSON with the keys of every object in order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isPlainObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  )
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Freezes a tree of plain objects and lists, and gives it back. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}
