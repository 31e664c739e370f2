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
        Object.freeze({ path, number, hash: sectionHash(section), acceptsOverrides: section.acceptsOverrides }),
      ),
    ),
    tools: Object.freeze(
      registry.withTools.flatMap(({ path, section }) =>
        section.tools.map((tool) =>
          Object.freeze({ name: tool.name, path, hash: toolHash(tool), acceptsOverrides: section.acceptsOverrides }),
        ),
      ),
    ),
  })
}

export function sectionHash({ body, summary }: AnySection): string {
  const parts = (template: Template | undefined): unknown => template && [template.literals, template.names]
  return sha256Hex(
    canonicalJson({ body: typeof body === 'function' ? null : parts(body), summary: parts(summary) ?? null }),
  )
}

export function toolHash(tool: AnyTool): string {
  return sha256Hex(canonicalJson(toolDefinition(tool)))
}
