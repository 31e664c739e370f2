import { isPlainObject } from '../../core/json/json.ts'
import { toVisiblePattern, toVisibleText } from '../../core/visible-text.ts'
import { MAX_SCHEMA_DEPTH, MAX_SCHEMA_LENGTH, MAX_SCHEMA_VALUES } from '../limits.ts'

export type CopiedJson =
  | { readonly copy: Readonly<Record<string, unknown>>; readonly isCleaned: boolean }
  /** What is wrong with it, to be put behind "Its schema". */
  | { readonly fault: string }

/** An object or a list that is still to be copied, and its copy so far. */
interface Work {
  readonly given: object
  readonly copy: Record<string, unknown> | unknown[]
  readonly depth: number
  readonly hasPatternsAsNames: boolean
}

const NOT_JSON = 'is not a JSON object'

/**
 * Copies an object that a source gave, as JSON would. The copy is of bounded size and depth, so that everything behind it may
 * walk through it. Getters and proxies run here and nowhere else; what they throw is thrown. A copy that models read has
 * visible text only.
 */
export function copyJson(given: unknown, options: { readonly forModels: boolean }): CopiedJson {
  if (!isPlainObject(given)) return { fault: NOT_JSON }
  const root: Record<string, unknown> = {}
  const copying = { ...options, values: 0, length: 0, isCleaned: false }
  const work: Work[] = [{ given, copy: root, depth: 1, hasPatternsAsNames: false }]
  for (let next = work.pop(); next; next = work.pop()) {
    const { given: from, copy, depth, hasPatternsAsNames } = next
    if (depth > MAX_SCHEMA_DEPTH) return { fault: `is nested more than ${MAX_SCHEMA_DEPTH} levels deep` }
    for (const key of Object.keys(from)) {
      const value: unknown = (from as Record<string, unknown>)[key]
      const name = clean(key, hasPatternsAsNames, copying)
      copying.length += name.length
      if (++copying.values > MAX_SCHEMA_VALUES) return { fault: `has more than ${MAX_SCHEMA_VALUES} values` }
      if (typeof value === 'bigint') return { fault: NOT_JSON }
      if (isLeftOutByJson(value) && !Array.isArray(copy)) continue
      if (typeof value !== 'object' || value === null) {
        const leaf = typeof value === 'string' ? clean(value, key === 'pattern', copying) : toLeaf(value)
        copying.length += typeof leaf === 'string' ? leaf.length : 5
        put(copy, name, leaf)
        continue
      }
      const inner = Array.isArray(value) ? [] : {}
      // Two names that differ in what cannot be seen are one: the first is kept.
      if (!put(copy, name, inner)) continue
      work.push({ given: value, copy: inner, depth: depth + 1, hasPatternsAsNames: key === 'patternProperties' })
    }
    if (copying.length > MAX_SCHEMA_LENGTH) return { fault: `has more than ${MAX_SCHEMA_LENGTH} characters` }
  }
  return { copy: root, isCleaned: copying.isCleaned }
}

function clean(text: string, isPattern: boolean, copying: { readonly forModels: boolean; isCleaned: boolean }): string {
  if (!copying.forModels) return text
  const seen = isPattern ? toVisiblePattern(text) : toVisibleText(text)
  // Another way of breaking lines is no reason to speak of it.
  if (seen !== text && !text.includes('\r')) copying.isCleaned = true
  return seen
}

function isLeftOutByJson(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol'
}

function toLeaf(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'boolean' ? value : null
}

/** Whether it was put there: not if the name is taken. */
function put(copy: Record<string, unknown> | unknown[], name: string, value: unknown): boolean {
  if (Array.isArray(copy)) return copy.push(value) > 0
  if (Object.hasOwn(copy, name)) return false
  // Assigning to `__proto__` would not make a field.
  if (name === '__proto__')
    Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true })
  else copy[name] = value
  return true
}
