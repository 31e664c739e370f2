import { isObject } from 'foldout-shared/values'
import { MAX_JSON_DEPTH, MAX_NESTING } from './limits.ts'

/**
 * A value that JSON can represent.
 *
 * @example
 * ```ts
 * const value: Json = { city: 'Oslo', days: [1, 2, 3], isSunny: null }
 * ```
 */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/**
 * An object that JSON can represent.
 *
 * @example
 * ```ts
 * const state: JsonObject = { items: ['tea'], total: 4.5 }
 * ```
 */
export type JsonObject = { readonly [key: string]: Json }

/**
 * Describes the first part of a value that JSON would lose or change (`"a Date at .items[2].when"`), or returns `undefined`
 * if JSON preserves the value. Anything nested more than {@link MAX_NESTING} levels deep counts as lost.
 */
export function notJson(value: unknown): string | undefined {
  const loss = findLoss(value, new Set())
  return loss && `${loss.what} at ${shortenPath(loss.path) || 'the top'}`
}

/**
 * Returns a value as JSON keeps it: without undefined properties, and with `-0` (which valid JSON text can contain) as
 * `0`. Returns `undefined` if anything else would be lost or changed.
 */
export function toJson(value: unknown): Json | undefined {
  let isLost = false
  try {
    const text = JSON.stringify(value, (_key, inner: unknown) => {
      isLost ||= typeof inner === 'number' ? !Number.isFinite(inner) : LOST_TYPES.has(typeof inner)
      return inner
    })
    if (isLost || text === undefined) return undefined
    return JSON.parse(text) as Json
  } catch {
    // A cycle, a bigint, a getter that throws, or excessive nesting.
    return undefined
  }
}

const LOST_TYPES: ReadonlySet<string> = new Set(['bigint', 'function', 'symbol'])

interface Loss {
  readonly what: string
  readonly path: string
}

// Recursion is fastest, and it is bounded: `above` has one member per level. The path is built on the way back, so
// checking a valid value creates no strings.
function findLoss(value: unknown, above: Set<object>): Loss | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return undefined
  if (typeof value === 'number') {
    if (Object.is(value, -0)) return { what: '-0', path: '' }
    if (Number.isFinite(value)) return undefined
    return { what: String(value), path: '' }
  }
  if (typeof value !== 'object') return { what: value === undefined ? 'undefined' : `a ${typeof value}`, path: '' }
  if (above.has(value)) return { what: 'a cycle', path: '' }
  if (above.size >= MAX_NESTING) {
    return { what: `something nested more than ${MAX_NESTING.toLocaleString('en')} levels deep`, path: '' }
  }
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
    return { what: `a ${getClassName(prototype)}`, path: '' }
  }
  for (const key of Object.keys(object)) {
    const loss = findLoss((object as Record<string, unknown>)[key], above)
    if (loss) return { what: loss.what, path: `.${key}${loss.path}` }
  }
  return undefined
}

function getClassName(prototype: unknown): string {
  const made: unknown = (prototype as { readonly constructor?: unknown }).constructor
  return (typeof made === 'function' && made.name) || 'class instance'
}

const MAX_SHOWN_PATH = 200

function shortenPath(path: string): string {
  if (path.length <= MAX_SHOWN_PATH) return path
  return `${path.slice(0, MAX_SHOWN_PATH / 2)}…${path.slice(-MAX_SHOWN_PATH / 2)}`
}

/** Formats JSON with the keys of every object sorted, so equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (isInOrder(value, 0)) return JSON.stringify(value)
  return JSON.stringify(value, (_key, inner: unknown) => (isObject(inner) ? sortKeys(inner) : inner))
}

/**
 * Whether all keys are already sorted. Checking saves a copy, because most objects are written once and hashed often.
 */
function isInOrder(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth > MAX_JSON_DEPTH || 'toJSON' in value) return false
  if (Array.isArray(value)) return value.every((inner) => isInOrder(inner, depth + 1))
  let last = ''
  for (const key of Object.keys(value)) {
    if (key < last || !isInOrder((value as Record<string, unknown>)[key], depth + 1)) return false
    last = key
  }
  return true
}

function sortKeys(object: Record<string, unknown>): Record<string, unknown> {
  // No prototype, so `__proto__` is an ordinary key.
  const sorted = Object.create(null) as Record<string, unknown>
  for (const key of Object.keys(object).sort()) sorted[key] = object[key]
  return sorted
}

/** Whether two values of any depth have the same JSON, including key order. */
export function isSameJson(a: unknown, b: unknown): boolean {
  const waiting: [unknown, unknown][] = [[a, b]]
  for (let pair = waiting.pop(); pair; pair = waiting.pop()) {
    const [one, other] = pair
    if (Object.is(one, other)) continue
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
    if (Array.isArray(one) !== Array.isArray(other)) return false
    const keys = Object.keys(one)
    const others = Object.keys(other)
    if (keys.length !== others.length) return false
    for (const [i, key] of keys.entries()) {
      if (others[i] !== key) return false
      waiting.push([(one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]])
    }
  }
  return true
}

/** Freezes a tree of plain objects and arrays of any depth, and returns it. */
export function deepFreeze<T>(value: T): T {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue
    Object.freeze(next)
    for (const inner of Object.values(next)) if (typeof inner === 'object' && inner !== null) waiting.push(inner)
  }
  return value
}

/** Parses a text as JSON. Returns `undefined` if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
