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

export interface SectionDescriptor {
  readonly path: string
  readonly number: string
  /** SHA-256 of the template and the summary; of the summary alone where a function makes the body. */
  readonly hash: string
  readonly acceptsOverrides: boolean
}

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

/** Each tool once, at the first section that has it; one that any of its sections keeps as it is takes no overrides. */
function describeTools(registry: Registry): ToolDescriptor[] {
  const tools = new Map<AnyTool, ToolDescriptor>()
  for (const { path, section } of registry.withTools) {
    for (const tool of section.tools) {
      const known = tools.get(tool)
      const acceptsOverrides = section.acceptsOverrides && (known?.acceptsOverrides ?? true)
      if (known?.acceptsOverrides === acceptsOverrides) continue
      const first = known ?? { name: tool.name, path, hash: hashTool(tool) }
      tools.set(tool, Object.freeze({ ...first, acceptsOverrides }))
    }
  }
  return [...tools.values()]
}

export function hashSection({ body, summary }: AnySection): string {
  const parts = (template: Template | undefined): unknown => template && [template.literals, template.names]
  return sha256Hex(
    canonicalJson({ body: typeof body === 'function' ? null : parts(body), summary: parts(summary) ?? null }),
  )
}

export function hashTool(tool: AnyTool): string {
  return sha256Hex(canonicalJson(toolDefinition(tool)))
}
