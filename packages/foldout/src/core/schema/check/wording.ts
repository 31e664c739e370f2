import { shorten as shortenText } from '../../text.ts'
import { MAX_LISTED, MAX_SHOWN } from './limits.ts'

// The texts that models read about invalid arguments. Every text completes a sentence that starts with the argument's
// name, unless it has its own subject ("there is no argument …").

export type Kind = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'

const KIND_WORDS: ReadonlyMap<string, string> = new Map([
  ['object', 'an object'],
  ['array', 'a list'],
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'a whole number'],
  ['boolean', 'true or false'],
  ['null', 'null'],
])

const VALUE_WORDS: ReadonlyMap<string, string> = new Map([...KIND_WORDS, ['boolean', 'a boolean']])

export function getValueKind(value: unknown): Kind {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'object') return 'object'
  return typeof value as Kind
}

/** Returns, for example, `must be a string or null, not a list`. */
export function describeKinds(kinds: readonly Kind[], value: unknown): string {
  const kind = getValueKind(value)
  const isFraction = kind === 'number' && kinds.includes('integer')
  const got = isFraction ? String(value) : (VALUE_WORDS.get(kind) ?? kind)
  return `must be ${joinOr(kinds.map((one) => KIND_WORDS.get(one) ?? one))}, not ${got}`
}

/** Returns, for example, `must be "north" or "south"`. */
export function describeValues(values: readonly unknown[]): string {
  const listed = values.slice(0, MAX_LISTED).map(showValue)
  if (values.length === 0) return 'has no value that is allowed'
  if (values.length > MAX_LISTED) return `must be one of ${listed.join(', ')} or ${values.length - MAX_LISTED} others`
  return `must be ${joinOr(listed)}`
}

/**
 * Returns, for example, `there is no argument who; there are: name, age`. Only the outermost fields are called
 * arguments, as models know them.
 */
export function describeUnknownField(name: string, known: readonly string[], holder: string): string {
  const [noun, where] = holder === '' ? ['argument', ''] : ['field', ` in ${holder}`]
  const shown = known.slice(0, MAX_LISTED).map(showName).join(', ')
  const more = known.length > MAX_LISTED ? ` and ${known.length - MAX_LISTED} more` : ''
  const others = known.length === 0 ? `${holder === '' ? 'it' : 'that'} takes none` : `there are: ${shown}${more}`
  return `there is no ${noun} ${showName(name)}${where}; ${others}`
}

/** Shows a name unquoted if it is unambiguous, otherwise in quotes. */
export function showName(name: string): string {
  if (/^[\w.$-]{1,100}$/.test(name)) return name
  return shorten(JSON.stringify(name))
}

export function showValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return shorten(JSON.stringify(value) ?? 'nothing')
  try {
    return shorten(JSON.stringify(value))
  } catch {
    if (Array.isArray(value)) return 'a list'
    return 'an object'
  }
}

/** Shortens foreign text to the length that messages about arguments show. */
export function shorten(text: string): string {
  return shortenText(text, MAX_SHOWN)
}

export function joinOr(words: readonly string[]): string {
  const last = words.at(-1) ?? ''
  if (words.length < 2) return last
  return `${words.slice(0, -1).join(', ')} or ${last}`
}

/** Formats a path for messages: `a.b[0]`. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`
    else text += text === '' ? showName(String(key)) : `.${showName(String(key))}`
  }
  return text
}
