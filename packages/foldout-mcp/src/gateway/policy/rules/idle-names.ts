import { listModelNames } from 'foldout/catalog'
import type { GatewayConfig, ServerConfig } from '../../config/config.ts'
import type { ServerToolOverride } from '../../config/definition.ts'
import { isObject } from 'foldout-shared/values'
import type { ToolDefinition } from '../../model/snapshot.ts'
import { toList } from './rules.ts'
import { toVisible } from '../../../shared/visible.ts'

/** A server whose tools are known. */
export interface KnownServer {
  readonly config: ServerConfig
  readonly tools: readonly ToolDefinition[]
}

/** A setting that has no effect. */
interface IdleName {
  /** The setting. Unlike the message, it has no text of the server, which may be another one each time. */
  readonly setting: string
  readonly message: string
}

/** Finds settings that name a tool or a parameter that a server does not have: one with a typo protects nothing. */
export class IdleNames {
  readonly #config: GatewayConfig
  readonly #found = new Set<string>()

  constructor(config: GatewayConfig) {
    this.#config = config
  }

  /** What was not found before. */
  findNew(server: KnownServer): readonly string[] {
    const found = [...findInPatterns(this.#config, server), ...findInOverrides(server)]
    return found.flatMap(({ setting, message }) => {
      const key = `${server.config.name} ${setting}`
      if (this.#found.has(key)) return []
      this.#found.add(key)
      return [message]
    })
  }
}

/** Patterns with `*` may be meant for tools that come later. */
function findInPatterns(config: GatewayConfig, server: KnownServer): readonly IdleName[] {
  const { name } = server.config
  const exact = listPatterns(config).filter(({ pattern }) => pattern.startsWith(`${name}/`) && !pattern.includes('*'))
  if (exact.length === 0) return []
  const known = new Set(server.tools.flatMap((tool) => listNames(server, tool)))
  return exact.flatMap(({ where, pattern }) => {
    const tool = pattern.slice(name.length + 1)
    const message = `${where} names the tool '${pattern}'. ${describeMissing(name, tool)}`
    if (known.has(tool)) return []
    return [{ setting: `${where} ${pattern}`, message }]
  })
}

function findInOverrides({ config, tools }: KnownServer): readonly IdleName[] {
  if (config.overrides.size === 0) return []
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return Array.from(config.overrides, ([tool, override]) =>
    findInOverride(config.name, tool, override, byName.get(tool)),
  ).flat()
}

function describeMissing(server: string, tool: string): string {
  return `The server '${server}' has no tool '${toVisible(tool)}'.`
}

/** The names by which a person may know a tool. */
function listNames({ config }: KnownServer, { name }: ToolDefinition): readonly string[] {
  const shown = config.overrides.get(name)?.name ?? name
  return [name, shown, toVisible(name), toVisible(shown), ...listModelNames(config.name, shown)]
}

function listPatterns({ rules, quotas, presets }: GatewayConfig) {
  const all = Array.from(presets, ([name, preset]) => ({ where: `The preset '${name}'`, ...preset }))
  const toPatterns = (where: string, given: string | readonly string[] = []) =>
    toList(given).map((pattern) => ({ where, pattern }))
  return [
    ...all.flatMap(({ where, include, exclude }) => [...toPatterns(where, include), ...toPatterns(where, exclude)]),
    ...[...rules, ...all.flatMap((preset) => preset.rules ?? [])].flatMap(({ tool }) => toPatterns('A rule', tool)),
    ...quotas.flatMap(({ tool }) => toPatterns('A quota', tool)),
  ]
}

function findInOverride(
  server: string,
  tool: string,
  override: ServerToolOverride,
  definition: ToolDefinition | undefined,
): readonly IdleName[] {
  const shown = toVisible(tool)
  if (!definition)
    return [{ setting: `tools ${tool}`, message: `Its "tools" name '${shown}'. ${describeMissing(server, tool)}` }]
  const { properties } = (definition.inputSchema ?? {}) as { readonly properties?: unknown }
  if (!isObject(properties)) return []
  return Object.keys(override.parameters ?? {})
    .filter((parameter) => !Object.hasOwn(properties, parameter))
    .map((parameter) => ({
      setting: `tools ${tool} ${parameter}`,
      message: `Its "tools" name the parameter '${parameter}' of '${shown}', which the tool does not have. ${listParameters(properties)}`,
    }))
}

const MAX_NAMED = 10
const MAX_NAME = 64

/** Names some parameters of a tool. A server may have any number of them, of any length. */
function listParameters(properties: object): string {
  const names = Object.keys(properties)
  if (names.length === 0) return 'It has none.'
  const some = names.slice(0, MAX_NAMED).map((name) => toVisible(name.slice(0, MAX_NAME)))
  return `It has: ${some.join(', ')}${names.length > MAX_NAMED ? ', …' : '.'}`
}
