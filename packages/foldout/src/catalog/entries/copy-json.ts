import { isObject } from 'foldout-shared/values'
import { isPlainJson, toVisiblePattern, toVisibleText } from '../../core/visible-text.ts'
import { MAX_SCHEMA_DEPTH, MAX_SCHEMA_LENGTH, MAX_SCHEMA_VALUES } from '../limits.ts'

type Fields = Record<string, unknown>

export type CopiedJson =
  | { readonly copy: Fields }
  /** The fault, as the end of a sentence that begins with "Its schema". */
  | { readonly fault: string }

const NOT_JSON = 'is not a JSON object'

/** The state of a copy in progress. */
interface Copying {
  values: number
  length: number
  /** Once set, nothing more is copied. */
  fault: string | undefined
}

/**
 * Copies an object from a source the way JSON would. The size and depth of the copy are bounded, so later code may walk it
 * freely. Getters and proxies run here and nowhere else; an error that they throw is passed on.
 */
export function copyJson(given: unknown): CopiedJson {
  if (!isObject(given)) return { fault: NOT_JSON }
  const copying: Copying = { values: 0, length: 0, fault: undefined }
  const copy = copyObject(given, 1, copying)
  checkLength(copying)
  if (copying.fault === undefined) return { copy }
  return { fault: copying.fault }
}

// Recursion is fastest, and the depth is bounded. Spreading runs each getter once and keeps the shape of the object,
// which is several times as fast as adding one field after another.
function copyObject(given: object, depth: number, copying: Copying): Fields {
  if (isTooDeep(depth, copying)) return {}
  const copy: Fields = { ...given }
  for (const name of Object.keys(copy)) {
    const value = copy[name]
    const copied = copyValue(value, depth + 1, copying)
    if (copying.fault !== undefined) return copy
    copying.length += name.length
    if (isLeftOutByJson(value)) delete copy[name]
    else if (copied !== value) setField(copy, name, copied)
  }
  return copy
}

function copyList(given: readonly unknown[], depth: number, copying: Copying): unknown[] {
  const copy: unknown[] = []
  if (isTooDeep(depth, copying)) return copy
  for (let index = 0; index < given.length && copying.fault === undefined; index++)
    copy.push(copyValue(given[index], depth + 1, copying))
  return copy
}

function copyValue(value: unknown, depth: number, copying: Copying): unknown {
  if (++copying.values > MAX_SCHEMA_VALUES) copying.fault ??= `has more than ${MAX_SCHEMA_VALUES} values`
  checkLength(copying)
  if (typeof value === 'bigint') copying.fault ??= NOT_JSON
  if (copying.fault !== undefined) return undefined
  if (typeof value === 'string') {
    copying.length += value.length
    return value
  }
  if (Array.isArray(value)) return copyList(value, depth, copying)
  if (typeof value === 'object' && value !== null) return copyObject(value, depth, copying)
  copying.length += 5
  if (typeof value === 'boolean' || Number.isFinite(value)) return value
  return null
}

function checkLength(copying: Copying): void {
  if (copying.length > MAX_SCHEMA_LENGTH) copying.fault ??= `has more than ${MAX_SCHEMA_LENGTH} characters`
}

function isTooDeep(depth: number, copying: Copying): boolean {
  if (depth <= MAX_SCHEMA_DEPTH) return false
  copying.fault ??= `is nested more than ${MAX_SCHEMA_DEPTH} levels deep`
  return true
}

function isLeftOutByJson(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol'
}

function setField(fields: Fields, name: string, value: unknown): void {
  // Assigning to `__proto__` would not create a field.
  if (name === '__proto__')
    Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true })
  else fields[name] = value
}

/** Removes invisible characters from the texts and names of a copy, for models. Returns whether there were any. */
export function cleanCopy(copy: Fields): { readonly copy: Fields; readonly isCleaned: boolean } {
  // Nearly all are plain, and one look at the whole takes a fraction of the time of a look at each text.
  if (isPlainJson(copy)) return { copy, isCleaned: false }
  const cleaning = { isCleaned: false }
  return { copy: cleanObject(copy, '', cleaning), isCleaned: cleaning.isCleaned }
}

interface Cleaning {
  isCleaned: boolean
}

/** Cleans an object in place, or returns another one if a name has to change. `key` is the field that it is in. */
function cleanObject(fields: Fields, key: string, cleaning: Cleaning): Fields {
  const hasPatternsAsNames = key === 'patternProperties'
  const names = Object.keys(fields)
  let isRenamed = false
  for (const name of names) {
    if (cleanText(name, hasPatternsAsNames, cleaning) !== name) isRenamed = true
    const value = fields[name]
    const cleaned = cleanValue(value, name, cleaning)
    if (cleaned !== value) setField(fields, name, cleaned)
  }
  if (!isRenamed) return fields
  const renamed: Fields = {}
  for (const name of names) {
    const visible = cleanText(name, hasPatternsAsNames, cleaning)
    // Two names that differ only in invisible characters become one; the first is kept.
    if (!Object.hasOwn(renamed, visible)) setField(renamed, visible, fields[name])
  }
  return renamed
}

function cleanValue(value: unknown, key: string, cleaning: Cleaning): unknown {
  if (typeof value === 'string') return cleanText(value, key === 'pattern', cleaning)
  if (Array.isArray(value)) return value.map((item: unknown) => cleanValue(item, '', cleaning))
  if (isObject(value)) return cleanObject(value, key, cleaning)
  return value
}

function cleanText(text: string, isPattern: boolean, cleaning: Cleaning): string {
  const visible = isPattern ? toVisiblePattern(text) : toVisibleText(text)
  // Normalized line breaks are not reported.
  if (visible !== text && !text.includes('\r')) cleaning.isCleaned = true
  return visible
}
