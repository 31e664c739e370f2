import { HIDDEN, hideInUrl, SECRET_NAME, SECRET_VALUE } from '../../../shared/secret-text.ts'
import { isSmall } from '../../../shared/fields.ts'
import { hideStart } from './cut.ts'
import type { Secrets } from './secrets.ts'
import { MAX_RECORDED_CHARACTERS, MAX_RECORDED_DEPTH } from './limits.ts'

/** A value without its secrets. */
export interface Redacted<Value> {
  readonly value: Value
  /** Whether anything was hidden, so that it differs from what was sent. */
  readonly isRedacted: boolean
}

/** Hides secrets: values that are named like one, look like one, or are known from the configuration or the environment. */
export interface Redactor {
  redactText(text: string): Redacted<string>
  /** The start of a text without its secrets, also without the half of one at the end. */
  redactStart(text: string, most: number): string
  /** JSON without its secrets; undefined if it is too large or too deeply nested to keep. */
  redactJson(value: unknown): Redacted<unknown>
}

export function createRedactor(secrets: Pick<Secrets, 'hide'>): Redactor {
  const hide = (text: string): string => {
    return secrets.hide(text).replaceAll(/[^\s"'`=:,;()<>[\]{}]+(?::\/\/[^\s"'`<>]+)?/g, (word) => {
      if (SECRET_VALUE.test(word)) return HIDDEN
      if (word.includes('://')) return hideInUrl(word)
      return word
    })
  }

  const redact = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return hide(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > MAX_RECORDED_DEPTH) throw new RangeError('too deep')
    if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1))
    const entries = Object.entries(value).map(([name, item]) => [
      hide(name),
      SECRET_NAME.test(name) && isWorthHiding(item) ? HIDDEN : redact(item, depth + 1),
    ])
    return Object.fromEntries(entries) as unknown
  }

  return {
    redactText(text) {
      if (text.length > MAX_RECORDED_CHARACTERS) return { value: '', isRedacted: true }
      const value = hide(text)
      return { value, isRedacted: value !== text }
    },
    redactStart: (text, most) => hideStart(text, most, hide),
    redactJson(given) {
      try {
        // Measured first: a value of many megabytes is not worth writing, let alone copying.
        if (!isSmall(given, 4 * MAX_RECORDED_CHARACTERS)) return { value: undefined, isRedacted: true }
        const before = JSON.stringify(given) ?? 'null'
        if (before.length > MAX_RECORDED_CHARACTERS) return { value: undefined, isRedacted: true }
        const value = redact(given, 0)
        return { value, isRedacted: JSON.stringify(value) !== before }
      } catch {
        return { value: undefined, isRedacted: true }
      }
    },
  }
}

/** A number of tokens or a flag is not a secret, even if its name says "token" or "key". */
function isWorthHiding(value: unknown): boolean {
  if (typeof value === 'string') return value !== ''
  return typeof value === 'object' && value !== null
}
