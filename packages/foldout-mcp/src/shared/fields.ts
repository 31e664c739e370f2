/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a text begins with the first part, ends with the last, and has the others in between, in order. */
export function hasParts(text: string, [first = '', ...others]: readonly string[]): boolean {
  if (others.length === 0) return text === first
  if (!text.startsWith(first)) return false
  const last = others.pop() ?? ''
  let from = first.length
  for (const part of others) {
    const found = text.indexOf(part, from)
    if (found === -1) return false
    from = found + part.length
  }
  return text.length - last.length >= from && text.endsWith(last)
}

/** The fields that have a value, for optional fields that must be absent rather than undefined. */
export function dropUndefined<Fields extends object>(
  fields: Fields,
): { readonly [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as { readonly [Key in keyof Fields]?: Exclude<Fields[Key], undefined> }
}

/** `12,345`. Loading the formatter of `toLocaleString` takes longer than starting a small gateway's catalog. */
export function formatNumber(number: number): string {
  if (!Number.isSafeInteger(number)) return number.toLocaleString('en')
  return String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/** `CommaExpected` becomes `comma expected`. */
export function toWords(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).trim()
}

/** Whether a value is smaller than about `limit` characters. */
export function isSmall(value: unknown, limit: number): boolean {
  let left = limit
  const waiting: unknown[] = [value]
  while (waiting.length > 0 && left >= 0) {
    const next = waiting.pop()
    left -= typeof next === 'string' ? next.length + 2 : 4
    if (typeof next !== 'object' || next === null) continue
    const inner: readonly unknown[] = Array.isArray(next) ? next : [...Object.keys(next), ...Object.values(next)]
    if (inner.length > left) return false
    for (const one of inner) waiting.push(one)
  }
  return left >= 0
}
