import { fromJsonSchema, type JsonSchema, type ToolSchema } from '../core/schema/schema.ts'
import { fail, ok, type ToolResult } from '../tools/result.ts'
import { defineTool, type AnyTool, type ToolContext } from '../tools/tool.ts'
import { ASK_SECTION } from './ask-tool.ts'
import { getOpening, planOpening, resolveKeys, type OpeningPlan } from './engine.ts'
import { answerQuery, isSearchable } from './find-sections.ts'
import { MAX_REASON } from './limits.ts'
import { describeCallable, describeRestart } from './opening.ts'
import type { DisclosureView, OpeningCall, OpeningRequest } from './strategy.ts'

export const READ_SECTION = 'read_section'
export const OPEN_SECTIONS = 'open_sections'

/** The names that a prompt's own tools cannot have, whichever strategy is used. */
export const DISCLOSURE_TOOL_NAMES: readonly string[] = Object.freeze([OPEN_SECTIONS, READ_SECTION, ASK_SECTION])

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

/** For prompts with many sections, of which the model does not see all keys. */
const findSectionParams = createParams<{ readonly section_key?: string; readonly query?: string }>({
  properties: {
    section_key: {
      type: 'string',
      description: "Key of the section to read, such as 'parent.child'. Empty if you give a query.",
    },
    query: {
      type: 'string',
      description:
        'What you need to know, in a few words, or the name of a tool. Finds the sections that say it. Empty if you give a key.',
    },
  },
  needed: [],
})

const findSectionsParams = createParams<{
  readonly section_keys?: readonly string[]
  readonly query?: string
  readonly reason?: string
}>({
  properties: {
    section_keys: {
      type: 'array',
      items: { type: 'string' },
      description: "Section keys to open, such as 'parent.child'. Empty if you give a query.",
    },
    query: {
      type: 'string',
      description:
        'What you need to know, in a few words, or the name of a tool. Finds the sections that say it. Empty if you give keys.',
    },
    reason: { type: 'string', description: 'Why you need them, in a few words' },
  },
  needed: [],
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
      description:
        "Brief explanation of why these sections need to be expanded. Helps the caller understand the model's information needs.",
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

const findSectionDefinition = defineTool({
  name: READ_SECTION,
  description:
    'Read the full content of a summarized section and get its tools, by its key or by a query for what it says. Do this before you say that something cannot be done.',
  params: findSectionParams,
  execute: failWithoutPrompt,
})
const findSectionsDefinition = defineTool({
  name: OPEN_SECTIONS,
  description: 'Open summarized sections to view their full content, by their keys or by a query for what they say.',
  params: findSectionsParams,
  execute: failWithoutPrompt,
})

function failWithoutPrompt(): ToolResult {
  return fail('This tool does not belong to a prompt.')
}

/**
 * Answers with a section's text. The section's tools are added to the conversation, or the run restarts if that is not
 * possible. In a prompt with many sections, it also finds sections by what they say.
 */
export function readSectionTool(offered: DisclosureView): AnyTool {
  if (isSearchable(offered)) return findSectionTool(offered)
  const execute: (typeof readSectionDefinition)['execute'] = ({ section_key: given }, context) =>
    readByKey(offered.at(context.session), given, context)
  return Object.freeze({ ...readSectionDefinition, execute })
}

function findSectionTool(offered: DisclosureView): AnyTool {
  const execute: (typeof findSectionDefinition)['execute'] = ({ section_key: given = '', query = '' }, context) => {
    const view = offered.at(context.session)
    if (given !== '' || query === '') return readByKey(view, given, context)
    return answerQuery(view, {
      query,
      tool: READ_SECTION,
      open: (plan) => openLoaded(view, plan, context, answerInPlace),
    })
  }
  return Object.freeze({ ...findSectionDefinition, execute })
}

function readByKey(view: DisclosureView, given: string, context: ToolContext): ToolResult | Promise<ToolResult> {
  const resolved = resolveKeys(view, [given], { takesFull: true })
  if ('fault' in resolved) return readFiles(view, [given], resolved.fault)
  const [key = given] = resolved.keys
  const plan = planOpening(view, resolved.keys, '')
  if (view.state(key) !== 'full') return openLoaded(view, plan, context, answerInPlace)
  return openLoaded(view, plan, context, (now) => {
    const content = now.content(key)
    return ok(`Section is already expanded.\n\n${content}`, { content })
  })
}

/** Answers once the sections of a plan are loaded. */
function openLoaded(
  view: DisclosureView,
  plan: OpeningPlan,
  context: ToolContext,
  answer: (view: DisclosureView, plan: OpeningPlan) => ToolResult | Promise<ToolResult>,
): ToolResult | Promise<ToolResult> {
  const loading = view.load([...plan.keys, ...[...plan.pathsByKey.values()].flat()], context)
  if (loading === false) return answer(view, plan)
  return loading.then(() => answer(view.at(context.session), plan))
}

/** Reads the files that keys name, if all of them name files. */
async function readFiles(view: DisclosureView, given: readonly string[], fault: ToolResult): Promise<ToolResult> {
  const texts: string[] = []
  for (const key of given) {
    const read = await view.readFile(key)
    if (!read?.ok) return read ?? fault
    texts.push(read.message)
  }
  if (texts.length === 0) return fault
  return ok(texts.join('\n\n'))
}

type Answer = (plan: OpeningPlan, view: DisclosureView, context: ToolContext) => ToolResult | Promise<ToolResult>

/** Opens several sections at once; `answer` decides how. In a prompt with many sections, it also finds them. */
export function openSectionsTool(offered: DisclosureView, answer: Answer): AnyTool {
  if (isSearchable(offered)) return findSectionsTool(offered, answer)
  const execute: (typeof openSectionsDefinition)['execute'] = ({ section_keys: given, reason = '' }, context) =>
    openByKeys(offered.at(context.session), { given, reason, context, answer })
  return Object.freeze({ ...openSectionsDefinition, execute })
}

function findSectionsTool(offered: DisclosureView, answer: Answer): AnyTool {
  const execute: (typeof findSectionsDefinition)['execute'] = (input, context) => {
    const { section_keys: given = [], query = '', reason = '' } = input
    const view = offered.at(context.session)
    if (given.length > 0 || query === '') return openByKeys(view, { given, reason, context, answer })
    const open = (plan: OpeningPlan): ToolResult | Promise<ToolResult> =>
      openLoaded(view, plan, context, (now) => answer(plan, now, context))
    return answerQuery(view, { query, tool: OPEN_SECTIONS, open })
  }
  return Object.freeze({ ...findSectionsDefinition, execute })
}

function openByKeys(
  view: DisclosureView,
  asked: {
    readonly given: readonly string[]
    readonly reason: string
    readonly context: ToolContext
    readonly answer: Answer
  },
): ToolResult | Promise<ToolResult> {
  const resolved = resolveKeys(view, asked.given, { takesFull: false })
  if ('fault' in resolved) return readFiles(view, asked.given, resolved.fault)
  const plan = planOpening(view, resolved.keys, asked.reason)
  return openLoaded(view, plan, asked.context, (now) => asked.answer(plan, now, asked.context))
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
  return { ...ok(describeRestart(plan.keys, opening.tools)), opening }
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
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  return {}
}
