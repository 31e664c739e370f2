import type { Session } from '../session/session.ts'
import { getVisibilityMap, visibility } from '../session/visibility.ts'
import type { Opening } from '../tools/result.ts'
import type { AnyTool } from '../tools/tool.ts'

/**
 * How an opening is answered: `'in-place'` if the conversation continues with the text as the call's result and with
 * added tools, `'restart'` if the prompt is rendered again.
 *
 * @example
 * ```ts
 * const answer: OpeningAnswer = chooseAnswer(result.opening, adapter.supportsDynamicTools)
 * if (answer === 'restart') bound.render({ session })
 * ```
 */
export type OpeningAnswer = 'in-place' | 'restart'

/**
 * Chooses how an opening is answered, depending on whether tools can be added to the conversation.
 *
 * @example
 * const mustRender = chooseAnswer(result.opening, adapter.supportsDynamicTools) === 'restart'
 */
export function chooseAnswer({ halts, tools }: Opening, canAddTools: boolean): OpeningAnswer {
  if (halts || (tools.length > 0 && !canAddTools)) return 'restart'
  return 'in-place'
}

/**
 * Opens sections in a session. This is the only place that applies an opening.
 *
 * @example
 * if (result.ok && result.opening) applyOpening(session, result.opening)
 */
export function applyOpening(session: Session, { paths }: Pick<Opening, 'paths'>): void {
  for (const path of paths) session.dispatch(visibility.events.set({ path, visibility: 'full' }))
}

/** Whether all sections of an opening are open in a session. */
export function isApplied(session: Session, { paths }: Pick<Opening, 'paths'>): boolean {
  const asked = getVisibilityMap(session)
  return paths.every((path) => asked.get(path) === 'full')
}

/**
 * Returns the tools that a view offers but a conversation does not have yet, in the view's order.
 *
 * @example
 * const added = getNewTools(bound.render({ session }), new Set(offered))
 */
export function getNewTools(
  view: { readonly tools: readonly AnyTool[] },
  offered: { has(name: string): boolean },
): readonly AnyTool[] {
  return view.tools.filter(({ name }) => !offered.has(name))
}

/**
 * Describes to the model which sections are open in a new render.
 *
 * @example
 * describeOpened({ keys: ['shipping'], tools: false }) // => 'Opened: shipping. Its text is now in the system prompt.'
 */
export function describeOpened({ keys, tools }: { readonly keys: readonly string[]; readonly tools: boolean }): string {
  const whose = keys.length === 1 ? 'Its' : 'Their'
  const text = `Opened: ${keys.join(', ')}. ${whose} text is now in the system prompt`
  if (tools) return `${text}, and ${whose.toLowerCase()} tools are in your tool list.`
  return `${text}.`
}

/** Describes sections that a new render opens, and names the tools that can be called then. */
export function describeRestart(keys: readonly string[], tools: readonly AnyTool[]): string {
  return [describeOpened({ keys, tools: tools.length > 0 }), describeCallable(tools)].filter(Boolean).join(' ')
}

/** Tells the model about sections that the application opened or changed between two of its replies. */
export function describeNews(text: string): string {
  return `Your instructions have changed. These sections now read:

${text}`
}

/**
 * Shows the model the sections that were opened ahead for its user's message.
 *
 * @example
 * ```ts
 * describeAhead('# Refunds\n\nWithin 30 days.', []).startsWith('These sections') // => true
 * ```
 */
export function describeAhead(text: string, tools: readonly AnyTool[]): string {
  const shown = `These sections of your instructions are open now:\n\n${text}`
  if (tools.length === 0) return shown
  return `${shown}\n\n${describeCallable(tools)}`
}

/** Describes to the model which sections it has to ask for again. */
export function describeLeft(keys: readonly string[]): string {
  return `Not opened yet: ${keys.join(', ')}. Ask again if you still need ${keys.length === 1 ? 'it' : 'them'}.`
}

/** Describes to the model which sections open with its next reply, while openings are collected. */
export function describeWaiting(keys: readonly string[]): string {
  const verb = keys.length === 1 ? 'opens' : 'open'
  return `Requested: ${keys.join(', ')}, which ${verb} as soon as you reply without opening more.`
}

/** Where a model finds the text of an open section. */
export type OpenPlace = 'system' | 'conversation'

/** Tells a model that asks for an open section where it has its text. */
export function describeOpen(place: OpenPlace): string {
  const where = place === 'system' ? 'in the system prompt' : 'above, where it was opened'
  return `Section is already expanded. Its text is ${where}.`
}

/** Formats the line below a section's text that names the callable tools; empty if there are none. */
export function describeCallable(tools: readonly AnyTool[]): string {
  if (tools.length === 0) return ''
  return `Callable now: ${tools.map(({ name }) => name).join(', ')}.`
}

/** The result of a call that came after an opening in the same reply. */
export const NOT_RUN =
  'Not run, because sections were being opened. They are open now; call it again if you still need it.'
