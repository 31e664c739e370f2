import { sha256Hex } from '../../core/hash.ts'
import { canonicalJson, notJson } from '../../core/json/json.ts'
import type { PromptDescriptor } from '../../prompt/overrides/descriptor.ts'
import type { PromptOverrides } from '../../prompt/overrides/overrides.ts'
import { joinTexts } from '../../prompt/render/frame.ts'
import { getView, type RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import type { SectionsView } from '../../prompt/render/sections-view.ts'
import { toolDefinition } from '../../tools/definition.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { ConversationStart, RunState, ShownSection } from '../state/run-state.ts'
import { FOLDED, OPEN } from '../../prompt/definition/registry.ts'

/** Describes the start of a conversation, for later runs to compare. */
export function describeStart(rendered: RenderedPrompt, overrides: PromptOverrides | undefined): ConversationStart {
  return {
    system: rendered.text,
    tools: rendered.tools.map(({ name }) => name),
    definitions: hashDefinitions(rendered.tools),
    prompt: hashPrompt(rendered),
    source: hashSource(rendered, overrides),
    shown: listShown(rendered),
  }
}

/** Hashes the prompt's name and values. */
export function hashPrompt(rendered: RenderedPrompt): string {
  const { ns, key } = rendered.descriptor
  const values = getView(rendered)?.renderer.options.values.flat ?? {}
  const parts = Object.keys(values)
    .sort()
    .map((name) => [name, describeValue(values[name])])
  return hash(JSON.stringify([ns, key, parts]))
}

/** Hashes everything else that determines a text: the prompt's source, the strategy and the overrides. */
export function hashSource({ descriptor, disclosure }: RenderedPrompt, overrides: PromptOverrides | undefined): string {
  const { name, showCost, toolNames } = disclosure
  return hash(canonicalJson([hashDescriptor(descriptor), name, showCost, toolNames, overrides ?? null]))
}

/** Hashes the definitions of tools, in order. */
export function hashDefinitions(tools: readonly AnyTool[]): string {
  return hash(tools.map(hashDefinition).join('\n'))
}

const definitionHashes = new WeakMap<AnyTool, string>()

function hashDefinition(tool: AnyTool): string {
  const known = definitionHashes.get(tool)
  if (known !== undefined) return known
  const made = hash(JSON.stringify(toolDefinition(tool)))
  definitionHashes.set(tool, made)
  return made
}

const descriptorHashes = new WeakMap<PromptDescriptor, string>()

function hashDescriptor(descriptor: PromptDescriptor): string {
  const known = descriptorHashes.get(descriptor) ?? hash(JSON.stringify(descriptor))
  descriptorHashes.set(descriptor, known)
  return known
}

const identities = new WeakMap<object, string>()

/**
 * Returns a text that differs if the value differs. Values that are not JSON are compared by identity, and differ in
 * another process.
 */
function describeValue(value: unknown): string {
  if (value instanceof Date) return `date ${String(value.getTime())}`
  if (typeof value === 'bigint' || typeof value === 'symbol') return `${typeof value} ${String(value)}`
  if (typeof value === 'function') return describeIdentity(value)
  if (value === undefined) return 'undefined'
  if (typeof value !== 'object' || value === null || notJson(value) === undefined) return canonicalJson(value)
  return describeIdentity(value)
}

function describeIdentity(value: object): string {
  const known = identities.get(value) ?? `object ${crypto.randomUUID()}`
  identities.set(value, known)
  return known
}

function hash(text: string): string {
  return sha256Hex(text).slice(0, 32)
}

/** Lists the open sections of a render: all of them, or those at and below some paths. */
export function listShown(rendered: RenderedPrompt, paths?: readonly string[]): readonly ShownSection[] {
  const view = getView(rendered)
  if (!view) return []
  const { slots, byPath } = view.renderer.options.registry
  if (!paths) return listOpen(view, 0, slots.length)
  return paths.flatMap((path) => {
    const slot = byPath.get(path)
    if (slot) return listOpen(view, slot.index, slot.end)
    return []
  })
}

function listOpen({ frame, renderer }: SectionsView, from: number, to: number): readonly ShownSection[] {
  const { slots } = renderer.options.registry
  const shown: ShownSection[] = []
  for (let index = from; index < to; index++) {
    const path = slots[index]?.path
    // The text of other sections follows from the prompt and its values, which are compared separately.
    if (path !== undefined && frame.at(index) === OPEN) shown.push([path, hashMade(frame.made.get(index)?.text)])
  }
  return shown
}

function hashMade(text: string | undefined): string {
  if (text === undefined) return ''
  return hash(text)
}

/** Whether a section that was shown to the model is disabled or gone, or the message that showed it is gone. */
export function hasLost(rendered: RenderedPrompt, { start, read, messages, finished }: RunState): boolean {
  const known = [...messages, ...finished]
  const isGone = ([path]: ShownSection): boolean => rendered.view.state(path) === undefined
  const isForgotten = ([path, before]: ShownSection): boolean => {
    const body = findBody(rendered, path, before)
    return body !== undefined && !known.some((message) => 'text' in message && message.text.includes(body))
  }
  return (start?.shown ?? []).some(isGone) || read.some((section) => isGone(section) || isForgotten(section))
}

/** Returns the text of an open section below its heading, if it is unchanged. */
function findBody(rendered: RenderedPrompt, path: string, before: string): string | undefined {
  const view = getView(rendered)
  const slot = view?.renderer.options.registry.byPath.get(path)
  if (!view || !slot || listOpen(view, slot.index, slot.index + 1)[0]?.[1] !== before) return undefined
  return view.frame.node(slot.index)?.text.slice(slot.heading.length)
}

/** Returns the text of an open section below its heading; undefined if it is not open. */
export function findOpenBody(rendered: RenderedPrompt, path: string): string | undefined {
  const view = getView(rendered)
  const slot = view?.renderer.options.registry.byPath.get(path)
  if (!view || !slot || view.frame.at(slot.index) !== OPEN) return undefined
  return view.frame.node(slot.index)?.text.slice(slot.heading.length)
}

/** Open sections of a render that the model has not seen, or has seen with another text. */
export interface News {
  /** The text of the sections, with the summaries of folded sections inside them. */
  readonly text: string
  readonly sections: readonly ShownSection[]
}

/**
 * Finds the open sections that are new to the model. With `isOpened`, sections that the model has seen with another
 * text are left out.
 */
export function findNews(
  rendered: RenderedPrompt,
  { start, read }: RunState,
  { isOpened = false }: { readonly isOpened?: boolean } = {},
): News {
  const view = getView(rendered)
  const before = new Map([...(start?.shown ?? []), ...read])
  const isNews = ([path, text]: ShownSection): boolean => {
    if (isOpened) return !before.has(path)
    return before.get(path) !== text
  }
  const sections = listShown(rendered).filter(isNews)
  if (!view || sections.length === 0) return { text: '', sections }
  const { slots, byPath } = view.renderer.options.registry
  const added = new Set(sections.map(([path]) => path))
  const opened = new Set(sections.flatMap(([path]) => (before.has(path) ? [] : [byPath.get(path)?.index])))
  const texts = slots.map((slot) => {
    const isNewSummary = view.frame.at(slot.index) === FOLDED && opened.has(slot.parent)
    if (!added.has(slot.path) && !isNewSummary) return undefined
    return view.finalFrame.node(slot.index)?.standalone(slot.depth)
  })
  return { text: joinTexts(texts), sections }
}
