import { toTemplateSource, type Template } from '../../core/template.ts'
import { findTools, hashTool } from './descriptor.ts'
import {
  applyOverrides,
  type IgnoredOverride,
  type PromptOverrides,
  type SectionOverride,
  type ToolOverride,
} from './overrides.ts'
import { getRegistry, type AnyPrompt } from '../prompt.ts'

/**
 * The overrides that say what the source says: what a person starts from to write other words.
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
    if (acceptsOverrides) tools[tool.name] = { hash: hashTool(tool), description: tool.description }
  }
  return { sections, tools }
}

/** A template that has no string form is left out; its hash is there, so that a new text can be written in. */
function text(key: 'body' | 'summary', template: Template | undefined): { body?: string; summary?: string } {
  const source = template && toTemplateSource(template)
  return source === undefined ? {} : { [key]: source }
}

/**
 * The overrides that a render with them would not apply, and why.
 *
 * @example
 * ```ts
 * for (const { name, message } of ignoredOverrides(prompt, overrides)) console.warn(name, message)
 * ```
 */
export function ignoredOverrides(prompt: AnyPrompt, overrides: PromptOverrides): readonly IgnoredOverride[] {
  return applyOverrides(overrides, getRegistry(prompt)).ignored
}
