import { isObject } from 'foldout-shared/values'
import { formatNumber } from 'foldout-shared/numbers'
import { READ_TOKENS } from './limits.ts'
import type { Reading, ReadingAnswer, ReadingEntry } from './reading.ts'
import { countResultTokens, cutToTokens } from './tokens.ts'

/**
 * The name of the tool that models read folded results with.
 *
 * @example
 * ```ts
 * READ_RESULT // => 'read_result'
 * ```
 */
export const READ_RESULT = 'read_result'

/**
 * The definition of the tool that models read folded results with. Every client pays for its listing in every request, and few results are
 * folded. So a folded result itself says how to begin.
 *
 * @example
 * ```ts
 * readResultDefinition.name // => 'read_result'
 * ```
 */
export const readResultDefinition = {
  name: READ_RESULT,
  description: 'Read parts of a result that was folded because it is large.',
  inputSchema: {
    type: 'object',
    properties: {
      result: { type: 'string', description: "The result's name" },
      path: { type: 'string', description: 'A JSONPath, if it is JSON: $.items[?@.price < 10].name' },
      grep: { type: 'string', description: 'A regular expression that lines or JSON values match' },
      ignore_case: { type: 'boolean' },
      unit: { enum: ['lines', 'characters', 'items'] },
      from: { type: 'integer', description: 'The first unit; negative counts from the end' },
      count: { type: 'integer', description: 'How many units' },
      max_tokens: { type: 'integer' },
    },
    required: ['result'],
  },
} as const

/**
 * A model's request to read part of a result.
 *
 * @example
 * ```ts
 * const getName = ({ result }: ReadArguments): string => result
 * ```
 */
export interface ReadArguments {
  readonly result: string
  readonly reading: Reading
  readonly maxTokens: number
}

/** How many characters to read per requested token, so that there is enough to choose from. */
const CHARACTERS_PER_TOKEN = 8

const LONGEST = 10_000
const UNITS = ['lines', 'characters', 'items'] as const

/**
 * Reads the arguments of a call of `read_result`, or says what is wrong with them. `ceiling` is the most tokens that an
 * answer may have.
 *
 * @example
 * ```ts
 * const wanted = readResultArguments({ result: 'r1', grep: 'total' }, 2_000)
 * 'fault' in wanted ? wanted.fault : wanted.result // => 'r1'
 * ```
 */
export function readResultArguments(args: unknown, ceiling: number): ReadArguments | { readonly fault: string } {
  const given = new Map(
    // Models write null or an empty string for arguments they leave out.
    Object.entries(isObject(args) ? args : {}).filter(([, value]) => value !== null && value !== ''),
  )
  const fault = findFault(given)
  if (fault !== undefined) return { fault }
  const path = given.get('path') as string | undefined
  const grep = given.get('grep') as string | undefined
  const unit = given.get('unit') as Reading['unit']
  if (path !== undefined && unit !== undefined && unit !== 'items')
    return { fault: `A path selects items, not ${unit}. Leave out unit.` }
  const maxTokens = Math.min(toNumber(given.get('max_tokens') ?? READ_TOKENS), ceiling)
  return {
    result: given.get('result') as string,
    maxTokens,
    reading: {
      ...(path !== undefined && { path }),
      ...(grep !== undefined && { grep }),
      ...(unit !== undefined && { unit }),
      ...(given.has('count') && { count: toNumber(given.get('count')) }),
      from: toNumber(given.get('from') ?? 1),
      ignoreCase: given.get('ignore_case') === true,
      characters: maxTokens * CHARACTERS_PER_TOKEN,
    },
  }
}

const FIELDS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  result: isText,
  path: isText,
  grep: isText,
  ignore_case: (value) => {
    if (typeof value === 'boolean') return undefined
    return 'must be true or false'
  },
  unit: (value) => {
    if (UNITS.includes(value as never)) return undefined
    return `must be one of ${UNITS.join(', ')}`
  },
  from: (value) => {
    if (Number.isSafeInteger(toNumber(value))) return undefined
    return 'must be a whole number'
  },
  count: isPositive,
  max_tokens: isPositive,
}

function findFault(given: ReadonlyMap<string, unknown>): string | undefined {
  for (const [name, value] of given) {
    if (!Object.hasOwn(FIELDS, name))
      return `There is no argument '${name.slice(0, 80)}'; there are: ${Object.keys(FIELDS).join(', ')}.`
    const problem = FIELDS[name]?.(value)
    if (problem !== undefined) return `'${name}' ${problem}.`
  }
  if (given.has('result')) return undefined
  return "'result' is missing. Pass the name that the folded result says."
}

function isText(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a text'
  if (value.length > LONGEST) return `must have at most ${formatNumber(LONGEST)} characters`
  return undefined
}

function isPositive(value: unknown): string | undefined {
  const number = toNumber(value)
  if (Number.isSafeInteger(number) && number > 0) return undefined
  return 'must be a positive whole number'
}

/** Models sometimes write numbers as strings. */
function toNumber(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'string') return Number(value)
  return NaN
}

/**
 * Formats what was read for the model, with where to continue.
 *
 * @example
 * ```ts
 * const answer = await readPart('one\ntwo', { from: 2, ignoreCase: false, characters: 100 })
 * 'fault' in answer ? answer.fault : formatReading(answer, 100) // => 'two\n(Lines 2 to 2 of 2.)'
 * ```
 */
export function formatReading(answer: Read, maxTokens: number): string {
  const fitted = fit(answer.entries, maxTokens)
  const next = fitted.next ?? answer.next
  const lines = fitted.entries.map(({ label, text }) => (label === '' ? text : `${label}: ${text}`))
  const notes = [describeRange(answer, fitted.entries, next), describeCut(answer, fitted.entries.at(-1))]
  return [...lines, ...notes.filter((note) => note !== '').map((note) => `(${note})`)].join('\n')
}

interface Fitted {
  readonly entries: readonly ReadingEntry[]
  /** The first one that did not fit. */
  readonly next: number | undefined
}

/** As many entries as fit, and at least the beginning of the first. */
function fit(entries: readonly ReadingEntry[], maxTokens: number): Fitted {
  let left = maxTokens
  const taken: ReadingEntry[] = []
  for (const entry of entries) {
    const tokens = countResultTokens(`${entry.label}: ${entry.text}\n`)
    if (tokens <= left) {
      taken.push(entry)
      left -= tokens
      continue
    }
    if (taken.length > 0) return { entries: taken, next: entry.at }
    const text = cutToTokens(entry.text, maxTokens)
    const isCut = entry.isCut || text.length < entry.text.length
    return { entries: [{ ...entry, text, isCut }], next: entries.length > 1 ? entry.at + 1 : undefined }
  }
  return { entries: taken, next: undefined }
}

type Read = Extract<ReadingAnswer, { readonly unit: unknown }>

function describeRange(answer: Read, entries: readonly ReadingEntry[], next: number | undefined): string {
  const { unit, total, isSearch } = answer
  const [first] = entries
  const last = entries.at(-1)
  const isPart = unit === 'characters' && first !== undefined && first.isCut
  const after = isPart ? first.at + first.text.length : next
  const more = after === undefined ? '' : ` Continue with from: ${after}.`
  if (isSearch) return `${describeMatches(answer, entries.length, after)}.${more}`
  if (!first || !last) return describeEnd(unit, total)
  const end = unit === 'characters' ? first.at + first.text.length - 1 : last.at
  const name = unit.slice(0, 1).toUpperCase() + unit.slice(1)
  const all = total === undefined ? '' : ` of ${formatNumber(total)}`
  return `${name} ${formatNumber(first.at)} to ${formatNumber(end)}${all}.${more}`
}

/** For a request that begins after the end. */
function describeEnd(unit: Read['unit'], total: number | undefined): string {
  if (!total) return 'There is nothing here.'
  if (total === 1) return `There is only 1 ${unit.slice(0, -1)}.`
  return `There are only ${formatNumber(total)} ${unit}.`
}

function describeMatches({ unit, total }: Read, matches: number, next: number | undefined): string {
  const noun = unit === 'items' ? 'values' : unit
  const found = matches === 1 ? '1 match' : `${matches === 0 ? 'No' : formatNumber(matches)} matches`
  const all = total === undefined ? '' : ` of ${formatNumber(total)} ${noun}`
  if (next !== undefined) return `${found} before number ${formatNumber(next)}${all}`
  return `${found} in ${total === undefined ? 'all' : formatNumber(total)} ${noun}`
}

function describeCut({ unit, isSearch }: Read, last: ReadingEntry | undefined): string {
  if (!last?.isCut || unit === 'characters') return ''
  if (isSearch) return 'Of long ones, the part that matches is shown.'
  if (unit === 'lines') return "The last line is cut. Read on with unit: 'characters'."
  if (last.text.startsWith('['))
    return `The last item is cut. Read parts of it with a path such as ${last.label}[0:10].`
  if (last.text.startsWith('{')) return `The last item is cut. Read parts of it with a path such as ${last.label}.*.`
  return 'The last item is cut. Search it with grep.'
}
