import type { PresetDefinition } from '../config/definition.ts'
import { hasParts } from '../../shared/fields.ts'
import { listToolNames } from '../policy/rules/rules.ts'
import type { GatewayServer } from '../servers/server.ts'
import type { ServerTool } from '../servers/server-tool.ts'

/** Whether a text matches a pattern in which `*` matches any text. */
function matchesPattern(text: string, pattern: string): boolean {
  return hasParts(text, pattern.split('*'))
}

/** Whether a preset includes a server. */
export function includesServer({ servers = ['*'] }: PresetDefinition, name: string): boolean {
  return servers.some((pattern) => matchesPattern(name, pattern))
}

/** The tools of a server that a preset shows. */
export function selectTools(
  preset: PresetDefinition,
  server: GatewayServer,
  tools: readonly ServerTool[] = server.tools,
): readonly ServerTool[] {
  if (!includesServer(preset, server.name)) return []
  const { include, exclude = [] } = preset
  if (!include && exclude.length === 0) return tools
  return tools.filter((tool) => {
    const paths = listToolNames(server.name, tool).map((one) => `${server.name}/${one}`)
    const matches = (patterns: readonly string[]): boolean =>
      patterns.some((pattern) => paths.some((path) => matchesPattern(path, pattern)))
    return (!include || matches(include)) && !matches(exclude)
  })
}
