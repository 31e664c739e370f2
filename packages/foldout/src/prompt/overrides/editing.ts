import { toTemplateSource, type Template } from '../../core/template.ts'
import {
  applyOverrides,
  type IgnoredOverride,
  type PromptOverrides,
  type SectionOverride,
  type ToolOverride,
} from './overrides.ts'
import { getRegistry, type AnyPrompt } from '../prompt.ts'

/** Overrides that say what the source says: what a person starts from to write other words. */
export function sourceOverrides(prompt: AnyPrompt): PromptOverrides {
  const registry = getRegistry(prompt)
  const sections: Record<string, SectionOverride> = {}
  // Without a prototype, because a tool may be named `__proto__`.
  const tools = Object.create(null) as Record<string, ToolOverride>
  for (const { path, hash, acceptsOverrides } of prompt.descriptor.sections) {
    if (!acceptsOverrides) continue
    const { body, summary } = registry.byPath.get(path)!.section
    sections[path] = {
      hash,
      ...text('body', typeof body === 'function' ? undefined : body),
      ...text('summary', summary),
    }
  }
  for (const { name, path, hash, acceptsOverrides } of prompt.descriptor.tools) {
    if (!acceptsOverrides) continue
    const tool = registry.byPath.get(path)!.section.tools.find((candidate) => candidate.name === name)!
    tools[name] = { hash, description: tool.description }
  }
  return { sections, tools }
}

/** A template that has no string form is left out; its hash is there, so that a new text can be written in. */
function text(key: 'body' | 'summary', template: Template | undefined): { body?: string; summary?: string } {
  const source = template && toTemplateSource(template)
  return source === undefined ? {} : { [key]: source }
}

/** The overrides that a render with them would not apply, and why. */
export function ignoredOverrides(prompt: AnyPrompt, overrides: PromptOverrides): readonly IgnoredOverride[] {
  return applyOverrides(overrides, getRegistry(prompt)).ignored
}
