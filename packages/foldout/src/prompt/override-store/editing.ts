import { listFieldDescriptions } from '../../core/schema/schema.ts'
import { toTemplateSource, type Template } from '../../core/template.ts'
import { findTools, hashTool } from '../overrides/descriptor.ts'
import {
  applyOverrides,
  type IgnoredOverride,
  type PromptOverrides,
  type SectionOverride,
  type ToolOverride,
} from '../overrides/overrides.ts'
import { getRegistry, type AnyPrompt } from '../prompt.ts'

/**
 * Creates overrides with the texts of the source, as a starting point for rewording them.
 *
 * @example
 * ```ts
 * const { sections } = sourceOverrides(prompt)
 * await writeFile('words.json', JSON.stringify(sections, null, 2))
 * ```
 */
export function sourceOverrides(prompt: AnyPrompt): PromptOverrides {
  const registry = getRegistry(prompt)
  const sections: Record<string, SectionOverride> = {}
  // Without a prototype, because a tool may be named `__proto__`.
  const tools = Object.create(null) as Record<string, ToolOverride>
  for (const { path, hash, acceptsOverrides } of prompt.descriptor.sections) {
    if (!acceptsOverrides) continue
    const slot = registry.byPath.get(path)
    if (!slot) continue
    const { body, summary } = slot.section
    sections[path] = {
      hash,
      ...text('body', typeof body === 'function' ? undefined : body),
      ...text('summary', summary),
    }
  }
  for (const { tool, acceptsOverrides } of findTools(registry).values()) {
    if (!acceptsOverrides) continue
    const fields = listFieldDescriptions(tool.inputSchema)
    const hasFields = Object.keys(fields).length > 0
    tools[tool.name] = { hash: hashTool(tool), description: tool.description, ...(hasFields && { fields }) }
  }
  return { sections, tools }
}

/** A template without a string form is left out, but its hash is kept, so a new text can be added. */
function text(key: 'body' | 'summary', template: Template | undefined): { body?: string; summary?: string } {
  const source = template && toTemplateSource(template)
  if (source === undefined) return {}
  return { [key]: source }
}

/**
 * Finds the overrides that a render would not apply, with the reasons.
 *
 * @example
 * ```ts
 * for (const { name, message } of findIgnoredOverrides(prompt, overrides)) console.warn(name, message)
 * ```
 */
export function findIgnoredOverrides(prompt: AnyPrompt, overrides: PromptOverrides): readonly IgnoredOverride[] {
  return applyOverrides(overrides, getRegistry(prompt)).ignored
}
