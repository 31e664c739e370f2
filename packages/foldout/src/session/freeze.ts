/**
 * Freezes what a value does not share with the one before it, and returns it. A reducer that changed the old state in
 * place would reach into snapshots, transactions and other sessions; this makes it throw instead. It keeps a list of what
 * is left to do rather than calling itself, so that no depth of a state can exhaust the stack.
 */
export function freezeChanges<T>(value: T, before?: unknown): T {
  if (value === before || !isFreezable(value)) return value
  const waiting: Pair[] = []
  freezeOne(value, before, waiting)
  for (let next = waiting.pop(); next; next = waiting.pop()) freezeOne(next.value, next.before, waiting)
  return value
}

interface Pair {
  readonly value: object
  readonly before: unknown
}

function freezeOne(value: object, before: unknown, waiting: Pair[]): void {
  if (Array.isArray(value)) {
    const old: readonly unknown[] = Array.isArray(before) ? before : NOTHING
    for (let i = 0; i < value.length; i++) {
      const inner: unknown = value[i]
      if (inner !== old[i] && isFreezable(inner)) waiting.push({ value: inner, before: old[i] })
    }
    // Last, because reading a frozen list is slower.
    Object.freeze(value)
  } else if (isPlain(value)) {
    Object.freeze(value)
    for (const key of Object.keys(value)) {
      const inner = (value as Record<string, unknown>)[key]
      const old = (before as Record<string, unknown> | null | undefined)?.[key]
      if (inner !== old && isFreezable(inner)) waiting.push({ value: inner, before: old })
    }
  }
}

const NOTHING: readonly unknown[] = []

function isFreezable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Object.isFrozen(value)
}

// Freezing anything else would break it: a Map changes all the same, a typed array refuses.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
