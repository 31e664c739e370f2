/**
 * Freezes what a value does not share with the one before it, and gives it back. A reducer that changed the old state
 * in place would reach into snapshots, transactions and other sessions; this makes it throw instead.
 */
export function frozen<T>(value: T, before?: unknown): T {
  if (value === before || typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (Array.isArray(value)) {
    const old: readonly unknown[] = Array.isArray(before) ? before : NOTHING
    for (let i = 0; i < value.length; i++) if (value[i] !== old[i]) frozen(value[i], old[i])
    // Last, because reading a frozen list is slower.
    Object.freeze(value)
  } else if (isPlain(value)) {
    Object.freeze(value)
    for (const key of Object.keys(value)) {
      frozen((value as Record<string, unknown>)[key], (before as Record<string, unknown> | undefined)?.[key])
    }
  }
  return value
}

const NOTHING: readonly unknown[] = []

// Freezing anything else would break it: a Map changes all the same, a typed array refuses.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
