import { compilePattern, type LinearPattern, type Steps } from '../../pattern/pattern.ts'
import type { Keyword, Run } from './run.ts'
import { formatCount } from '../../text.ts'
import { describeKinds, describeValues, getValueKind, shorten, type Kind } from './wording.ts'

const KINDS: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/** The kinds of values that a `type` allows. */
export function readKinds(type: unknown): readonly Kind[] {
  return [type].flat().filter((kind): kind is Kind => KINDS.has(kind))
}

const type: Keyword = (value) => {
  const kinds = readKinds(value)
  if (kinds.length === 0) return undefined
  return (place, _run, outcome) => {
    if (!kinds.some((kind) => isOfKind(place.value, kind)))
      outcome.add({ place, keyword: 'type', kinds, describe: () => describeKinds(kinds, place.value) })
  }
}

export function isOfKind(value: unknown, kind: Kind): boolean {
  if (kind === 'integer') return Number.isInteger(value)
  return value !== undefined && getValueKind(value) === kind
}

const enumeration: Keyword = (value) => {
  if (!Array.isArray(value)) return undefined
  const values: readonly unknown[] = value
  const plain = new Set(values.filter((one) => typeof one !== 'object' || one === null))
  const composed = values.filter((one) => typeof one === 'object' && one !== null)
  return (place, run, outcome) => {
    if (isOneOf(place.value, plain, composed, run)) return
    outcome.add({ place, keyword: 'enum', describe: () => describeValues(values) })
  }
}

const constant: Keyword = (value, schema, document) => enumeration([value], schema, document)

function isOneOf(value: unknown, plain: ReadonlySet<unknown>, composed: readonly unknown[], run: Run): boolean {
  if (typeof value !== 'object' || value === null) return plain.has(value)
  if (composed.length === 0) return false
  run.spend(composed.length)
  const key = run.identities.getKey(value)
  return composed.some((one) => run.identities.getKey(one) === key)
}

/** Creates a keyword that compares a number with the keyword's value. */
function compareNumbers(words: string, fits: (value: number, limit: number) => boolean): Keyword {
  return (limit) => {
    if (typeof limit !== 'number') return undefined
    return (place, _run, outcome) => {
      const { value } = place
      if (typeof value === 'number' && !fits(value, limit))
        outcome.add({ place, keyword: 'range', describe: () => `must be ${words} ${limit}` })
    }
  }
}

/**
 * Computes with decimal digits, so it is exact: `0.3` is a multiple of `0.1`, although their floating-point quotient is
 * not a whole number.
 */
function isMultiple(value: number, step: number): boolean {
  if (step <= 0 || !Number.isFinite(value)) return true
  if (Number.isInteger(value / step) && Number.isSafeInteger(value) && Number.isSafeInteger(step)) return true
  const [a, b] = [toDecimal(value), toDecimal(step)]
  const digits = Math.max(a.digits, b.digits)
  return (a.whole * 10n ** BigInt(digits - a.digits)) % (b.whole * 10n ** BigInt(digits - b.digits)) === 0n
}

function toDecimal(value: number): { readonly whole: bigint; readonly digits: number } {
  const [mantissa = '0', exponent = '0'] = String(value).split('e')
  const [before = '0', after = ''] = mantissa.split('.')
  const digits = after.length - Number(exponent)
  const whole = BigInt(before + after)
  if (digits >= 0) return { whole, digits }
  return { whole: whole * 10n ** BigInt(-digits), digits: 0 }
}

function lengthKeyword(
  isTooFar: (length: number, limit: number) => boolean,
  words: (limit: number) => string,
): Keyword {
  return (limit) => {
    if (typeof limit !== 'number') return undefined
    return (place, run, outcome) => {
      const { value } = place
      if (typeof value !== 'string') return
      run.spend(Math.ceil(value.length / 16))
      if (isTooFar(countCharacters(value), limit))
        outcome.add({ place, keyword: 'length', describe: () => words(limit) })
    }
  }
}

function countCharacters(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length - 1; at++)
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) count -= 1
  return count
}

const pattern: Keyword = (source) => {
  if (typeof source !== 'string') return undefined
  const matches = getMatcher(source)
  return (place, run, outcome) => {
    if (typeof place.value !== 'string') return
    if (!matches(place.value, run.steps))
      outcome.add({ place, keyword: 'pattern', describe: () => `must match the pattern ${shorten(source)}` })
    run.spend()
  }
}

/**
 * Tests a value with a foreign pattern. If the pattern cannot run here, the value passes; the tool that defined the
 * pattern checks it too.
 */
export function getMatcher(source: string): (text: string, steps: Steps) => boolean {
  let compiled: LinearPattern | 'none' | undefined
  return (text, steps) => {
    if (compiled === undefined) {
      const result = compilePattern(source)
      if ('problem' in result) compiled = 'none'
      else compiled = result.pattern
    }
    return compiled === 'none' || (compiled.test(text, steps) ?? true)
  }
}

const format: Keyword = (name) => {
  const known = typeof name === 'string' ? getFormat(name) : undefined
  if (!known) return undefined
  return (place, run, outcome) => {
    if (typeof place.value === 'string' && !known.fits(place.value, run.steps))
      outcome.add({ place, keyword: 'format', describe: () => `must be ${known.words}` })
  }
}

export const VALUE_KEYWORDS: readonly (readonly [string, Keyword])[] = [
  ['type', type],
  ['enum', enumeration],
  ['const', constant],
  ['minimum', compareNumbers('at least', (value, limit) => value >= limit)],
  ['maximum', compareNumbers('at most', (value, limit) => value <= limit)],
  ['exclusiveMinimum', compareNumbers('more than', (value, limit) => value > limit)],
  ['exclusiveMaximum', compareNumbers('less than', (value, limit) => value < limit)],
  ['multipleOf', compareNumbers('a multiple of', isMultiple)],
  [
    'minLength',
    lengthKeyword(
      (length, limit) => length < limit,
      (limit) => (limit === 1 ? 'must not be empty' : `must have at least ${formatCount(limit, 'character')}`),
    ),
  ],
  [
    'maxLength',
    lengthKeyword(
      (length, limit) => length > limit,
      (limit) => `must have at most ${formatCount(limit, 'character')}`,
    ),
  ],
  ['pattern', pattern],
  ['format', format],
]

const DATE = '(?:\\d{4})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])'
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d:(?:[0-5]\\d|60)(?:\\.\\d+)?(?:z|[+-](?:[01]\\d|2[0-3]):?[0-5]\\d)'
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const IPV4 = `${BYTE}(?:\\.${BYTE}){3}`
const URI_CHARACTERS = "[a-z0-9\\-._~:/?#\\[\\]@!$&'()*+,;=%]"

/** The description and the pattern of each format. Only formats that tools commonly use are checked. */
const FORMATS: ReadonlyMap<string, { readonly words: string; readonly source: string }> = new Map([
  ['date-time', { words: 'a date and time such as 2026-01-31T12:00:00Z', source: `^${DATE}[t ]${TIME}$` }],
  ['date', { words: 'a date such as 2026-01-31', source: `^${DATE}$` }],
  ['time', { words: 'a time such as 12:00:00Z', source: `^${TIME}$` }],
  ['email', { words: 'an email address', source: '^\\S.*@\\S+$' }],
  ['hostname', { words: 'a host name', source: `^(?=.{1,253}$)${LABEL}(?:\\.${LABEL})*$` }],
  ['ipv4', { words: 'an IPv4 address', source: `^${IPV4}$` }],
  ['ipv6', { words: 'an IPv6 address', source: getIpv6() }],
  ['uri', { words: 'a URI such as https://example.com/path', source: `^[a-z][a-z0-9+.-]*:${URI_CHARACTERS}*$` }],
  ['uuid', { words: 'a UUID', source: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' }],
])

function getIpv6(): string {
  const group = '[0-9a-f]{1,4}'
  const last = `(?:${group}:${group}|${IPV4})`
  const forms = [`(?:${group}:){6}${last}`, `::(?:${group}:){5}${last}`]
  for (let before = 0; before <= 4; before++)
    forms.push(`(?:(?:${group}:){0,${before}}${group})?::(?:${group}:){${4 - before}}${last}`)
  forms.push(`(?:(?:${group}:){0,5}${group})?::${group}`, `(?:(?:${group}:){0,6}${group})?::`)
  return `^(?:${forms.join('|')})$`
}

const compiled = new Map<string, LinearPattern>()

interface Format {
  /** A description of valid values. */
  readonly words: string
  fits(text: string, steps: Steps): boolean
}

/** Returns the check of a format, or `undefined` if the format is not checked here. */
function getFormat(name: string): Format | undefined {
  const format = FORMATS.get(name)
  return (
    format && { words: format.words, fits: (text, steps) => getPattern(name, format.source).test(text, steps) ?? true }
  )
}

function getPattern(name: string, source: string): LinearPattern {
  const known = compiled.get(name)
  if (known) return known
  const result = compilePattern(source, { ignoreCase: true })
  if ('problem' in result) throw new Error(`The format '${name}' ${result.message}.`)
  compiled.set(name, result.pattern)
  return result.pattern
}
