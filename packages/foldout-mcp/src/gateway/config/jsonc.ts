import type { Node } from 'jsonc-parser'

/** The value of a node of jsonc-parser. Its own values lose properties called `__proto__`. */
export function toValue({ type, value, children = [] }: Node): unknown {
  if (type === 'array') return children.map(toValue)
  if (type !== 'object') return value
  return Object.fromEntries(
    children.flatMap(({ children: [key, content] = [] }) =>
      key && content ? [[String(key.value), toValue(content)] as const] : [],
    ),
  )
}
