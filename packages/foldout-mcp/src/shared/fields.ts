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
