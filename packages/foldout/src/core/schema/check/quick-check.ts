import { isObject } from 'foldout-shared/values'
import type { SchemaObject } from './document.ts'
import { isOfKind, readKinds } from './value-keywords.ts'

/**
 * Whether a value surely satisfies a schema. `false` means that only the whole check can tell. Most arguments are small
 * and valid, and most schemas are simple, so the whole check is rarely needed; it creates several objects for every value.
 */
export type QuickCheck = (value: unknown, steps: QuickSteps) => boolean

/** How many more values may be looked at. */
export interface QuickSteps {
  left: number
}

const MAX_QUICK_STEPS = 200
const MAX_QUICK_DEPTH = 16

/** Keywords that do not affect what is valid. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema',
  '$comment',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
])

/** Compiles the quick check of a keyword, or returns `undefined` if there is none. */
type QuickKeyword = (value: unknown, schema: SchemaObject, depth: number) => QuickCheck | undefined

const KEYWORDS: ReadonlyMap<string, QuickKeyword> = new Map<string, QuickKeyword>([
  ['type', checkType],
  ['enum', checkEnum],
  ['required', checkRequired],
  ['properties', checkProperties],
  ['additionalProperties', checkAdditional],
  ['items', checkItems],
  ['minimum', (limit) => checkNumber(limit, (value, least) => value >= least)],
  ['maximum', (limit) => checkNumber(limit, (value, most) => value <= most)],
])

const unsure: QuickCheck = () => false

/** Creates the quick check of a whole schema. */
export function createQuickCheck(schema: unknown): (value: unknown) => boolean {
  let check: QuickCheck | undefined
  return (value) => {
    check ??= compileQuickCheck(schema, 0)
    return check(value, { left: MAX_QUICK_STEPS })
  }
}

function compileQuickCheck(schema: unknown, depth: number): QuickCheck {
  if (!isObject(schema) || depth > MAX_QUICK_DEPTH) return unsure
  const checks: QuickCheck[] = []
  for (const keyword of Object.keys(schema)) {
    if (ANNOTATIONS.has(keyword)) continue
    const check = KEYWORDS.get(keyword)?.(schema[keyword], schema, depth)
    if (!check) return unsure
    checks.push(check)
  }
  return (value, steps) => steps.left-- > 0 && checks.every((check) => check(value, steps))
}

function checkType(value: unknown): QuickCheck | undefined {
  const kinds = readKinds(value)
  if (kinds.length === 0) return undefined
  return (one) => kinds.some((kind) => isOfKind(one, kind))
}

function checkEnum(value: unknown): QuickCheck | undefined {
  if (!Array.isArray(value)) return undefined
  const values: ReadonlySet<unknown> = new Set(value)
  return (one) => (typeof one !== 'object' || one === null) && values.has(one)
}

function checkRequired(value: unknown): QuickCheck | undefined {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) return undefined
  return (one) => isObject(one) && value.every((name) => Object.hasOwn(one, name))
}

function checkProperties(schemas: unknown, _schema: SchemaObject, depth: number): QuickCheck | undefined {
  if (!isObject(schemas)) return undefined
  // Compiled when needed: a schema may have thousands of properties, and a call has few.
  const compiled = new Map<string, QuickCheck>()
  return (one, steps) => {
    if (!isObject(one)) return false
    for (const name of Object.keys(one)) {
      if (!Object.hasOwn(schemas, name)) continue
      let check = compiled.get(name)
      if (!check) compiled.set(name, (check = compileQuickCheck(schemas[name], depth + 1)))
      if (!check(one[name], steps)) return false
    }
    return true
  }
}

function checkAdditional(value: unknown, { properties }: SchemaObject): QuickCheck | undefined {
  if (value !== false) return undefined
  const known = isObject(properties) ? properties : {}
  return (one) => isObject(one) && Object.keys(one).every((name) => Object.hasOwn(known, name))
}

function checkItems(schema: unknown, _schema: SchemaObject, depth: number): QuickCheck | undefined {
  if (Array.isArray(schema)) return undefined
  const check = compileQuickCheck(schema, depth + 1)
  return (one, steps) => Array.isArray(one) && one.every((item) => check(item, steps))
}

function checkNumber(limit: unknown, fits: (value: number, limit: number) => boolean): QuickCheck | undefined {
  if (typeof limit !== 'number') return undefined
  return (one) => typeof one === 'number' && fits(one, limit)
}
