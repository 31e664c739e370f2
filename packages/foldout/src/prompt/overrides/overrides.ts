import { describeFields } from '../../core/schema/schema.ts'
import { parseTemplate, type Template } from '../../core/template.ts'
import type { Visibility } from '../../session/visibility.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { BySearchOptions } from '../../disclosure/ahead/by-search.ts'
import { findToolOnDemand, findTools, hashSection, hashTool, type PlacedTool } from './descriptor.ts'
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
  /** Lists a tool of a catalog from the start. */
  readonly core?: boolean
}

/**
 * Opens sections ahead with `bySearch()`, in runs that say nothing else about it.
 *
 * @example
 * ```ts
 * const ahead: AheadOverride = { max: 1, budget: 4_000 }
 * await runAgent(bound, { adapter, input: 'Refund order 17.', overrides: { ahead } })
 * ```
 */
export type AheadOverride = Pick<BySearchOptions, 'max' | 'budget' | 'minFit'>

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
  readonly ahead?: AheadOverride
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
  /** Tools on demand that are listed from the start, by the name in the override. */
  readonly core: ReadonlyMap<string, CoreTool>
  readonly ignored: readonly IgnoredOverride[]
}

export interface CoreTool {
  readonly tool: AnyTool
  /** The path of the section that offers it. */
  readonly path: string
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
  return { sections, ...applyToolOverrides(overrides.tools ?? {}, registry, ignore), ignored }
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
): Pick<AppliedOverrides, 'tools' | 'core'> {
  const tools = new Map<string, AnyTool>()
  const core = new Map<string, CoreTool>()
  const entries = Object.entries(overrides)
  if (entries.length === 0) return { tools, core }
  const known = findTools(registry)
  for (const [name, override] of entries) {
    const onDemand = known.has(name) ? undefined : findToolOnDemand(registry, name)
    const found = known.get(name) ?? onDemand
    const fault = checkTool(name, override, { found, isOnDemand: onDemand !== undefined })
    if (!found || fault) {
      ignore('tool', name, fault?.reason ?? 'unknown', fault?.message ?? '')
      continue
    }
    const { schema, unknown } = describeFields(found.tool.inputSchema, override.fields ?? {})
    for (const field of unknown) ignore('tool', name, 'unknown', `Tool '${name}' has no field '${field}'.`)
    const description = override.description ?? found.tool.description
    const tool = Object.freeze({ ...found.tool, description, inputSchema: schema })
    if (onDemand) core.set(name, { tool, path: onDemand.path })
    else tools.set(name, tool)
  }
  return { tools, core }
}

interface Fault {
  readonly reason: IgnoredOverride['reason']
  readonly message: string
}

/** Explains why the override of a tool cannot be applied. */
function checkTool(
  name: string,
  { hash, core }: ToolOverride,
  { found, isOnDemand }: { readonly found: PlacedTool | undefined; readonly isOnDemand: boolean },
): Fault | undefined {
  if (!found || (isOnDemand && core !== true))
    return { reason: 'unknown', message: `No section of this prompt has a tool '${name}'.` }
  const { path, tool } = found
  if (!found.acceptsOverrides)
    return {
      reason: 'refused',
      message: `Section '${path}' does not accept overrides, so neither does its tool '${name}'.`,
    }
  if (hash !== hashTool(tool))
    return {
      reason: 'stale',
      message: `Tool '${name}' has changed since its override was written. Compare the two and write the override again.`,
    }
  if (!isOnDemand && core !== undefined)
    return { reason: 'refused', message: `Tool '${name}' is always offered with section '${path}'. Leave out core.` }
  return undefined
}
