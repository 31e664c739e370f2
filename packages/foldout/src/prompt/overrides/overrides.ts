import { describeFields } from '../../core/schema/schema.ts'
import { parseTemplate, type Template } from '../../core/template.ts'
import type { Visibility } from '../../session/visibility.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { PromptDescriptor } from './descriptor.ts'
import { unknownPlaceholder, type Registry } from '../render/registry.ts'

/** Other words for a section, written outside the source. What is left out stays as it is. */
export interface SectionOverride {
  /** The section's hash in the descriptor when this was written. */
  readonly hash: string
  /** A template over the same params. */
  readonly body?: string
  /** A template over the same params. */
  readonly summary?: string
  /** Takes the place of the section's own visibility. */
  readonly visibility?: Visibility
}

/** Other words for a tool. */
export interface ToolOverride {
  /** The tool's hash in the descriptor when this was written. */
  readonly hash: string
  readonly description?: string
  /** Descriptions of fields by dotted path: `query`, `filter.name`. */
  readonly fields?: Readonly<Record<string, string>>
}

/** Everything people have reworded in a prompt. */
export interface PromptOverrides {
  readonly sections?: Readonly<Record<string, SectionOverride>>
  readonly tools?: Readonly<Record<string, ToolOverride>>
}

/** An override that is not applied, and why. It stays where it is written. */
export interface IgnoredOverride {
  readonly type: 'override-ignored'
  readonly target: 'section' | 'tool'
  /** Path of the section or name of the tool. */
  readonly name: string
  readonly reason: 'stale' | 'unknown' | 'refused'
  readonly message: string
}

export interface AppliedOverrides {
  readonly sections: ReadonlyMap<
    string,
    {
      readonly body: Template | undefined
      readonly summary: Template | undefined
      readonly visibility: Visibility | undefined
    }
  >
  readonly tools: ReadonlyMap<string, AnyTool>
  readonly ignored: readonly IgnoredOverride[]
}

/** Checks overrides against the prompt they are for and makes templates and tools of those that hold. */
export function applyOverrides(
  overrides: PromptOverrides,
  registry: Registry,
  descriptor: PromptDescriptor,
): AppliedOverrides {
  const sections = new Map<
    string,
    { body: Template | undefined; summary: Template | undefined; visibility: Visibility | undefined }
  >()
  const tools = new Map<string, AnyTool>()
  const ignored: IgnoredOverride[] = []
  const ignore = (target: 'section' | 'tool', name: string, reason: IgnoredOverride['reason'], message: string): void =>
    void ignored.push({ type: 'override-ignored', target, name, reason, message })

  const sectionHashes = new Map(descriptor.sections.map((section) => [section.path, section.hash]))
  for (const [path, override] of Object.entries(overrides.sections ?? {})) {
    const slot = registry.byPath.get(path)
    if (!slot) {
      ignore('section', path, 'unknown', `There is no section '${path}' in this prompt.`)
    } else if (!slot.section.acceptsOverrides) {
      ignore('section', path, 'refused', `Section '${path}' does not accept overrides.`)
    } else if (override.hash !== sectionHashes.get(path)) {
      ignore(
        'section',
        path,
        'stale',
        `Section '${path}' has changed since its override was written. Compare the two and write the override again.`,
      )
    } else if (override.body !== undefined && typeof slot.section.body === 'function') {
      ignore(
        'section',
        path,
        'refused',
        `The body of section '${path}' is made by a function and cannot be overridden.`,
      )
    } else {
      const parse = (text: string | undefined, where: string): Template | undefined => {
        const template = text === undefined ? undefined : parseTemplate(text)
        const known = slot.outputNames ?? (slot.section.params ? undefined : registry.inferred)
        const unknown = known && template?.names.find((name) => !known.has(name))
        if (unknown !== undefined) throw unknownPlaceholder(path, `overridden ${where}`, unknown, known!.keys())
        return template
      }
      sections.set(path, {
        body: parse(override.body, 'template'),
        summary: parse(override.summary, 'summary'),
        visibility: override.visibility,
      })
    }
  }

  const known = new Map(
    registry.withTools.flatMap(({ section }) => section.tools.map((tool) => [tool.name, tool] as const)),
  )
  for (const [name, override] of Object.entries(overrides.tools ?? {})) {
    const tool = known.get(name)
    const described = descriptor.tools.find((candidate) => candidate.name === name)
    if (!tool || !described) {
      ignore('tool', name, 'unknown', `No section of this prompt has a tool '${name}'.`)
    } else if (!described.acceptsOverrides) {
      ignore(
        'tool',
        name,
        'refused',
        `Section '${described.path}' does not accept overrides, and so neither does its tool '${name}'.`,
      )
    } else if (override.hash !== described.hash) {
      ignore(
        'tool',
        name,
        'stale',
        `Tool '${name}' has changed since its override was written. Compare the two and write the override again.`,
      )
    } else {
      const { schema, unknown } = describeFields(tool.inputSchema, override.fields ?? {})
      for (const field of unknown) ignore('tool', name, 'unknown', `Tool '${name}' has no field '${field}'.`)
      tools.set(
        name,
        Object.freeze({ ...tool, description: override.description ?? tool.description, inputSchema: schema }),
      )
    }
  }
  return { sections, tools, ignored }
}
