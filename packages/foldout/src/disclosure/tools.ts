import { fromJsonSchema, type JsonSchema, type ToolSchema } from '../core/schema/schema.ts'
import { fail, ok, type ToolResult } from '../tools/result.ts'
import { defineTool, type AnyTool, type ToolContext } from '../tools/tool.ts'
import { checkKeys, getOpening, planOpening, type OpeningPlan } from './engine.ts'
import type { DisclosureView } from './strategy.ts'

export const READ_SECTION = 'read_section'
export const OPEN_SECTIONS = 'open_sections'

/** The names no tool of a prompt may take, whichever strategy a render uses. */
export const DISCLOSURE_TOOL_NAMES: readonly string[] = Object.freeze([OPEN_SECTIONS, READ_SECTION])

const readSectionParams = asking<{ readonly section_key: string }>({
  properties: {
    section_key: {
      type: 'string',
      description:
        "Key of the section to read. Use the key shown in the section's summary. Nested sections use dot notation (e.g., 'parent.child').",
    },
  },
  needed: ['section_key'],
})

const openSectionsParams = asking<{ readonly section_keys: readonly string[]; readonly reason?: string }>({
  properties: {
    section_keys: {
      type: 'array',
      items: { type: 'string' },
      description:
        "Section keys to open. Each key identifies a summarized section. Use the keys shown in section summaries. Nested sections use dot notation (e.g., 'parent.child').",
    },
    reason: {
      type: 'string',
      description:
        "Brief explanation of why these sections need to be expanded. Helps the caller understand the model's information needs.",
    },
  },
  needed: ['section_keys'],
})

/** A schema that asks the model for every field and no other, but lets a call pass that has what is needed. */
function asking<T>(fields: {
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly needed: readonly string[]
}): ToolSchema<T> {
  const { properties, needed } = fields
  const checked = fromJsonSchema<T>({ type: 'object', properties, required: needed })
  const shown = fromJsonSchema<T>({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  })
  return { '~standard': { ...checked['~standard'], jsonSchema: shown['~standard'].jsonSchema } }
}

// Made once: every render offers its own tools, and only what they do differs.
const readSectionDefinition = defineTool({
  name: READ_SECTION,
  description: 'Read the full content of a summarized section.',
  params: readSectionParams,
  execute: notOffered,
})
const openSectionsDefinition = defineTool({
  name: OPEN_SECTIONS,
  description: 'Open summarized sections to view their full content.',
  params: openSectionsParams,
  execute: notOffered,
})

function notOffered(): ToolResult {
  return fail('This tool belongs to no prompt.')
}

/** Answers with a section's text; its tools join those of the conversation, or the turn halts where they cannot. */
export function readSectionTool(offered: DisclosureView): AnyTool {
  const execute: (typeof readSectionDefinition)['execute'] = ({ section_key: key }, context) => {
    const view = offered.at(context.session)
    const fault = checkKeys(view, [key], { takesFull: true })
    if (fault) return fault
    if (view.state(key) === 'full') {
      const content = view.content(key)
      return ok(`Section is already expanded.\n\n${content}`, { content })
    }
    return shown(view, planOpening(view, [key], ''))
  }
  return Object.freeze({ ...readSectionDefinition, execute })
}

/** Opens several sections at once; the strategy says what that means for those it is given. */
export function openSectionsTool(
  offered: DisclosureView,
  answer: (plan: OpeningPlan, view: DisclosureView, context: ToolContext) => ToolResult | Promise<ToolResult>,
): AnyTool {
  const execute: (typeof openSectionsDefinition)['execute'] = ({ section_keys: keys, reason = '' }, context) => {
    const view = offered.at(context.session)
    return checkKeys(view, keys, { takesFull: false }) ?? answer(planOpening(view, keys, reason), view, context)
  }
  return Object.freeze({ ...openSectionsDefinition, execute })
}

/** The result that holds the text, so that the turn can go on. */
export function shown(view: DisclosureView, plan: OpeningPlan): ToolResult {
  const { content, opening } = getOpening(view, plan, { halts: false })
  return { ...ok(content || 'The section has no content.', { content }), opening }
}

/** The result that ends the turn: the prompt must be rendered anew with the sections open. */
export function halted(view: DisclosureView, plan: OpeningPlan): ToolResult {
  const { opening } = getOpening(view, plan, { halts: true })
  return { ...ok(`Sections requested for expansion: ${plan.keys.join(', ')}.`), opening }
}
