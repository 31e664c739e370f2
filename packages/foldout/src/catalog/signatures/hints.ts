import { deferPattern } from '../../core/defer-pattern.ts'
import { literal, oneLine } from './schema/literal.ts'
import { getSpan } from './refinement.ts'

/**
 * Extracts information from a description that a value's name and type do not give and that a call needs: `YYYY-MM-DD`,
 * `owner/repo`, `comma-separated`, `ms`. Empty if there is none.
 */
export function formatHint(kind: string, name: string, description: string | undefined): string {
  if (description === undefined) return ''
  const text = oneLine(description).slice(0, 600)
  if (kind === 'string' || kind === 'any') return stringHint(name, text)
  if (kind === 'number' || kind === 'integer') return numberHint(name, text)
  return ''
}

const TEMPLATE =
  /\b(?:YYYY|yyyy|YY|MM|DD|dd|HH|hh)(?:[-/.:_ T]{0,2}(?:YYYY|yyyy|MM|mm|DD|dd|HH|hh|SS|ss))+Z?(?![A-Za-z])/
/** `format: x`, `in the format 'x'`. */
const FORMAT = /\bformat(?:ted as|:| is)?\s*[:=]?\s*["'`<]?([\w{}<>[\]-]+[/:,@.#|][\w{}<>[\]/:,@.#|-]*[\w}>\]])/i

/** `(owner/repo)`. */
const BRACKETED = /\((?!and\/or)([a-z_]{2,}[/:][a-z_]{2,})\)/

/** A hint, how descriptions express it, and names that already say it. */
const NOTATIONS: readonly (readonly [hint: string, said: RegExp, named?: RegExp])[] = [
  ['comma-separated', /comma[- ](?:separated|delimited)|separated by commas/i],
  ['JSON', /\bJSON[- ](?:string|encoded|array|object|formatted)|stringified JSON|\b(?:as|valid) JSON\b/i, /json/i],
  ['base64', /\bbase-?64\b/i, /base_?64|b64/i],
  ['ISO 8601', /\bISO[- ]?8601\b|\bISO (?:date|format|timestamp|string)/i, /iso/i],
  ['RFC 3339', /\bRFC[- ]?3339\b/i],
  ['unix time', /\b(?:unix|epoch) (?:time|seconds|milli)|\bunix\/epoch\b/i, /unix|epoch/i],
  ['ISO 4217', /\bISO[- ]?4217\b/i],
  ['ISO 3166', /\bISO[- ]?3166\b|\b(?:two|2)-letter country code/i],
  ['ISO 639', /\bISO[- ]?639\b/i],
  ['E.164', /\bE\.164\b/],
  ['cron', /\bcron expression/i, /cron/i],
  ['glob', /\bglob pattern/i, /glob/i],
  ['regex', /\bregular expression\b|\bregex\b/i, /regex|regexp/i],
  ['absolute path', /\babsolute (?:file |directory )?path\b|\bfull path\b/i, /abs/i],
]

function stringHint(name: string, text: string): string {
  const template = TEMPLATE.exec(text)?.[0]
  if (template) return template
  const notation = NOTATIONS.find(([, said, named]) => said.test(text) && !named?.test(name))?.[0]
  const format = FORMAT.exec(text)?.[1] ?? BRACKETED.exec(text)?.[1]
  if (format && format.length <= 30 && !/^https?:/.test(format)) return format
  return notation ?? choicesIn(text) ?? exampleIn(text) ?? ''
}

const QUOTED = /"([^"]{1,24})"|'([^']{1,24})'|`([^`]{1,24})`/.source
const CHOICES = new RegExp(
  String.raw`(?:one of|either|can be|must be|should be|options?|values?|allowed|supported|choices?|choose|format)\b` +
    String.raw`[^"'\`.]{0,40}?((?:(?:${QUOTED})(?: ?\([^)]{0,60}\))? ?[,|/;]? ?(?:(?:or|and) )?){2,12})`,
  'i',
)
const QUOTED_OR_QUOTED = new RegExp(String.raw`((?:(?:${QUOTED}),? ){1,7}or (?:${QUOTED}))`)
const EXAMPLES_FOLLOW = /\b(?:e\.?g\b|i\.e\b|ex:|examples?\b|such as|like)/i
const MAX_CHOICES = 8

const getLetterOrDigit = deferPattern(String.raw`[\p{L}\p{N}]`, 'u')

function choicesIn(text: string): string | undefined {
  const found = CHOICES.exec(text) ?? QUOTED_OR_QUOTED.exec(text)
  if (!found || EXAMPLES_FOLLOW.test(text.slice(Math.max(0, found.index - 20), found.index + found[0].length))) {
    return undefined
  }
  const values = [...(found[1] ?? '').matchAll(new RegExp(QUOTED, 'g'))].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  )
  const distinct = [...new Set(values)]
  const isList =
    distinct.length > 1 && distinct.length <= MAX_CHOICES && distinct.every((value) => getLetterOrDigit().test(value))
  if (isList) return distinct.map((value) => literal(value)).join('|')
  return undefined
}

const EXAMPLE = new RegExp(
  String.raw`(?:\be\.?g\b\.?|\bex:|\bexamples?\b:?|\bfor example\b|\bsuch as\b|\blike\b)[,:]? ?` +
    String.raw`(?:${QUOTED}|([^\s,;(){}="'\`]{2,32})(?=[\s,;)]|$))`,
  'i',
)

function exampleIn(text: string): string | undefined {
  const match = EXAMPLE.exec(text)
  const quoted = match?.[1] ?? match?.[2] ?? match?.[3]
  if (quoted !== undefined) return `e.g. ${/[\s,()]/.test(quoted) ? literal(quoted) : quoted}`
  const bare = match?.[4]?.replace(/[.:]+$/, '')
  // An ordinary word is not an example.
  if (bare && /[\d_/@:#-]|^[A-Z]{2,}$/.test(bare)) return `e.g. ${bare}`
  return undefined
}

const UNITS: readonly (readonly [unit: string, said: RegExp, named: RegExp])[] = [
  ['ms', /\bin (?:milliseconds|millis|ms)\b|\((?:milliseconds|ms)\)|\bmilliseconds\b/i, /ms$|milli|_ms/i],
  ['seconds', /\bin (?:seconds|secs?)\b|\((?:seconds|secs?|s)\)|\bnumber of seconds\b/i, /sec/i],
  ['minutes', /\bin minutes\b|\((?:minutes|mins?)\)/i, /min/i],
  ['hours', /\bin hours\b|\(hours\)/i, /hour/i],
  ['days', /\bin days\b|\(days\)/i, /day/i],
  ['unix time', /\b(?:unix|epoch) (?:time|seconds)/i, /unix|epoch/i],
  ['meters', /\bin met(?:er|re)s\b|\(met(?:er|re)s\)/i, /met(er|re)/i],
  ['km', /\bin (?:kilomet(?:er|re)s|km)\b|\((?:kilomet(?:er|re)s|km)\)/i, /km|kilomet/i],
  ['bytes', /\bin bytes\b|\(bytes\)/i, /byte/i],
  ['cents', /\bin cents\b/i, /cent/i],
  ['wei', /\bin wei\b/i, /wei/i],
  ['pixels', /\bin (?:pixels|px)\b|\((?:pixels|px)\)/i, /pixel|px/i],
]
const NUMBER = /(-?\d+(?:\.\d+)?)/.source
const RANGE = new RegExp(
  String.raw`\b(?:between|from|range:?) ${NUMBER} (?:and|to) ${NUMBER}\b|\(${NUMBER} ?(?:-|–|to) ?${NUMBER}[,)]`,
  'i',
)
const MOST = new RegExp(String.raw`\b(?:max(?:imum)?(?: is| of)?|up to|at most):? ${NUMBER}\b(?![,.]?\d)`, 'i')

function numberHint(name: string, text: string): string {
  const unit = UNITS.find(([, said, named]) => said.test(text) && !named.test(name))?.[0] ?? ''
  return [rangeIn(text), unit].filter((part) => part !== '').join(' ')
}

function rangeIn(text: string): string {
  const match = RANGE.exec(text)
  const [low, high] = [match?.[1] ?? match?.[3], match?.[2] ?? match?.[4]].map((bound) => bound && Number(bound))
  if (typeof low === 'number' && typeof high === 'number') {
    if (low < high) return getSpan(low, high)
    return ''
  }
  const most = MOST.exec(text)?.[1]
  if (most === undefined) return ''
  return getSpan(undefined, Number(most))
}
