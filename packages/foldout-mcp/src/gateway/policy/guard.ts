import type { CallClient } from 'foldout/catalog'
import type { Policy } from './policy.ts'
import { createFacts, NOBODY, type NamedTool, type Who } from './rules/rules.ts'

/** The tools of a server that the clients of a preset may see. */
export interface Guard {
  /** The tools that are not denied to a client or, without one, to everyone. */
  filter<Tool extends NamedTool>(server: string, tools: readonly Tool[], who: Who): readonly Tool[]
  /** Whether a tool is denied to a client. */
  denies(server: string, tool: NamedTool, who: Who): boolean
}

export function createGuard(policy: Policy, preset: string): Guard {
  const denies: Guard['denies'] = (server, tool, who) =>
    policy.getRules(preset).decide(who, createFacts(preset, server, tool)).action === 'deny'
  return { denies, filter: (server, tools, who) => tools.filter((tool) => !denies(server, tool, who)) }
}

export function toWho({ client }: { readonly client?: Pick<CallClient, 'name' | 'principal'> | undefined }): Who {
  if (!client) return NOBODY
  return { client: client.name, user: client.principal }
}
