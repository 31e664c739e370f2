import { PromptValidationError } from '../../core/errors.ts'
import { fieldNames } from '../../core/schema/schema.ts'
import { listed } from '../../core/text.ts'
import { isThenable, swallow } from '../../core/promises.ts'
import { getKind, hasInk, wrapTemplate, type Template } from '../../core/template.ts'
import type { DisclosureStrategy } from '../../disclosure/strategy.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { examplesText } from './examples.ts'
import { FOLDED, OPEN, ABSENT } from './frame.ts'
import type { AnySection } from '../section.ts'

/** A section at its place in a prompt. All that follows from the definition alone is worked out once, here. */
export interface Slot {
  /** Its place in walking order. */
  readonly index: number
  readonly section: AnySection
  readonly path: string
  readonly depth: number
  readonly number: string
  readonly heading: string
  /** The slot it lies in, or -1. */
  readonly parent: number
  /** The first slot behind its subtree. */
  readonly end: number
  /** Examples of its tools, shown while it is open; empty if there are none. */
  readonly examples: string
  /** Heading, body and examples as one template; none where the values decide whether there is a body. */
  readonly full: Template | undefined
  /** The direct children's slots. */
  readonly children: readonly number[]
  /** Whether the section or any in it has tools, were all enabled. */
  readonly toolsBelow: boolean
  /** Whether it can change without an override: a selector decides, or a custom renderer makes its body. */
  readonly dynamic: boolean
  /** Whether any section below it is enabled by a selector; what its summary says then varies. */
  readonly dynamicBelow: boolean
  /** The names its params schema gives out, where that can be known. */
  readonly outputNames: ReadonlySet<string> | undefined
  /** The names its params schema takes, where that can be known. */
  readonly inputNames: ReadonlySet<string> | undefined
}

export interface HeadingParts {
  readonly title: string
  /** `1.2`, by position in the definition. */
  readonly number: string
  /** 0 for the sections of the prompt itself. */
  readonly depth: number
  readonly path: string
}
export type Heading = (section: HeadingParts) => string

/** A prompt's sections in walking order. */
export interface Registry {
  readonly slots: readonly Slot[]
  readonly byPath: ReadonlyMap<string, Slot>
  /** Slots that have tools. */
  readonly withTools: readonly Slot[]
  /** Slots that may differ from one render to the next without an override. */
  readonly changeable: readonly Slot[]
  /**
   * For each slot how it is shown if nobody asks otherwise, where that follows from the definition alone; else `UNDECIDED`.
   * Beside the slots, because a walk over thousands of them is as fast as the memory it touches is small.
   */
  readonly fixed: Uint8Array
  /** For each slot the first one behind its subtree. */
  readonly ends: Uint32Array
  /** For each slot its `full`. */
  readonly full: readonly (Template | undefined)[]
  /** For each strategy its summaries as templates, by slot: heading, summary and suffix. Filled as they are needed. */
  readonly folds: WeakMap<DisclosureStrategy, (Template | undefined)[]>
  /** For each value that templates name without a schema, the first section that does. */
  readonly inferred: ReadonlyMap<string, Slot>
}

/** The slot has to be looked at. */
export const UNDECIDED = 255

export const numberedHeading: Heading = ({ title, number, depth }) =>
  `${'#'.repeat(Math.min(depth + 2, 6))} ${number} ${title}`

function makeHeading(heading: Heading, parts: HeadingParts): string {
  const made: unknown = heading(parts)
  if (typeof made === 'string') return made
  if (isThenable(made)) swallow(made)
  throw new PromptValidationError(
    `The \`heading\` of the prompt returned ${isThenable(made) ? 'a promise' : getKind(made)} for section '${parts.path}'. It must return a string.`,
    { path: parts.path },
  )
}

export function createRegistry(
  sections: readonly AnySection[],
  heading: Heading,
  reservedTools: readonly string[],
): Registry {
  const slots: Mutable<Slot>[] = []
  const byPath = new Map<string, Slot>()
  const tools = new Map<string, PlacedTool>()

  function add(section: AnySection, parent: Mutable<Slot> | undefined, position: number): Mutable<Slot> {
    const path = parent ? `${parent.path}.${section.key}` : section.key
    const number = parent ? `${parent.number}.${position}` : String(position)
    const depth = parent ? parent.depth + 1 : 0
    if (byPath.has(path)) {
      throw new PromptValidationError(
        `Two sections have the path '${path}'. Siblings need different keys; rename one of them.`,
        { path },
      )
    }
    const ownHeading = makeHeading(heading, { title: section.title, number, depth, path })
    const examples = examplesText(section.tools)
    const slot: Mutable<Slot> = {
      index: slots.length,
      section,
      path,
      depth,
      number,
      heading: ownHeading,
      parent: parent?.index ?? -1,
      end: 0,
      examples,
      full: fullTemplate(ownHeading, section.body, examples),
      children: [],
      toolsBelow: section.tools.length > 0 || section.toolsOnDemand !== undefined,
      dynamic:
        typeof section.enabled === 'function' ||
        typeof section.visibility === 'function' ||
        typeof section.body === 'function',
      dynamicBelow: false,
      outputNames: section.params && fieldNames(section.params, 'output'),
      inputNames: section.params && fieldNames(section.params, 'input'),
    }
    slots.push(slot)
    byPath.set(path, slot)
    for (const tool of section.tools) addTool(tools, { tool, path }, reservedTools)
    if (slot.outputNames) refuseUnknown(slot, slot.outputNames)
    const children: number[] = []
    section.children.forEach((child, i) => {
      const below = add(child, slot, i + 1)
      children.push(below.index)
      slot.toolsBelow ||= below.toolsBelow
      slot.dynamicBelow ||= below.dynamicBelow || typeof child.enabled === 'function'
    })
    slot.children = children
    slot.end = slots.length
    return slot
  }
  sections.forEach((section, i) => add(section, undefined, i + 1))

  const inferred = new Map<string, Slot>()
  for (const slot of slots) {
    if (slot.section.params) continue
    for (const name of templateNames(slot.section)) if (!inferred.has(name)) inferred.set(name, slot)
  }
  return {
    slots,
    byPath,
    withTools: slots.filter(({ section }) => section.tools.length > 0 || section.toolsOnDemand),
    changeable: slots.filter(({ dynamic, dynamicBelow }) => dynamic || dynamicBelow),
    fixed: Uint8Array.from(slots, fixedShown),
    ends: Uint32Array.from(slots, ({ end }) => end),
    full: slots.map(({ full }) => full),
    folds: new WeakMap(),
    inferred,
  }
}

function fixedShown({ section, dynamic, dynamicBelow }: Slot): number {
  if (dynamic || dynamicBelow || section.params) return UNDECIDED
  if (!section.enabled) return ABSENT
  return section.visibility === 'full' ? OPEN : FOLDED
}

function fullTemplate(heading: string, body: AnySection['body'], examples: string): Template | undefined {
  if (typeof body === 'function' || !hasInk(body)) return undefined
  return wrapTemplate(`${heading}\n\n`, body, examples === '' ? '' : `\n\n${examples}`)
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

interface PlacedTool {
  readonly tool: AnyTool
  readonly path: string
}

/** Several sections may have one and the same tool; two tools of one name are refused. */
function addTool(known: Map<string, PlacedTool>, { tool, path }: PlacedTool, reserved: readonly string[]): void {
  if (reserved.includes(tool.name)) {
    throw new PromptValidationError(
      `Tool '${tool.name}' of section '${path}' has the name of a disclosure tool (${listed(reserved)}), which belongs to the prompt itself. Rename it.`,
      { path },
    )
  }
  const other = known.get(tool.name)
  if (other === undefined) {
    known.set(tool.name, { tool, path })
  } else if (other.tool !== tool) {
    throw new PromptValidationError(
      `Two tools are named '${tool.name}', in section '${other.path}' and in section '${path}'. A model tells tools apart by name; rename one of them, or give both sections the same tool.`,
      { path },
    )
  }
}

function templateNames({ body, summary }: AnySection): string[] {
  return [...(typeof body === 'function' ? [] : body.names), ...(summary?.names ?? [])]
}

function refuseUnknown(slot: Slot, names: ReadonlySet<string>): void {
  const { body, summary } = slot.section
  const check = (template: Template, where: string): void => {
    const unknown = template.names.find((name) => !names.has(name))
    if (unknown !== undefined) throw unknownPlaceholder(slot.path, where, unknown, names)
  }
  if (typeof body !== 'function') check(body, 'template')
  if (summary) check(summary, 'summary')
}

export function unknownPlaceholder(
  path: string,
  where: string,
  placeholder: string,
  names: Iterable<string>,
): PromptValidationError {
  const known = [...names]
  const declared = known.length > 0 ? `Its params are ${listed(known)}.` : 'It has no params.'
  return new PromptValidationError(
    `Section '${path}': its ${where} names \${${placeholder}}, which its params do not have. ${declared} Write $\${ for a literal \${.`,
    { path, placeholder },
  )
}
