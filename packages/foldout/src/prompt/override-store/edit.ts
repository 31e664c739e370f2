import { dropUndefined } from 'foldout-shared/values'
import { PromptValidationError } from '../../core/errors.ts'
import { nearest } from '../../core/text.ts'
import { findToolOnDemand, hashTool } from '../overrides/descriptor.ts'
import {
  applyOverrides,
  type AheadOverride,
  type PromptOverrides,
  type SectionOverride,
  type ToolOverride,
} from '../overrides/overrides.ts'
import { getRegistry, type AnyPrompt } from '../prompt.ts'
import type { Visibility } from '../../session/visibility.ts'
import { aheadCheck, sectionCheck, toEntries, toolCheck, type OverrideEntries } from './file.ts'

/**
 * New texts for a section.
 *
 * @example
 * ```ts
 * const section: SectionEdit = { path: 'refunds', body: 'Refund within 60 days.' }
 * await createOverrideStore({ root: 'prompts' }).upsert(prompt, { tag: 'long', section })
 * ```
 */
export interface SectionEdit {
  readonly path: string
  /** A template over the section's params. */
  readonly body?: string
  /** A template over the section's params. */
  readonly summary?: string
  readonly visibility?: Visibility
}

/**
 * New descriptions for a tool.
 *
 * @example
 * ```ts
 * const tool: ToolEdit = { name: 'refund_order', description: 'Refunds an order at once.' }
 * await createOverrideStore({ root: 'prompts' }).upsert(prompt, { tag: 'brisk', tool })
 * ```
 */
export interface ToolEdit {
  readonly name: string
  readonly description?: string
  /** Descriptions of fields by dotted path: `query`, `filter.name`. */
  readonly fields?: Readonly<Record<string, string>>
  /** Lists a tool of a catalog from the start. */
  readonly core?: boolean
}

/** Turns an edit into an override of the current source, if the prompt accepts it. */
function sectionOverride(prompt: AnyPrompt, { path, ...edit }: SectionEdit): SectionOverride {
  const paths = prompt.descriptor.sections.map((section) => section.path)
  const { hash } =
    prompt.descriptor.sections.find((section) => section.path === path) ?? refuseUnknown('section', path, paths)
  const override: SectionOverride = { ...dropUndefined(edit), hash }
  const details = { path }
  refuse(sectionCheck(override, 'section') ?? describeNothing(override, 'a body, a summary or a visibility'), details)
  refuseIgnored(prompt, { sections: { [path]: override } }, details)
  return override
}

/** Turns an edit into an override of the current source, if the prompt accepts it. */
function toolOverride(prompt: AnyPrompt, { name, ...edit }: ToolEdit): ToolOverride {
  const names = prompt.descriptor.tools.map((tool) => tool.name)
  const hash =
    prompt.descriptor.tools.find((tool) => tool.name === name)?.hash ??
    hashToolOnDemand(prompt, name) ??
    refuseUnknown('tool', name, names)
  const override: ToolOverride = { ...dropUndefined(edit), hash }
  refuse(toolCheck(override, 'tool') ?? describeNothing(override, 'a description, fields or core'))
  refuseIgnored(prompt, { tools: { [name]: override } })
  return override
}

/** Checks how sections are opened ahead. */
function aheadOverride(ahead: AheadOverride): AheadOverride {
  refuse(aheadCheck(ahead, 'ahead'))
  return dropUndefined({ ...ahead })
}

interface Edits {
  readonly section: SectionEdit | undefined
  readonly tool: ToolEdit | undefined
  readonly ahead: AheadOverride | undefined
  readonly overrides: PromptOverrides | undefined
}

/** Turns edits into the overrides to write, if the prompt accepts all of them. */
export function checkEdits(prompt: AnyPrompt, { section, tool, ahead, overrides = {} }: Edits): OverrideEntries {
  const entries = toEntries(overrides)
  const sections = new Map<string, SectionOverride>()
  const tools = new Map<string, ToolOverride>()
  for (const [path, override] of entries.sections) {
    refuse(sectionCheck(override, 'section'), { path })
    sections.set(path, dropUndefined({ ...override }))
  }
  for (const [name, override] of entries.tools) {
    refuse(toolCheck(override, 'tool'))
    tools.set(name, dropUndefined({ ...override }))
  }
  refuseIgnored(prompt, overrides)
  if (section) sections.set(section.path, sectionOverride(prompt, section))
  if (tool) tools.set(tool.name, toolOverride(prompt, tool))
  const opening = ahead ?? entries.ahead
  return { sections, tools, ahead: opening && aheadOverride(opening) }
}

export function mergeSection(old: SectionOverride | undefined, edit: SectionOverride): SectionOverride {
  const { hash, body, summary, visibility } = { ...fresh(old, edit), ...edit }
  return dropUndefined({ hash, body, summary, visibility })
}

export function mergeTool(old: ToolOverride | undefined, edit: ToolOverride): ToolOverride {
  const kept = fresh(old, edit)
  const { hash, description, core } = { ...kept, ...edit }
  const fields = kept?.fields && edit.fields ? { ...kept.fields, ...edit.fields } : (edit.fields ?? kept?.fields)
  return dropUndefined({ hash, description, fields, core })
}

/** A folded section needs a summary to show. */
export function refuseMissingSummary(prompt: AnyPrompt, path: string, override: SectionOverride): void {
  if (override.visibility !== 'summary' || override.summary !== undefined) return
  if (getRegistry(prompt).byPath.get(path)?.section.summary) return
  throw new PromptValidationError(
    `Section '${path}' cannot be folded by an override, because it has no summary. Override its summary too.`,
    { path },
  )
}

function fresh<Override extends { readonly hash: string }>(
  old: Override | undefined,
  edit: Override,
): Override | undefined {
  if (old?.hash === edit.hash) return old
  return undefined
}

function describeNothing(override: object, wanted: string): string | undefined {
  if (Object.keys(override).length > 1) return undefined
  return `there is nothing to write; give ${wanted}`
}

function refuse(fault: string | undefined, details: { readonly path?: string } = {}): void {
  if (fault === undefined) return
  throw new PromptValidationError(`The override cannot be written: ${fault}.`, details)
}

function refuseUnknown(kind: 'section' | 'tool', name: string, known: readonly string[]): never {
  const near = nearest(name, known, 1)[0]
  throw new PromptValidationError(
    `This prompt has no ${kind} '${name}' to override.${near === undefined ? '' : ` Did you mean '${near}'?`}`,
    kind === 'section' ? { path: name } : {},
  )
}

function hashToolOnDemand(prompt: AnyPrompt, name: string): string | undefined {
  const found = findToolOnDemand(getRegistry(prompt), name)
  return found && hashTool(found.tool)
}

function refuseIgnored(prompt: AnyPrompt, overrides: PromptOverrides, details: { readonly path?: string } = {}): void {
  const [ignored] = applyOverrides(overrides, getRegistry(prompt)).ignored
  if (ignored) throw new PromptValidationError(ignored.message, details)
}
