import { isObject } from 'foldout-shared/values'
import { fail, type ToolFailure } from '../tools/result.ts'
import { ASK_SECTION } from './ask-tool.ts'
import type { DisclosureView } from './strategy.ts'
import { describeUnknownSection } from './unknown-section.ts'

/** The line below the summary of a section whose questions an agent answers. */
export function askSuffix(path: string): string {
  return `[This section is summarized. To use it, call \`${ASK_SECTION}\` with path "${path}" and a question or a task.]`
}

/** Tells a model that opens such a section, or calls one of its tools, what to do instead. */
export function describeHowToAsk(path: string): string {
  return `Call \`${ASK_SECTION}\` with path "${path}" and a question or a task instead.`
}

/** A question about a section. */
export interface SectionQuestion {
  /** The path of the section whose agent answers. */
  readonly path: string
  readonly question: string
}

/** Finds the section that a call asks, or why there is none. The arguments are valid, but come from a model. */
export function readQuestion(view: DisclosureView, args: unknown): SectionQuestion | { readonly fault: ToolFailure } {
  const { path: key, question } = isObject(args) ? args : {}
  if (typeof key !== 'string' || typeof question !== 'string' || question.trim() === '')
    return { fault: fail('The question is empty. Ask again with a question or a task.') }
  const path = view.resolve(key)
  const state = path === undefined ? undefined : view.state(path)
  if (path === undefined || state === undefined) return { fault: fail(describeUnknownSection(view, key)) }
  const delegate = view.findDelegate(path)
  if (delegate !== undefined) return { path: delegate, question }
  if (state === 'full') return { fault: fail(`Section '${path}' is open: its text and tools are yours to use.`) }
  return { fault: fail(`Section '${path}' takes no questions. Open it to read it.`) }
}
