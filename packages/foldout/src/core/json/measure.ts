/** Why a value cannot be sent as JSON. */
export type SizeFault =
  | { readonly type: 'deep' }
  | { readonly type: 'large'; readonly bytes: number }
  | { readonly type: 'unwritable'; readonly what: string }

export interface SizeLimits {
  readonly maxBytes: number
  readonly maxDepth: number
}

/** The maximum number of bytes that one character of a string takes, as in `\u0000`. */
const BYTES_PER_CHARACTER = 6
/** The maximum number of bytes that any other value takes, with the punctuation around it. */
const BYTES_PER_VALUE = 32

/**
 * Says why a value cannot be sent as JSON within limits, or returns nothing if it can. Walks the value without
 * recursion, and serializes it only if it could be too large.
 */
export function findSizeFault(value: unknown, limits: SizeLimits): SizeFault | undefined {
  try {
    return walk(value, limits)
  } catch {
    // A getter, a proxy or a foreign toJSON(). Serializing the value would fail in the same way, and nobody would be
    // notified.
    return { type: 'unwritable', what: 'something that throws when it is read' }
  }
}

function walk(value: unknown, { maxBytes, maxDepth }: SizeLimits): SizeFault | undefined {
  // Two lists rather than one of objects: this runs for every result.
  const waiting: unknown[] = [value]
  const depths: number[] = [0]
  let characters = 0
  let values = 0
  while (waiting.length > 0) {
    values++
    const found = waiting.pop()
    const depth = depths.pop() ?? 0
    if (typeof found === 'string') characters += found.length
    if (typeof found === 'bigint') return { type: 'unwritable', what: 'a bigint' }
    if (typeof found !== 'object' || found === null) continue
    if (depth >= maxDepth) return { type: 'deep' }
    if ('toJSON' in found && typeof found.toJSON === 'function') {
      waiting.push(found.toJSON(''))
      depths.push(depth + 1)
      continue
    }
    const inner: readonly unknown[] = Array.isArray(found) ? found : Object.values(found)
    if (!Array.isArray(found)) for (const key of Object.keys(found)) characters += key.length
    const least = characters + values + inner.length
    if (least > maxBytes) return { type: 'large', bytes: least }
    for (const one of inner) {
      waiting.push(one)
      depths.push(depth + 1)
    }
  }
  if (characters * BYTES_PER_CHARACTER + values * BYTES_PER_VALUE <= maxBytes) return undefined
  const bytes = new TextEncoder().encode(JSON.stringify(value)).byteLength
  if (bytes > maxBytes) return { type: 'large', bytes }
  return undefined
}

/** Whether a value is nested deeper than a limit. */
export function isDeeperThan(value: unknown, maxDepth: number): boolean {
  return findSizeFault(value, { maxBytes: Infinity, maxDepth })?.type === 'deep'
}

/** Counts what a value has as JSON at least, in bytes. Walks the value without recursion. */
export function countLeastBytes(value: unknown): number {
  const waiting: unknown[] = [value]
  let bytes = 0
  while (waiting.length > 0) {
    const found = waiting.pop()
    bytes += 1
    if (typeof found === 'string') bytes += found.length
    if (typeof found !== 'object' || found === null) continue
    if (!Array.isArray(found)) for (const key of Object.keys(found)) bytes += key.length
    for (const one of Object.values(found)) waiting.push(one)
  }
  return bytes
}

/** Formats a size: `512 bytes`, `1.5 kB`, `12 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`
  const [amount, unit] = bytes < 1_000_000 ? [bytes / 1_000, 'kB'] : [bytes / 1_000_000, 'MB']
  return `${amount < 10 ? Math.round(amount * 10) / 10 : Math.round(amount)} ${unit}`
}
