import { isObject } from 'foldout-shared/values'

/** The keys that a configuration may have its servers under, the preferred one first. VS Code writes `servers`. */
export const SERVER_KEYS = ['mcpServers', 'servers'] as const

type ServerKey = (typeof SERVER_KEYS)[number]

/** The key whose servers the gateway reads; undefined if the configuration has none. */
export function findServerKey(definition: unknown): ServerKey | undefined {
  if (!isObject(definition)) return undefined
  return SERVER_KEYS.find((key) => Object.hasOwn(definition, key) && isObject(definition[key]))
}

/** The keys whose servers the gateway does not read, because another key comes first. */
export function listIgnoredServerKeys(definition: unknown): readonly ServerKey[] {
  const used = findServerKey(definition)
  if (!isObject(definition) || used === undefined) return []
  return SERVER_KEYS.filter((key) => key !== used && Object.hasOwn(definition, key) && isObject(definition[key]))
}
