export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export type JsonObject = { readonly [key: string]: Json }

/**
 * Where a value first is something that JSON cannot carry without loss, in words (`"a Date at .items[2].when"`), or
 * `undefined` if it comes back as it was.
 */
export function notJson(value: unknown): string | undefined {
  const loss = findLoss(value, new Set())
  return loss && `${loss.what} at ${loss.path || 'the top'}`
}

interface Loss {
  readonly what: string
  readonly path: string
}

// The path is put together on the way back, so that looking through what is fine costs no strings.
function findLoss(value: unknown, above: Set<object>): Loss | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined
  if (typeof value === 'number') {
    if (Object.is(value, -0)) return { what: '-0', path: '' }
    return Number.isFinite(value) ? undefined : { what: String(value), path: '' }
  }
  if (typeof value !== 'object') return { what: value === undefined ? 'undefined' : `a ${typeof value}`, path: '' }
  if (above.has(value)) return { what: 'a cycle', path: '' }
  above.add(value)
  const loss = Array.isArray(value) ? findLossInList(value, above) : findLossInObject(value, above)
  above.delete(value)
  return loss
}

function findLossInList(list: readonly unknown[], above: Set<object>): Loss | undefined {
  for (let i = 0; i < list.length; i++) {
    const loss = findLoss(list[i], above)
    if (loss) return { what: loss.what, path: `[${i}]${loss.path}` }
  }
  return undefined
}

function findLossInObject(object: object, above: Set<object>): Loss | undefined {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) {
    return { what: `a ${object.constructor?.name || 'class instance'}`, path: '' }
  }
  for (const key of Object.keys(object)) {
    const loss = findLoss((object as Record<string, unknown>)[key], above)
    if (loss) return { what: loss.what, path: `.${key}${loss.path}` }
  }
  return undefined
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
