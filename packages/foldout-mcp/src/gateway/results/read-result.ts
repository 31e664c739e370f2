import type { CallResult, ListedTool } from 'foldout/catalog'
import * as v from 'valibot'
import {
  boolean,
  describeMistake,
  int,
  oneOf,
  positive,
  read,
  strictObject,
  string,
  upTo,
  type Mistake,
} from '../shapes.ts'
import { READ_TOKENS } from './limits.ts'
import type { Reading, ReadingAnswer, ReadingEntry } from './thread/reading.ts'
import { cutToTokens, type CountTokens } from './tokens.ts'
import { formatNumber } from '../fields.ts'

export const READ_RESULT = 'read_result'

/**
 * The tool that models read folded results with. Every client pays for its listing in every request, and few results are
 * folded. So a folded result itself says how to begin.
 */
export const LISTING: ListedTool = {
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
  annotations: { readOnlyHint: true, openWorldHint: false },
  meta: { 'anthropic/alwaysLoad': true },
}

const LONGEST = 10_000

/** Models sometimes write numbers as strings. */
const written = v.pipe(v.unknown(), v.transform(toNumber))
const schema = strictObject({
  result: string,
  path: v.exactOptional(upTo(LONGEST)),
  grep: v.exactOptional(upTo(LONGEST)),
  ignore_case: v.exactOptional(boolean),
  unit: v.exactOptional(oneOf(['lines', 'characters', 'items'])),
  from: v.exactOptional(v.pipe(written, int)),
  count: v.exactOptional(v.pipe(written, positive)),
  max_tokens: v.exactOptional(v.pipe(written, positive)),
})

function toNumber(value: unknown): number {
  try {
    return Number(value)
  } catch {
    return NaN
  }
}

export interface ReadArguments {
  readonly result: string
  readonly reading: Reading
  readonly maxTokens: number
}

/** How many characters to read per requested token, so that there is enough to choose from. */
const CHARACTERS_PER_TOKEN = 8

/** The model's request, or what is wrong with it. */
export function readArguments(args: unknown, ceiling: number): ReadArguments | { readonly fault: string } {
  const given = Object.entries(typeof args === 'object' && args !== null ? args : {})
  // Models write null or an empty string for arguments they leave out.
  const { data, mistake } = read(
    schema,
    Object.fromEntries(given.filter(([, value]) => value !== null && value !== '')),
  )
  if (mistake) return { fault: describeWrong(mistake) }
  const { result, ignore_case: ignoreCase = false, from = 1, max_tokens: wanted = READ_TOKENS, ...rest } = data
  if (rest.path !== undefined && rest.unit !== undefined && rest.unit !== 'items')
    return { fault: `A path selects items, not ${rest.unit}. Leave out unit.` }
  const maxTokens = Math.min(wanted, ceiling)
  return { result, maxTokens, reading: { ...rest, from, ignoreCase, characters: maxTokens * CHARACTERS_PER_TOKEN } }
}

function describeWrong(mistake: Mistake): string {
  const { unknown } = mistake
  if (unknown === undefined) return describeMistake(mistake, (field) => `'${field}'`)
  return `There is no argument '${unknown.slice(0, 80)}'; there are: ${Object.keys(schema.entries).join(', ')}.`
}

/** Formats what was read for the model, with where to continue. */
export function formatAnswer(answer: ReadingAnswer, maxTokens: number, count: CountTokens): CallResult {
  if ('fault' in answer) return createError(answer.fault)
  const fitted = fit(answer.entries, maxTokens, count)
  const next = fitted.next ?? answer.next
  const lines = fitted.entries.map(({ label, text }) => (label === '' ? text : `${label}: ${text}`))
  const notes = [describeRange(answer, fitted.entries, next), describeCut(answer, fitted.entries.at(-1))]
  const text = [...lines, ...notes.filter((note) => note !== '').map((note) => `(${note})`)].join('\n')
  return { content: [{ type: 'text', text }] }
}

interface Fitted {
  readonly entries: readonly ReadingEntry[]
  /** The first one that did not fit. */
  readonly next: number | undefined
}

/** As many entries as fit, and at least the beginning of the first. */
function fit(entries: readonly ReadingEntry[], maxTokens: number, count: CountTokens): Fitted {
  let left = maxTokens
  const taken: ReadingEntry[] = []
  for (const entry of entries) {
    const tokens = count(`${entry.label}: ${entry.text}\n`)
    if (tokens <= left) {
      taken.push(entry)
      left -= tokens
      continue
    }
    if (taken.length > 0) return { entries: taken, next: entry.at }
    const text = cutToTokens(entry.text, maxTokens, count)
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

export function createError(text: string): CallResult {
  return { content: [{ type: 'text', text }], isError: true }
}
