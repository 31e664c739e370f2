import type { RawTool } from 'foldout/catalog'
import type { PresetDefinition } from './config/definition.ts'

/** Whether a text fits a pattern in which `*` stands for any text. Takes linear time for each star. */
export function matchesPattern(text: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  if (others.length === 0) return text === pattern
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

/** Whether a preset has a server. */
export function includesServer({ servers = ['*'] }: PresetDefinition, name: string): boolean {
  return servers.some((pattern) => matchesPattern(name, pattern))
}

/** The tools of a server that a preset shows. */
export function selectTools(preset: PresetDefinition, server: string, tools: readonly RawTool[]): readonly RawTool[] {
  if (!includesServer(preset, server)) return []
  const { include = ['*'], exclude = [] } = preset
  return tools.filter(({ name }) => {
    const path = `${server}/${name}`
    return (
      include.some((pattern) => matchesPattern(path, pattern)) &&
      !exclude.some((pattern) => matchesPattern(path, pattern))
    )
  })
}
