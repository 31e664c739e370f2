import { listModelNames } from 'foldout/catalog'
import type { GatewayConfig, ServerConfig } from '../config/config.ts'
import type { ServerToolOverride } from '../config/definition.ts'
import { isObject } from '../fields.ts'
import type { ToolDefinition } from '../upstreams/snapshot.ts'
import { toList } from './rules.ts'
import { toVisible } from './visible.ts'

/** A server whose tools are known. */
export interface KnownServer {
  readonly config: ServerConfig
  readonly tools: readonly ToolDefinition[]
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
    const fresh = [...findInPatterns(this.#config, server), ...findInOverrides(server)].filter(
      (message) => !this.#found.has(message),
    )
    for (const message of fresh) this.#found.add(message)
    return fresh
  }
}

/** Patterns with `*` may be meant for tools that come later. */
function findInPatterns(config: GatewayConfig, server: KnownServer): readonly string[] {
  const { name } = server.config
  const exact = listPatterns(config).filter(({ pattern }) => pattern.startsWith(`${name}/`) && !pattern.includes('*'))
  if (exact.length === 0) return []
  const known = new Set(server.tools.flatMap((tool) => listNames(server, tool)))
  return exact.flatMap(({ where, pattern }) => {
    const tool = pattern.slice(name.length + 1)
    return known.has(tool) ? [] : [`${where} names the tool '${pattern}'. ${denyTool(name, tool)}`]
  })
}

function findInOverrides(server: KnownServer): readonly string[] {
  return Array.from(server.config.overrides, ([tool, override]) => findInOverride(server, tool, override)).flat()
}

function denyTool(server: string, tool: string): string {
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

function findInOverride({ config, tools }: KnownServer, tool: string, override: ServerToolOverride): readonly string[] {
  const definition = tools.find(({ name }) => name === tool)
  if (!definition) return [`Its "tools" name '${toVisible(tool)}'. ${denyTool(config.name, tool)}`]
  const { properties } = (definition.inputSchema ?? {}) as { readonly properties?: unknown }
  if (!isObject(properties)) return []
  return Object.keys(override.parameters ?? {})
    .filter((parameter) => !Object.hasOwn(properties, parameter))
    .map((parameter) => {
      const others = Object.keys(properties).join(', ')
      const has = others === '' ? 'It has none.' : `It has: ${toVisible(others)}.`
      return `Its "tools" name the parameter '${parameter}' of '${toVisible(tool)}', which the tool does not have. ${has}`
    })
}
