import type { Node } from 'jsonc-parser'

const LOST = '__proto__'

/** What a tree of JSON says. The parser's own values lose properties called `__proto__`. */
export function toValue({ type, value, children = [] }: Node): unknown {
  if (type === 'array') return children.map(toValue)
  if (type !== 'object') return value
  return Object.fromEntries(
    children.flatMap(({ children: [key, content] = [] }) =>
      key && content ? [[String(key.value), toValue(content)] as const] : [],
    ),
  )
}

/**
 * Where settings have something called `__proto__`, such as `env.__proto__`. The schemas would leave it out without a word, and a
 * preset or an override that does nothing protects nobody.
 */
export function findLostName(value: object, settings: readonly string[]): string | undefined {
  const given = new Map(Object.entries(value))
  const waiting = settings.map((name) => ({ path: name, inner: given.get(name) }))
  const seen = new Set<unknown>()
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { path, inner } = next
    if (typeof inner !== 'object' || inner === null || seen.has(inner)) continue
    seen.add(inner)
    if (Object.hasOwn(inner, LOST)) return `${path}.${LOST}`
    for (const [name, content] of Object.entries(inner)) waiting.push({ path: `${path}.${name}`, inner: content })
  }
  return undefined
}
