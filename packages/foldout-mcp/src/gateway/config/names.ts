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

const MAX_REPEATED = 5

/** Names that an object has twice, such as `mcpServers.github`. Only the last of them counts, which is easily missed. */
export function findRepeatedNames(root: Node): readonly string[] {
  const repeated = new Set<string>()
  const waiting: { readonly path: readonly string[]; readonly node: Node }[] = [{ path: [], node: root }]
  for (let next = waiting.pop(); next && repeated.size < MAX_REPEATED; next = waiting.pop()) {
    const { path, node } = next
    const names = new Set<string>()
    for (const { children: [key, content] = [] } of node.type === 'object' ? (node.children ?? []) : []) {
      const name = String(key?.value)
      const inner = [...path, name]
      if (names.has(name)) repeated.add(inner.join('.'))
      names.add(name)
      // Deeper than the settings of a tool's parameter, nothing belongs to the gateway.
      if (content && inner.length < MAX_SETTING_DEPTH) waiting.push({ path: inner, node: content })
    }
  }
  return [...repeated]
}

const MAX_SETTING_DEPTH = 7
