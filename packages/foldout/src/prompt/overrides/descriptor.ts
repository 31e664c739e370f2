import { sha256Hex } from '../../core/hash.ts'
import { canonicalJson } from '../../core/json/json.ts'
import type { Template } from '../../core/template.ts'
import { toolDefinition } from '../../tools/definition.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { Registry } from '../definition/registry.ts'
import type { AnySection } from '../definition/section.ts'

/**
 * Hashes of a prompt's source texts. They reveal overrides that were written for an older text.
 *
 * @example
 * ```ts
 * const descriptor: PromptDescriptor = prompt.descriptor
 * descriptor.sections.map(({ path }) => path) // => [ 'role', 'refunds', 'guide', 'tasks' ]
 * ```
 */
export interface PromptDescriptor {
  readonly ns: string
  readonly key: string
  readonly sections: readonly SectionDescriptor[]
  readonly tools: readonly ToolDescriptor[]
}

/**
 * The hash of a section's source text.
 *
 * @example
 * ```ts
 * const getHash = ({ hash }: SectionDescriptor): string => hash
 * const hashes = prompt.descriptor.sections.map(getHash)
 * ```
 */
export interface SectionDescriptor {
  readonly path: string
  readonly number: string
  /** SHA-256 of the template and the summary, or of the summary alone if a function renders the body. */
  readonly hash: string
  readonly acceptsOverrides: boolean
}

/**
 * The hash of a tool's source.
 *
 * @example
 * ```ts
 * const format = ({ path, name }: ToolDescriptor): string => `${path}: ${name}`
 * prompt.descriptor.tools.map(format) // => [ 'refunds: refund_order', 'tasks: look' ]
 * ```
 */
export interface ToolDescriptor {
  readonly name: string
  /** The path of its section. */
  readonly path: string
  /** SHA-256 of name, description and input schema. */
  readonly hash: string
  readonly acceptsOverrides: boolean
}

export function describePrompt(ns: string, key: string, registry: Registry): PromptDescriptor {
  return Object.freeze({
    ns,
    key,
    sections: Object.freeze(
      registry.slots.map(({ path, number, section }) =>
        Object.freeze({ path, number, hash: hashSection(section), acceptsOverrides: section.acceptsOverrides }),
      ),
    ),
    tools: Object.freeze(describeTools(registry)),
  })
}

function describeTools(registry: Registry): ToolDescriptor[] {
  return Array.from(findTools(registry).values(), ({ tool, path, acceptsOverrides }) =>
    Object.freeze({ name: tool.name, path, hash: hashTool(tool), acceptsOverrides }),
  )
}

/** A tool of a prompt, with the first section that has it. */
export interface PlacedTool {
  readonly tool: AnyTool
  readonly path: string
  /** Whether every section that has the tool accepts overrides. */
  readonly acceptsOverrides: boolean
}

/** Lists the tools of a prompt by name, in document order. */
export function findTools(registry: Registry): ReadonlyMap<string, PlacedTool> {
  const tools = new Map<string, PlacedTool>()
  for (const { path, section } of registry.withTools) {
    for (const tool of section.tools) {
      const known = tools.get(tool.name)
      const acceptsOverrides = section.acceptsOverrides && (known?.acceptsOverrides ?? true)
      tools.set(tool.name, { tool, path: known?.path ?? path, acceptsOverrides })
    }
  }
  return tools
}

/** Finds a tool that a section offers on demand. */
export function findToolOnDemand(registry: Registry, name: string): PlacedTool | undefined {
  for (const { path, section } of registry.withTools) {
    const tool = section.toolsOnDemand?.find(name)
    if (tool) return { tool, path, acceptsOverrides: section.acceptsOverrides }
  }
  return undefined
}

/** Hashes the texts of a section. The keys are in the order of canonical JSON. */
export function hashSection({ body, summary }: AnySection): string {
  return sha256Hex(
    JSON.stringify({
      body: typeof body === 'function' ? null : getParts(body),
      summary: summary ? getParts(summary) : null,
    }),
  )
}

function getParts({ literals, names }: Template): readonly (readonly string[])[] {
  return [literals, names]
}

/** Hashes the definition of a tool as canonical JSON. */
export function hashTool(tool: AnyTool): string {
  const { name, description, inputSchema } = toolDefinition(tool)
  return sha256Hex(
    `{"description":${JSON.stringify(description)},"inputSchema":${canonicalJson(inputSchema)},"name":${JSON.stringify(name)}}`,
  )
}
