import { formatCount } from 'foldout-shared/numbers'
import { isObject } from 'foldout-shared/values'
import { formatNumber } from 'foldout-shared/numbers'
import { FIRST_TOKENS } from './limits.ts'
import { countLines } from './lines.ts'
import { parseJson } from './read-part.ts'
import { countResultTokens, cutToTokens } from './tokens.ts'

/**
 * A text that was folded out of a result.
 *
 * @example
 * ```ts
 * const folded: FoldedText = { text: 'In Oslo.', handle: 'r1', outline: undefined }
 * describeFolded(folded)
 * ```
 */
export interface FoldedText {
  readonly text: string
  /** The name that `read_result` takes. */
  readonly handle: string
  /** The shape of JSON; missing for other texts. */
  readonly outline: string | undefined
  /** A sentence on how long the text can be read, if that ends before the conversation does. */
  readonly lifetime?: string
}

/**
 * Describes a large result that is folded as it arrives: its size, its shape, how to read it, and its beginning.
 *
 * @example
 * ```ts
 * describeFolded({ text: 'ok\n'.repeat(900), handle: 'r1', outline: undefined }).split('.')[0]
 * // => 'This result is folded: text with 900 lines, 2,700 characters, about 1,800 tokens'
 * ```
 */
export function describeFolded(folded: FoldedText): string {
  const { text, handle, lifetime } = folded
  const { what, shape, ways } = describeForm(folded)
  const how = [
    `This result is folded: ${what}, ${describeSize(text)}.`,
    `Read parts of it with read_result and result: '${handle}', plus ${ways}.`,
    ...(lifetime === undefined ? [] : [lifetime]),
  ]
  return [how.join(' '), '', ...shape, 'It begins:', cutToBeginning(text)].join('\n')
}

interface Form {
  readonly what: string
  readonly shape: readonly string[]
  readonly ways: string
}

function describeForm({ text, outline }: FoldedText): Form {
  if (outline !== undefined)
    return { what: 'JSON', shape: ['Its shape:', outline, ''], ways: 'path, from and count (items) or grep' }
  const lines = countLines(text)
  const ways = 'from and count (lines) or grep'
  if (lines === 1) return { what: 'text on one line', shape: [], ways }
  return { what: `text with ${formatNumber(lines)} lines`, shape: [], ways }
}

/**
 * Returns the beginning of a text, as a folded result shows it.
 *
 * @example
 * ```ts
 * cutToBeginning('In Oslo.') // => 'In Oslo.'
 * ```
 */
export function cutToBeginning(text: string): string {
  return cutToTokens(text, FIRST_TOKENS)
}

/**
 * Describes the size of a text.
 *
 * @example
 * ```ts
 * describeSize('In Oslo.') // => '8 characters, about 3 tokens'
 * ```
 */
export function describeSize(text: string): string {
  return `${formatNumber(text.length)} characters, about ${formatNumber(countResultTokens(text))} tokens`
}

/** How many keys of an object the stub of a result names. */
const STUB_KEYS = 5

/** The longest name of a key in a stub. */
const STUB_KEY = 20

/**
 * Describes in one line a result that was folded long after the model has read it. It says that the call succeeded:
 * models take a text that is left out for a failure.
 *
 * @example
 * ```ts
 * createStub('get_orders', '[{ "id": 1 }, { "id": 2 }]', 'r17')
 * // => '[get_orders succeeded. 12 tokens, 1 line, array of 2 { id }. read_result("r17") reads any part.]'
 * ```
 */
export function createStub(tool: string, text: string, handle: string): string {
  const tokens = `${formatNumber(countResultTokens(text))} tokens`
  const facts = [tokens, formatCount(countLines(text), 'line'), ...describeShape(parseJson(text)?.json)]
  return `[${tool} succeeded. ${facts.join(', ')}. read_result("${handle}") reads any part.]`
}

function describeShape(json: object | undefined): readonly string[] {
  if (json === undefined) return []
  if (!Array.isArray(json)) return [`object ${formatKeys(json)}`]
  const [first] = json as readonly unknown[]
  const items = `array of ${formatNumber(json.length)}`
  return [isObject(first) ? `${items} ${formatKeys(first)}` : items]
}

function formatKeys(object: object): string {
  const keys = Object.keys(object)
  const shown = keys.slice(0, STUB_KEYS).map((key) => key.slice(0, STUB_KEY))
  if (keys.length > shown.length) shown.push('…')
  return `{ ${shown.join(', ')} }`
}
