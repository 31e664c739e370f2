import { HIDDEN } from '../../../shared/secret-text.ts'
import { isObject } from 'foldout-shared/values'
import { MAX_LATE_SECRETS, MIN_SECRET_LENGTH } from './limits.ts'
import { Needles, type Range } from './needles.ts'

/** Where a secret was learned. What clients can send must not displace anything else. */
export type SecretOrigin = 'configuration' | 'sign-in' | 'client'

/** The secrets that the gateway knows: values from its configuration, and others it learned later. */
export interface Secrets {
  /** Hides these from now on. Of those that do not come from the configuration, the oldest are forgotten if there are too many. */
  add(values: readonly string[], origin?: SecretOrigin): void
  /** Removes the secrets from a text. */
  hide(text: string): string
  /** Removes the secrets from the values and keys of JSON. Returns the same object if it has none. */
  hideIn<Value>(value: Value): Value
}

/** Values nested deeper than this are hidden as a whole. */
const MAX_DEPTH = 200

export function createSecrets(values: readonly string[] = []): Secrets {
  const needles = new Needles()
  /** The secrets by their origin, each with the forms that are looked for. The oldest come first. */
  const known: Readonly<Record<SecretOrigin, Map<string, readonly string[]>>> = {
    configuration: new Map(),
    'sign-in': new Map(),
    client: new Map(),
  }

  const add = (added: readonly string[], origin: SecretOrigin = 'configuration'): void => {
    const here = known[origin]
    for (const value of added) {
      if (value.length < MIN_SECRET_LENGTH || known.configuration.has(value)) continue
      const before = here.get(value)
      const forms = before ?? listForms(value)
      // Put back at the end, as the newest.
      here.delete(value)
      here.set(value, forms)
      if (!before) for (const form of forms) needles.add(form)
    }
    // The configuration cannot have too many.
    if (origin === 'configuration') return
    for (const [oldest, forms] of here) {
      if (here.size <= MAX_LATE_SECRETS) break
      here.delete(oldest)
      for (const form of forms) needles.remove(form)
    }
  }
  const hide = (text: string): string => {
    const found = needles.find(text)
    if (found.length === 0) return text
    return cutOut(text, found)
  }
  const hideDeep = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return hide(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > MAX_DEPTH) return HIDDEN
    if (Array.isArray(value)) return value.map((item) => hideDeep(item, depth + 1))
    if (!isObject(value)) return value
    const named = Object.entries(value).map(([name, item]) => [hide(name), hideDeep(item, depth + 1)])
    const marked = listMarks(value).map(([mark, item]) => [mark, hideDeep(item, depth + 1)])
    return Object.fromEntries([...named, ...marked])
  }
  /** Most values have no secrets, and searching one long text is faster than searching many short ones. */
  const isClean = (value: unknown): boolean => {
    const text = toJson(value)
    return text !== undefined && !needles.isIn(text)
  }
  add(values)
  return {
    add,
    hide,
    hideIn(value) {
      if (needles.size === 0) return value
      const isUntouched = isClean(value) && listMarks(value).every(([, item]) => isClean(item))
      if (isUntouched) return value
      return hideDeep(value, 0) as typeof value
    },
  }
}

/** The fields of an object that JSON leaves out, such as the error that a server refused a call with. */
function listMarks(value: unknown): readonly (readonly [symbol, unknown])[] {
  if (!isObject(value)) return []
  return Object.getOwnPropertySymbols(value).map((mark) => [mark, (value as Readonly<Record<symbol, unknown>>)[mark]])
}

function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return undefined
  }
}

/** The forms in which a secret may appear: plain, in JSON, in a URL, and encoded. */
function listForms(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1)
  const address = encodeAddress(value)
  const forms = [
    value,
    json,
    address,
    address.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    address.replaceAll('%20', '+'),
    ...[0, 1, 2].flatMap((offset) => listBase64(value, offset)),
  ]
  return forms.filter(({ length }) => length >= MIN_SECRET_LENGTH)
}

function encodeAddress(value: string): string {
  // A lone surrogate cannot be encoded.
  return encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, '\uFFFD'))
}

/** The base64 of a secret inside a longer text, for each of the three offsets at which it may begin. */
function listBase64(value: string, offset: number): readonly string[] {
  const bytes = Buffer.from(value)
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replaceAll('=', '')
  // The characters at the ends also depend on the text next to the secret.
  const start = Math.ceil((offset * 8) / 6)
  const end = Math.floor(((offset + bytes.length) * 8) / 6)
  const core = encoded.slice(start, end)
  return [core, core.replaceAll('+', '-').replaceAll('/', '_')]
}

/** Replaces each range in a text. */
function cutOut(text: string, ranges: readonly Range[]): string {
  const kept: string[] = []
  let from = 0
  for (const { start, end } of ranges) {
    kept.push(text.slice(from, start), HIDDEN)
    from = end
  }
  return `${kept.join('')}${text.slice(from)}`
}
