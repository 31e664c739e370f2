import { literal, oneLine } from './schema/literal.ts'
import { keywordAt, numberAt, textAt, type SchemaView } from './schema/schema-view.ts'

/** Formats the constraints of a value beyond its type: `0..100`, `date-time`, `/^[a-z]+$/`. They follow the type. */
export function getRefinement(kind: string, view: SchemaView, name: string): string {
  if (kind === 'integer' || kind === 'number') return words(getRange(view), getStep(view, kind))
  if (kind === 'string') return words(getFormat(view, name), getLength(view, 'Length', 'chars'))
  if (kind === 'array') return getLength(view, 'Items', 'items')
  return ''
}

const words = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ')

/** Bounds that only reflect the size of an integer type. */
const MACHINE_BOUNDS = new Set([2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 63, 2 ** 64])

function getBound(view: SchemaView, keyword: string): number | undefined {
  const bound = numberAt(view, keyword)
  if (bound === undefined || !Number.isFinite(bound)) return undefined
  const size = Math.abs(bound)
  if (size >= Number.MAX_SAFE_INTEGER || MACHINE_BOUNDS.has(size)) return undefined
  return bound
}

function getRange(view: SchemaView): string {
  const low = getBound(view, 'minimum')
  const high = getBound(view, 'maximum')
  // Draft 4 has a flag next to the bound; later drafts have a separate bound.
  const above = keywordAt(view, 'exclusiveMinimum') === true ? low : getBound(view, 'exclusiveMinimum')
  const below = keywordAt(view, 'exclusiveMaximum') === true ? high : getBound(view, 'exclusiveMaximum')
  if (above === undefined && below === undefined) return getSpan(low, high)
  return words(
    above === undefined ? getSpan(low, undefined) : `>${above}`,
    below === undefined ? getSpan(undefined, high) : `<${below}`,
  )
}

export function getSpan(low: number | undefined, high: number | undefined): string {
  if (low !== undefined && high !== undefined) {
    if (low === high) return `${low}`
    return `${low}..${high}`
  }
  if (low !== undefined) return `>=${low}`
  if (high === undefined) return ''
  return `<=${high}`
}

function getStep(view: SchemaView, kind: string): string {
  const step = numberAt(view, 'multipleOf')
  const isPlain = step === undefined || (kind === 'integer' && step === 1) || step <= 0
  if (isPlain) return ''
  return `step ${step}`
}

function getLength(view: SchemaView, of: 'Length' | 'Items', unit: string): string {
  const low = numberAt(view, `min${of}`)
  // A minimum of 1 is not worth mentioning: callers rarely send an empty value by mistake.
  const span = getSpan(low !== undefined && low > 1 ? low : undefined, getBound(view, `max${of}`))
  if (span === '') return ''
  return `${span} ${unit}`
}

/** Formats that only say how a value is stored or displayed. */
const NOISE = /^(u?int\d*|float|double|decimal|string|text|textarea|multiline|password|none|unknown)$/i
const SAID_BY_NAME: ReadonlyMap<string, RegExp> = new Map([
  ['uri', /ur[il]|link|href|endpoint|website|webhook/i],
  ['url', /ur[il]|link|href|endpoint|website|webhook/i],
  ['email', /e-?mail/i],
  ['uuid', /uuid|guid/i],
])
const MAX_PATTERN = 80
const MAX_FORMAT = 40

function getFormat(view: SchemaView, name: string): string {
  const encoding = textAt(view, 'contentEncoding')
  if (encoding) return oneLine(encoding.slice(0, MAX_FORMAT))
  const format = textAt(view, 'format')
  if (format && !NOISE.test(format)) {
    if (SAID_BY_NAME.get(format)?.test(name)) return ''
    return oneLine(format.slice(0, MAX_FORMAT))
  }
  const pattern = textAt(view, 'pattern')
  if (!pattern) return ''
  const line = (literal(pattern.slice(0, MAX_PATTERN + 1)) ?? '""')
    .slice(1, -1)
    .replaceAll('\\\\', '\\')
    .replaceAll('\\"', '"')
  if (line.length > MAX_PATTERN) return `/${line.slice(0, MAX_PATTERN)}…`
  return `/${line}/`
}
