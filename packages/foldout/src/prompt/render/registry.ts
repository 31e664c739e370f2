import { PromptValidationError } from '../../core/errors.ts'
import { fieldNames } from '../../core/schema/schema.ts'
import { joinWords } from '../../core/text.ts'
import { isThenable, swallow } from '../../core/promises.ts'
import { getKind, hasInk, wrapTemplate, type Template } from '../../core/template.ts'
import type { DisclosureStrategy } from '../../disclosure/strategy.ts'
import type { AnyTool } from '../../tools/tool.ts'
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

/** What a heading is made of. */
export interface HeadingParts {
  readonly title: string
  /** `1.2`, by position in the definition. */
  readonly number: string
  /** 0 for the sections of the prompt itself. */
  readonly depth: number
  readonly path: string
}
/** Makes a section's heading, in place of `## 1.2 Title`. */
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
  /**
   * For each slot heading, body and examples as one template, as they are needed; none where the values decide whether there
   * is a body.
   */
  readonly full: (Template | undefined)[]
  /** For each strategy its summaries as templates, by slot: heading, summary and suffix. Filled as they are needed. */
  readonly folds: WeakMap<DisclosureStrategy, (Template | undefined)[]>
  /** For each value that templates name without a schema, the first section that does. */
  readonly inferred: ReadonlyMap<string, Slot>
  /** Whether several sections have one tool. */
  readonly sharesTools: boolean
}

/** The slot at an index that is known to be one. */
export function getSlot(slots: readonly Slot[], index: number): Slot {
  const slot = slots[index]
  if (!slot) throw new RangeError(`There is no slot ${index}.`)
  return slot
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
    const examples = section.tools.length > 0 ? formatExamples(section.tools) : ''
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
      children: NO_CHILDREN,
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
    if (section.children.length > 0) {
      slot.children = section.children.map((child, i) => {
        const below = add(child, slot, i + 1)
        slot.toolsBelow ||= below.toolsBelow
        slot.dynamicBelow ||= below.dynamicBelow || typeof child.enabled === 'function'
        return below.index
      })
    }
    slot.end = slots.length
    return slot
  }
  sections.forEach((section, i) => add(section, undefined, i + 1))

  const inferred = new Map<string, Slot>()
  for (const slot of slots) {
    if (slot.section.params) continue
    const { body, summary } = slot.section
    if (typeof body !== 'function') addNames(inferred, body, slot)
    if (summary) addNames(inferred, summary, slot)
  }
  return {
    slots,
    byPath,
    withTools: slots.filter(({ section }) => section.tools.length > 0 || section.toolsOnDemand),
    changeable: slots.filter(({ dynamic, dynamicBelow }) => dynamic || dynamicBelow),
    fixed: Uint8Array.from(slots, getFixedShown),
    ends: Uint32Array.from(slots, ({ end }) => end),
    full: new Array<undefined>(slots.length).fill(undefined),
    folds: new WeakMap(),
    inferred,
    sharesTools: isSharing(slots, tools.size),
  }
}

function getFixedShown({ section, dynamic, dynamicBelow }: Slot): number {
  if (dynamic || dynamicBelow || section.params) return UNDECIDED
  if (!section.enabled) return ABSENT
  return section.visibility === 'full' ? OPEN : FOLDED
}

/** Heading, body and examples of a section as one template; none where the values decide whether there is a body. */
export function findFullTemplate(registry: Registry, slot: Slot): Template | undefined {
  const known = registry.full[slot.index]
  const { heading, examples } = slot
  const { body } = slot.section
  if (known || typeof body === 'function' || !hasInk(body)) return known
  return (registry.full[slot.index] = wrapTemplate(`${heading}\n\n`, body, examples === '' ? '' : `\n\n${examples}`))
}

function isSharing(slots: readonly Slot[], toolCount: number): boolean {
  return slots.reduce((sum, { section }) => sum + section.tools.length, 0) > toolCount
}

const NO_CHILDREN: readonly number[] = Object.freeze([])

/** The examples of a section's tools as the model reads them below the section's body; empty if there are none. */
function formatExamples(tools: readonly AnyTool[]): string {
  return tools
    .filter((tool) => tool.examples.length > 0)
    .map((tool) => {
      const lines = tool.examples.map(
        ({ description, input, output }) =>
          `- ${description}\n  Input: ${JSON.stringify(input)}\n  Output: ${output.replaceAll('\n', '\n  ')}`,
      )
      return `Examples of \`${tool.name}\`:\n${lines.join('\n')}`
    })
    .join('\n\n')
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
      `Tool '${tool.name}' of section '${path}' has the name of a disclosure tool (${joinWords(reserved)}), which belongs to the prompt itself. Rename it.`,
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

function addNames(inferred: Map<string, Slot>, { names }: Template, slot: Slot): void {
  for (const name of names) if (!inferred.has(name)) inferred.set(name, slot)
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
  const declared = known.length > 0 ? `Its params are ${joinWords(known)}.` : 'It has no params.'
  return new PromptValidationError(
    `Section '${path}': its ${where} names \${${placeholder}}, which its params do not have. ${declared} Write $\${ for a literal \${.`,
    { path, placeholder },
  )
}
