import { PromptValidationError } from '../../core/errors.ts'
import { fieldNames } from '../../core/schema/schema.ts'
import { joinWords } from '../../core/text.ts'
import { ignore, isThenable } from '../../core/promises.ts'
import { getKind, hasInk, wrapTemplate, type Template } from '../../core/template.ts'
import type { DisclosureStrategy } from '../../disclosure/strategy.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { MAX_SECTION_DEPTH } from './limits.ts'
import type { AnySection } from './section.ts'

/** A section at its position in a prompt, with everything that follows from the definition alone. */
export interface Slot {
  /** The position in document order. */
  readonly index: number
  readonly section: AnySection
  readonly path: string
  readonly depth: number
  readonly number: string
  readonly heading: string
  /** The index of the parent's slot, or -1. */
  readonly parent: number
  /** The first slot after its subtree. */
  readonly end: number
  /** Examples of its tools, shown while it is open; empty if there are none. */
  readonly examples: string
  /** The direct children's slots. */
  readonly children: readonly number[]
  /** Whether the section or one of its descendants has tools, enabled or not. */
  readonly toolsBelow: boolean
  /** Whether it can change without an override, because it has a selector or a custom renderer. */
  readonly dynamic: boolean
  /** Whether a selector enables any section below it; in that case, the text shown with its summary varies. */
  readonly dynamicBelow: boolean
  /** The field names of its params schema's output, if known. */
  readonly outputNames: ReadonlySet<string> | undefined
  /** The field names of its params schema's input, if known. */
  readonly inputNames: ReadonlySet<string> | undefined
}

/**
 * The parts of a heading.
 *
 * @example
 * ```ts
 * const format = ({ number, title }: HeadingParts): string => `${number}. ${title}`
 * format({ title: 'Rules', number: '1.2', depth: 2, path: 'refunds.rules' }) // => '1.2. Rules'
 * ```
 */
export interface HeadingParts {
  readonly title: string
  /** The position in the definition, such as `1.2`. */
  readonly number: string
  /** The nesting depth; 0 for top-level sections. */
  readonly depth: number
  readonly path: string
}
/**
 * Formats the heading of a section, instead of `## 1.2 Title`.
 *
 * @example
 * ```ts
 * const heading: Heading = ({ title, depth }) => `${'#'.repeat(depth + 2)} ${title}`
 * const prompt = definePrompt({ ns: 'docs', key: 'plain', sections: [role], heading })
 * prompt.bind().render().text.startsWith('## Role') // => true
 * ```
 */
export type Heading = (section: HeadingParts) => string

/** The sections of a prompt, in document order. */
export interface Registry {
  readonly slots: readonly Slot[]
  readonly byPath: ReadonlyMap<string, Slot>
  /** Slots that have tools. */
  readonly withTools: readonly Slot[]
  /** Slots whose files the model reads while they are open. */
  readonly withFiles: readonly Slot[]
  /** Slots that share a list while they are folded. */
  readonly listed: readonly Slot[]
  /** Slots whose questions an agent answers while they are folded. */
  readonly delegated: readonly Slot[]
  /** Slots that may differ from one render to the next without an override. */
  readonly changeable: readonly Slot[]
  /**
   * How each slot is shown by default, if the definition alone decides that; otherwise `UNDECIDED`. Kept outside the
   * slots, because walking thousands of slots is faster if it touches less memory.
   */
  readonly fixed: Uint8Array
  /** For each slot, the first slot after its subtree. */
  readonly ends: Uint32Array
  /**
   * For each slot, heading, body and examples as one template, filled on demand; absent if the values decide whether
   * there is a body.
   */
  readonly full: (Template | undefined)[]
  /** For each strategy and slot, heading, summary and suffix as one template. Filled on demand. */
  readonly folds: WeakMap<DisclosureStrategy, (Template | undefined)[]>
  /** For each value that templates use without a schema, the first section that uses it. */
  readonly inferred: ReadonlyMap<string, Slot>
  /** Whether several sections share a tool. */
  readonly sharesTools: boolean
  /** Whether a section offers tools on demand. */
  readonly hasToolsOnDemand: boolean
}

/** Selects the slots with something special. */
function selectSlots(slots: readonly Slot[]): Pick<Registry, 'withTools' | 'withFiles' | 'listed' | 'delegated'> {
  return {
    withTools: slots.filter(({ section }) => section.tools.length > 0 || section.toolsOnDemand),
    withFiles: slots.filter(({ section }) => section.files),
    listed: slots.filter(({ section }) => section.listed !== undefined),
    delegated: slots.filter(({ section }) => section.delegate !== false),
  }
}

/** Returns the slot at a valid index. */
export function getSlot(slots: readonly Slot[], index: number): Slot {
  const slot = slots[index]
  if (!slot) throw new RangeError(`There is no slot ${index}.`)
  return slot
}

/** The definition alone does not decide how the slot is shown. */
export const UNDECIDED = 255

export const formatNumberedHeading: Heading = ({ title, number, depth }) =>
  `${'#'.repeat(Math.min(depth + 2, 6))} ${number} ${title}`

function makeHeading(heading: Heading, parts: HeadingParts): string {
  const made: unknown = heading(parts)
  if (typeof made === 'string') return made
  if (isThenable(made)) void ignore(made, 'the error below says what is wrong')
  throw new PromptValidationError(
    `The \`heading\` of the prompt returned ${isThenable(made) ? 'a promise' : getKind(made)} for section '${parts.path}'. It must return a string.`,
    { path: parts.path },
  )
}

function refuseDepth(depth: number, path: string): void {
  if (depth < MAX_SECTION_DEPTH) return
  throw new PromptValidationError(
    `The section '${path.slice(path.lastIndexOf('.') + 1)}' is nested deeper than ${MAX_SECTION_DEPTH} levels. Move it higher up in the tree.`,
    { path },
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
    refuseDepth(depth, path)
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

  return {
    slots,
    byPath,
    ...selectSlots(slots),
    changeable: slots.filter(({ dynamic, dynamicBelow }) => dynamic || dynamicBelow),
    fixed: Uint8Array.from(slots, getFixedShown),
    ends: Uint32Array.from(slots, ({ end }) => end),
    full: new Array<undefined>(slots.length).fill(undefined),
    folds: new WeakMap(),
    inferred: inferValues(slots),
    sharesTools: isSharing(slots, tools.size),
    hasToolsOnDemand: slots.some(({ section }) => section.toolsOnDemand !== undefined),
  }
}

function getFixedShown({ section, dynamic, dynamicBelow }: Slot): number {
  if (dynamic || dynamicBelow || section.params) return UNDECIDED
  if (!section.enabled) return ABSENT
  if (section.visibility === 'summary') return FOLDED
  return OPEN
}

/**
 * Returns heading, body and examples of a section as one template, or `undefined` if the values decide whether there is
 * a body.
 */
export function findFullTemplate(registry: Registry, slot: Slot): Template | undefined {
  const known = registry.full[slot.index]
  const { heading, examples } = slot
  const { body } = slot.section
  if (known || typeof body === 'function' || !hasInk(body)) return known
  return (registry.full[slot.index] = wrapTemplate(`${heading}\n\n`, body, examples === '' ? '' : `\n\n${examples}`))
}

/** Finds the placeholders of sections without params, each with the first section that has it. */
function inferValues(slots: readonly Slot[]): ReadonlyMap<string, Slot> {
  const inferred = new Map<string, Slot>()
  for (const slot of slots) {
    if (slot.section.params) continue
    const { body, summary } = slot.section
    if (typeof body !== 'function') addNames(inferred, body, slot)
    if (summary) addNames(inferred, summary, slot)
  }
  return inferred
}

function isSharing(slots: readonly Slot[], toolCount: number): boolean {
  return slots.reduce((sum, { section }) => sum + section.tools.length, 0) > toolCount
}

const NO_CHILDREN: readonly number[] = Object.freeze([])

/**
 * Formats the examples of a section's tools, as shown to the model below the section's body; empty if there are none.
 */
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

/** Several sections can share a tool, but two different tools cannot have the same name. */
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
      `Two tools are named '${tool.name}', in section '${other.path}' and in section '${path}'. Models identify tools by name; rename one of them, or use the same tool in both sections.`,
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

/**
 * How a slot is shown: absent (disabled, or inside a folded section), open, or folded. These are numbers, because each
 * frame has one for each slot.
 */
export const ABSENT = 0

export const OPEN = 1

export const FOLDED = 2

export type Shown = typeof ABSENT | typeof OPEN | typeof FOLDED
