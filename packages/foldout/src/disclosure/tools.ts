import { fromJsonSchema, type JsonSchema, type ToolSchema } from '../core/schema/schema.ts'
import { fail, ok, type ToolResult } from '../tools/result.ts'
import { defineTool, type AnyTool, type ToolContext } from '../tools/tool.ts'
import { getOpening, planOpening, resolveKeys, type OpeningPlan } from './engine.ts'
import { MAX_REASON } from './limits.ts'
import { describeCallable, describeOpened } from './opening.ts'
import type { DisclosureView, OpeningCall, OpeningRequest } from './strategy.ts'

export const READ_SECTION = 'read_section'
export const OPEN_SECTIONS = 'open_sections'

/** The names that a prompt's own tools cannot have, whichever strategy is used. */
export const DISCLOSURE_TOOL_NAMES: readonly string[] = Object.freeze([OPEN_SECTIONS, READ_SECTION])

const readSectionParams = createParams<{ readonly section_key: string }>({
  properties: {
    section_key: {
      type: 'string',
      description:
        "Key of the section to read. Use the key shown in the section's summary. Nested sections use dot notation (e.g., 'parent.child').",
    },
  },
  needed: ['section_key'],
})

const openSectionsParams = createParams<{ readonly section_keys: readonly string[]; readonly reason?: string }>({
  properties: {
    section_keys: {
      type: 'array',
      items: { type: 'string' },
      description:
        "Section keys to open. Each key identifies a summarized section. Use the keys shown in section summaries. Nested sections use dot notation (e.g., 'parent.child').",
    },
    reason: {
      type: 'string',
      description: 'Why you need them, in a few words',
    },
  },
  needed: ['section_keys'],
})

/**
 * Creates a schema that shows the model every field as required, but accepts calls that only have the necessary ones.
 */
function createParams<T>(fields: {
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

// Defined once: the tools of each render differ only in `execute`.
const readSectionDefinition = defineTool({
  name: READ_SECTION,
  description:
    'Read the full content of a summarized section and get its tools. Do this before you say that something cannot be done.',
  params: readSectionParams,
  execute: failWithoutPrompt,
})
const openSectionsDefinition = defineTool({
  name: OPEN_SECTIONS,
  description: 'Open summarized sections to view their full content.',
  params: openSectionsParams,
  execute: failWithoutPrompt,
})

function failWithoutPrompt(): ToolResult {
  return fail('This tool does not belong to a prompt.')
}

/**
 * Answers with a section's text. The section's tools are added to the conversation, or the run restarts if that is not
 * possible.
 */
export function readSectionTool(offered: DisclosureView): AnyTool {
  const execute: (typeof readSectionDefinition)['execute'] = ({ section_key: given }, context) => {
    const view = offered.at(context.session)
    const resolved = resolveKeys(view, [given], { takesFull: true })
    if ('fault' in resolved) return resolved.fault
    const [key = given] = resolved.keys
    if (view.state(key) === 'full') {
      const content = view.content(key)
      return ok(`Section is already expanded.\n\n${content}`, { content })
    }
    return answerInPlace(view, planOpening(view, resolved.keys, ''))
  }
  return Object.freeze({ ...readSectionDefinition, execute })
}

/** Opens several sections at once; `answer` decides how. */
export function openSectionsTool(
  offered: DisclosureView,
  answer: (plan: OpeningPlan, view: DisclosureView, context: ToolContext) => ToolResult | Promise<ToolResult>,
): AnyTool {
  const execute: (typeof openSectionsDefinition)['execute'] = ({ section_keys: given, reason = '' }, context) => {
    const view = offered.at(context.session)
    const resolved = resolveKeys(view, given, { takesFull: false })
    if ('fault' in resolved) return resolved.fault
    return answer(planOpening(view, resolved.keys, reason), view, context)
  }
  return Object.freeze({ ...openSectionsDefinition, execute })
}

/**
 * Creates a result with the text of the opened sections, so the conversation continues. It ends with the names of the
 * tools that can be called now.
 *
 * @example
 * const execute = ({ key }: { key: string }, { session }: ToolContext): ToolResult => {
 *   const now = view.at(session)
 *   return answerInPlace(now, planOpening(now, [key], ''))
 * }
 */
export function answerInPlace(view: DisclosureView, plan: OpeningPlan): ToolResult {
  const { content, tools, opening } = getOpening(view, plan, { halts: false })
  const message = [content || 'The section has no content.', describeCallable(tools)].filter(Boolean).join('\n\n')
  return { ...ok(message, { content }), opening }
}

/**
 * Creates a result that ends the turn, so the prompt is rendered again with the sections open.
 *
 * @example
 * const execute = ({ key }: { key: string }, { session }: ToolContext): ToolResult => {
 *   const now = view.at(session)
 *   return answerByRestart(now, planOpening(now, [key], ''))
 * }
 */
export function answerByRestart(view: DisclosureView, plan: OpeningPlan): ToolResult {
  const { opening } = getOpening(view, plan, { halts: true })
  return { ...ok(describeOpened({ keys: plan.keys, tools: opening.tools.length > 0 })), opening }
}

/** The `read_section` call for one section. */
export function getReadCall(key: string): OpeningCall {
  return { name: READ_SECTION, arguments: { section_key: key } }
}

/** The `open_sections` call for several sections. */
export function getOpenCall(keys: readonly string[]): OpeningCall {
  return { name: OPEN_SECTIONS, arguments: { section_keys: keys, reason: '' } }
}

/** Reads the keys and the reason from a call of either tool; the arguments may be anything. */
export function describeCall({ arguments: args }: OpeningCall): OpeningRequest {
  const { section_key: key, section_keys: keys, reason } = readObject(args)
  return {
    keys: [...(Array.isArray(keys) ? (keys as readonly unknown[]) : []), ...(key === undefined ? [] : [key])].filter(
      (one) => typeof one === 'string',
    ),
    reason: typeof reason === 'string' ? reason.slice(0, MAX_REASON) : '',
  }
}

function readObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
