/**
 * Freezes the parts of a value that it does not share with the previous one, and returns the value. A reducer that
 * mutated the old state would also change snapshots, transactions and other sessions; with frozen state it throws
 * instead. The function is iterative, so deeply nested state cannot exhaust the stack.
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
    // Frozen last, because reading a frozen array is slower.
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

// Freezing other objects is useless or fails: a frozen Map still changes, and a typed array cannot be frozen.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
