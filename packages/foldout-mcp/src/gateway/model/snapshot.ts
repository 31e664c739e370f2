import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { RawTool } from 'foldout/catalog'
import type { ToolChange } from './events.ts'

/** A tool as its server defines it, without the way to call it. */
export type ToolDefinition = Omit<RawTool, 'call' | 'source'>

/** What is known about a server: enough to list and search its tools while it is not running. */
export interface Snapshot {
  readonly server: { readonly name?: string; readonly version?: string; readonly title?: string }
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string | undefined
  /** Which protocol it speaks: `legacy` before MCP 2026-07-28, `modern` from then on. */
  readonly era: 'legacy' | 'modern'
  readonly tools: readonly ToolDefinition[]
  /** As the server wrote them. */
  readonly resources: readonly Listed[]
  readonly templates: readonly Listed[]
  readonly prompts: readonly Listed[]
  /** What it has asked its clients for. From then on, each client gets a process of its own. */
  readonly asks?: Asks
}

/** A server that asks only for folders can share a process among clients that have none. */
export type Asks = 'roots' | 'questions'

/** An entry of a list, as the server wrote it. */
export type Listed = Readonly<Record<string, unknown>>

export function toDefinition({ call: _call, source: _source, ...definition }: RawTool): ToolDefinition {
  return definition
}

/** Equal for equal snapshots, regardless of field order. */
export function hashSnapshot(snapshot: Snapshot): string {
  return createHash('sha256').update(JSON.stringify(snapshot)).digest('hex')
}

/** The first of the tools of each name. Servers may list several. */
export function keepFirst(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  const names = new Set<string>()
  return tools.filter(({ name }) => !names.has(name) && names.add(name))
}

/** Says which tools are new, gone or different. */
export function compareTools(before: readonly ToolDefinition[], after: readonly ToolDefinition[]): ToolChange {
  const old = new Map(keepFirst(before).map((tool) => [tool.name, tool]))
  const now = new Map(keepFirst(after).map((tool) => [tool.name, tool]))
  return {
    added: [...now.keys()].filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !now.has(name)),
    changed: [...now]
      .filter(([name, tool]) => old.has(name) && !isDeepStrictEqual(old.get(name), tool))
      .map(([name]) => name),
  }
}
