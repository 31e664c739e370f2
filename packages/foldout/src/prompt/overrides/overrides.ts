import { describeFields } from '../../core/schema/schema.ts'
import { parseTemplate, type Template } from '../../core/template.ts'
import type { Visibility } from '../../session/visibility.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { findTools, hashSection, hashTool } from './descriptor.ts'
import { unknownPlaceholder, type Registry, type Slot } from '../definition/registry.ts'

/**
 * New texts for a section, written outside the source. Fields that are left out do not change.
 *
 * @example
 * ```ts
 * const { sections } = sourceOverrides(prompt)
 * const override: SectionOverride = { hash: sections?.['guide']?.hash ?? '', body: 'Be brief.', visibility: 'full' }
 * bound.render({ overrides: { sections: { guide: override } } }).text.includes('Be brief.') // => true
 * ```
 */
export interface SectionOverride {
  /** The section's hash in the descriptor when the override was written. */
  readonly hash: string
  /** A template over the same params. */
  readonly body?: string
  /** A template over the same params. */
  readonly summary?: string
  /** Replaces the section's own visibility. */
  readonly visibility?: Visibility
}

/**
 * New descriptions for a tool.
 *
 * @example
 * ```ts
 * const { tools } = sourceOverrides(prompt)
 * const override: ToolOverride = { hash: tools?.['look']?.hash ?? '', description: 'Describes the room.' }
 * bound.render({ overrides: { tools: { look: override } } }).tools[0]?.description // => 'Describes the room.'
 * ```
 */
export interface ToolOverride {
  /** The tool's hash in the descriptor when the override was written. */
  readonly hash: string
  readonly description?: string
  /** Descriptions of fields by dotted path: `query`, `filter.name`. */
  readonly fields?: Readonly<Record<string, string>>
}

/**
 * All overrides of a prompt.
 *
 * @example
 * ```ts
 * const [, refunds] = prompt.descriptor.sections
 * const overrides: PromptOverrides = {
 *   sections: { refunds: { hash: refunds?.hash ?? '', summary: 'How and when to refund.' } },
 * }
 * bound.render({ overrides }).text.includes('How and when to refund.') // => true
 * ```
 */
export interface PromptOverrides {
  readonly sections?: Readonly<Record<string, SectionOverride>>
  readonly tools?: Readonly<Record<string, ToolOverride>>
}

/**
 * An override that is not applied, and the reason. It stays in its file.
 *
 * @example
 * ```ts
 * const ignored: readonly IgnoredOverride[] = findIgnoredOverrides(prompt, overrides)
 * ignored.map(({ name, reason }) => `${name}: ${reason}`) // => [ 'missing: unknown' ]
 * ```
 */
export interface IgnoredOverride {
  readonly type: 'override-ignored'
  readonly target: 'section' | 'tool'
  /** The path of the section or the name of the tool. */
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

type SectionTemplates = AppliedOverrides['sections'] extends ReadonlyMap<string, infer Templates> ? Templates : never
type Ignore = (target: 'section' | 'tool', name: string, reason: IgnoredOverride['reason'], message: string) => void

/** Checks overrides against their prompt and turns the valid ones into templates and tools. */
export function applyOverrides(overrides: PromptOverrides, registry: Registry): AppliedOverrides {
  const ignored: IgnoredOverride[] = []
  const ignore: Ignore = (target, name, reason, message) =>
    void ignored.push({ type: 'override-ignored', target, name, reason, message })
  const sections = new Map<string, SectionTemplates>()
  for (const [path, override] of Object.entries(overrides.sections ?? {})) {
    const slot = findSection(path, override, registry, ignore)
    if (slot) sections.set(path, parseOverride(slot, override, registry))
  }
  const tools = applyToolOverrides(overrides.tools ?? {}, registry, ignore)
  return { sections, tools, ignored }
}

/** Finds the section of an override if the override applies. Only sections with an override are hashed. */
function findSection(path: string, override: SectionOverride, registry: Registry, ignore: Ignore): Slot | undefined {
  const slot = registry.byPath.get(path)
  const refuse = (reason: IgnoredOverride['reason'], message: string): undefined => {
    ignore('section', path, reason, message)
    return undefined
  }
  if (!slot) return refuse('unknown', `There is no section '${path}' in this prompt.`)
  if (!slot.section.acceptsOverrides) return refuse('refused', `Section '${path}' does not accept overrides.`)
  if (override.hash !== hashSection(slot.section)) {
    return refuse(
      'stale',
      `Section '${path}' has changed since its override was written. Compare the two and write the override again.`,
    )
  }
  if (override.body !== undefined && typeof slot.section.body === 'function') {
    return refuse('refused', `The body of section '${path}' is rendered by a function and cannot be overridden.`)
  }
  return slot
}

function parseOverride(slot: Slot, override: SectionOverride, registry: Registry): SectionTemplates {
  const known = slot.outputNames ?? (slot.section.params ? undefined : registry.inferred)
  const parse = (text: string | undefined, where: string): Template | undefined => {
    const template = text === undefined ? undefined : parseTemplate(text)
    const unknown = known && template?.names.find((name) => !known.has(name))
    if (unknown !== undefined) throw unknownPlaceholder(slot.path, `overridden ${where}`, unknown, known?.keys() ?? [])
    return template
  }
  return {
    body: parse(override.body, 'template'),
    summary: parse(override.summary, 'summary'),
    visibility: override.visibility,
  }
}

function applyToolOverrides(
  overrides: Readonly<Record<string, ToolOverride>>,
  registry: Registry,
  ignore: Ignore,
): ReadonlyMap<string, AnyTool> {
  const tools = new Map<string, AnyTool>()
  const entries = Object.entries(overrides)
  if (entries.length === 0) return tools
  const known = findTools(registry)
  for (const [name, override] of entries) {
    const found = known.get(name)
    if (!found) {
      ignore('tool', name, 'unknown', `No section of this prompt has a tool '${name}'.`)
    } else if (!found.acceptsOverrides) {
      ignore(
        'tool',
        name,
        'refused',
        `Section '${found.path}' does not accept overrides, so neither does its tool '${name}'.`,
      )
    } else if (override.hash !== hashTool(found.tool)) {
      ignore(
        'tool',
        name,
        'stale',
        `Tool '${name}' has changed since its override was written. Compare the two and write the override again.`,
      )
    } else {
      const { schema, unknown } = describeFields(found.tool.inputSchema, override.fields ?? {})
      for (const field of unknown) ignore('tool', name, 'unknown', `Tool '${name}' has no field '${field}'.`)
      const description = override.description ?? found.tool.description
      tools.set(name, Object.freeze({ ...found.tool, description, inputSchema: schema }))
    }
  }
  return tools
}
