import { sha256Hex } from '../../core/hash.ts'
import { canonicalJson } from '../../core/json/json.ts'
import type { Template } from '../../core/template.ts'
import { toolDefinition, type AnyTool } from '../../tools/tool.ts'
import type { Registry } from '../render/registry.ts'
import type { AnySection } from '../section.ts'

/** What a prompt says in its source, as hashes: an override written against other words can be told by them. */
export interface PromptDescriptor {
  readonly ns: string
  readonly key: string
  readonly sections: readonly SectionDescriptor[]
  readonly tools: readonly ToolDescriptor[]
}

/** What the source says of a section, as a hash. */
export interface SectionDescriptor {
  readonly path: string
  readonly number: string
  /** SHA-256 of the template and the summary; of the summary alone where a function makes the body. */
  readonly hash: string
  readonly acceptsOverrides: boolean
}

/** What the source says of a tool, as a hash. */
export interface ToolDescriptor {
  readonly name: string
  /** The section it belongs to. */
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

/** A tool of a prompt, at the first section that has it. */
export interface PlacedTool {
  readonly tool: AnyTool
  readonly path: string
  /** Whether every section that has the tool accepts overrides. */
  readonly acceptsOverrides: boolean
}

/** The tools of a prompt by name, in walking order. */
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

/** The hash of what a section says. The keys are in order, as canonical JSON has them. */
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

/** The hash of a tool's contract: the canonical JSON of its definition. */
export function hashTool(tool: AnyTool): string {
  const { name, description, inputSchema } = toolDefinition(tool)
  return sha256Hex(
    `{"description":${JSON.stringify(description)},"inputSchema":${canonicalJson(inputSchema)},"name":${JSON.stringify(name)}}`,
  )
}
