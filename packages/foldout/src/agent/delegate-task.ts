import type { BoundPrompt } from '../prompt/prompt.ts'
import { createPart } from '../prompt/prompt.ts'
import { defineSection, type AnySection } from '../prompt/definition/section.ts'
import { cutWithCount } from '../core/text.ts'
import { fail, ok, type ToolResult } from '../tools/result.ts'
import type { AgentResult } from './options.ts'
import { MAX_QUESTION_CHARACTERS } from './limits.ts'

const TASK =
  'Another agent asks you a question or gives you a task. Do it with the section below and its tools. It reads only your final answer: put everything into it that was asked for, and say what you could not find or do.'

const createTask = (key: string): AnySection =>
  defineSection({ key, title: 'Your task', template: TASK, acceptsOverrides: false })

// A prompt cannot have two sections of one key.
const task = createTask('task')
const otherTask = createTask('delegated-task')

/** Makes the prompt of the agent that answers for a section; undefined if the prompt has no such section. */
export function createDelegatePrompt(
  bound: Pick<BoundPrompt, 'render'>,
  path: string,
): Pick<BoundPrompt, 'prompt' | 'render'> | undefined {
  return createPart(bound, path, path.endsWith('task') ? otherTask : task)
}

/** Returns the input of the agent that answers. */
export function toInput(question: string): string {
  return cutWithCount(question, MAX_QUESTION_CHARACTERS)
}

/** Turns how the agent's run ended into the result of the question. */
export function toAnswer(
  path: string,
  {
    status,
    reason,
    text,
  }: { readonly status: AgentResult['status']; readonly reason?: string | undefined; readonly text: string },
): ToolResult {
  if (status === 'completed') return ok(text === '' ? `The agent for '${path}' gave no answer.` : text)
  const why = reason === undefined ? '' : ` (${reason})`
  const said = text === '' ? '' : ` It said last:\n\n${text}`
  return fail(`The agent for '${path}' stopped before it was done${why}.${said}`)
}

export function describeFailure(path: string, message: string): string {
  return `The agent for '${path}' failed: ${message}`
}

export const TOO_DEEP = 'This question cannot be passed on any further. Answer it with what you have.'
