import { compilePattern, type LinearPattern, type Steps } from '../../pattern/pattern.ts'

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

export interface Format {
  /** A description of valid values. */
  readonly words: string
  fits(text: string, steps: Steps): boolean
}

/** Returns the check of a format, or `undefined` if the format is not checked here. */
export function getFormat(name: string): Format | undefined {
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
