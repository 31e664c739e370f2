import { createTool, type ExecutionContext, type MastraTool } from '@mastra/core/tools'
import { isObject } from 'foldout-shared/values'
import { createUncheckedSchema } from '../../../core/schema/schema.ts'
import { getAncestors } from '../../../core/text.ts'
import type { BoundPrompt } from '../../../prompt/prompt.ts'
import { hashCall } from '../../../tools/approval.ts'
import type { AnyTool, ApprovalNeed } from '../../../tools/tool.ts'
import { visibility } from '../../../session/visibility.ts'
import type { Host, HostOptions, HostReply, HostView } from '../core/contract.ts'
import { createHost, toHostTool } from '../core/host.ts'
import { checkNames } from '../core/names.ts'
import { listEveryTool } from '../core/every-tool.ts'
import {
  createInput,
  getPromptInput,
  getResultTexts,
  joinTexts,
  readChunks,
  replaceHints,
  replaceSystem,
} from './prompt.ts'
import type { MastraRequest, MastraResponse, MastraStep } from './stages.ts'
import { addToThread, findEvents, keepAhead, readThread, type EventsByCall, type KeptResult } from './events.ts'

/** How many questions about calls are remembered. */
const MAX_NEEDS = 1_000

/** What one step tells the next stage of itself. */
interface StepState {
  readonly now: HostView
  readonly text: string
  readonly tools: readonly string[]
}

/**
 * A prompt inside an agent of Mastra, as an input processor: its text follows the agent's instructions, and the model
 * opens what it needs. What is open is in the results of calls and, if the agent has memory, in the metadata of the
 * thread. Put it last in the list.
 *
 * @example
 * ```ts
 * const agent = new Agent({ id: 'desk', name: 'Desk', instructions, model, memory, inputProcessors: [new FoldoutProcessor(bound)] })
 * await agent.generate('Money back for A-17.', { memory: { thread: 'one', resource: 'ada' } })
 * ```
 */
export class FoldoutProcessor {
  readonly id = 'foldout'
  readonly name = 'Foldout'
  /** Called with each reply, before its calls run; only if somebody listens. */
  declare processLLMResponse?: (response: MastraResponse) => void
  readonly #host: Host
  /**
   * What people were asked about calls. Mastra does not say which call it asks about, so identical calls share what was
   * asked first.
   */
  readonly #needs = new Map<string, ApprovalNeed>()

  constructor(bound: Pick<BoundPrompt, 'prompt' | 'render'>, options: HostOptions = {}) {
    this.#host = createHost(bound, options)
    // Mastra runs every stage that exists, as a workflow of its own.
    if (this.#host.report.isOn) this.processLLMResponse = ({ chunks }) => this.#report(readChunks(chunks))
  }

  /** Called before each step: adds the prompt's text, and the tools that can be called. */
  async processInputStep(step: MastraStep): Promise<{ systemMessages: never[]; tools: Record<string, unknown> }> {
    if (step.stepNumber === 0) {
      const inputs = step.messages.flatMap((message) => getInput(message) ?? [])
      const input = inputs.at(-1)
      this.#host.report.started({ ...(input !== undefined && { input }) })
      const { events } = await this.#at(findEvents(step)).openAhead(inputs)
      keepAhead(step.messages, events)
    }
    const events = findEvents(step)
    const now = this.#at(events)
    // After a resume, the list has tools of folded sections.
    const others = Object.entries(step.tools ?? {}).filter(([, tool]) => !isWrapped(tool))
    checkNames(
      others.map(([name]) => name),
      now.tools,
    )
    const own = now.tools.map((tool) => [tool.name, this.#wrap(tool, () => now, events)] as const)
    const { text } = now.getPrompt()
    const tools = Object.fromEntries<unknown>([...others, ...own])
    step.state['step'] = { now, text, tools: Object.keys(tools) } satisfies StepState
    return { systemMessages: [...step.systemMessages, { role: 'system', content: text }] as never[], tools }
  }

  /** Called with the messages of a request: only here it is known which results other processors have taken out. */
  processLLMRequest({ prompt, state }: MastraRequest): { prompt: never[] } {
    const { now, text, tools } = state['step'] as StepState
    const first = this.#host.at(undefined)
    const { messages: all, shown } = now.addAhead(prompt, { getInput: getPromptInput, create: createInput })
    const sent = now.getPrompt([...getResultTexts(all), ...shown])
    this.#host.report.sent({ prompt: sent, messages: all.length, tools })
    const messages = replaceHints(replaceSystem(all, text, sent.text), (name) => first.describeMissing(name, tools))
    return { prompt: messages as never[] }
  }

  /** Called when a run resumes, which skips the steps above: an approved call needs its tool. */
  getLoadedToolsForRequestContext(): Record<string, MastraTool> {
    const getView = async (name: string, context: ExecutionContext): Promise<HostView> => {
      const events = [...(await readThread(context)).values()].flat()
      // Without memory, the thread is unknown. The call was offered, so its section was open.
      const path = this.#host.at(events).rendered.toolsInFolds.get(name)
      const paths = path === undefined ? [] : [...getAncestors(path), path]
      return this.#host.at([
        ...events,
        ...paths.map((each) => visibility.events.set({ path: each, visibility: 'full' })),
      ])
    }
    const tools = listEveryTool(this.#host.at(undefined))
    return Object.fromEntries(
      tools.map((tool) => [tool.name, this.#wrap(tool, (context) => getView(tool.name, context))]),
    )
  }

  /**
   * @param getView Returns the view in which a call runs.
   * @param known What was opened before: for messages, it is in the messages, which memory may not have in later runs.
   * Undefined for a run that resumes: there, Mastra asks again about calls that have been answered.
   */
  #wrap(
    tool: AnyTool,
    getView: (context: ExecutionContext) => HostView | Promise<HostView>,
    known?: EventsByCall,
  ): MastraTool {
    const { report } = this.#host
    const needs = this.#needs
    const { name, description, inputSchema } = toHostTool(tool)
    return createTool({
      id: name,
      description,
      // The arguments are checked where the tool runs, so the model reads what is wrong.
      inputSchema: createUncheckedSchema(inputSchema),
      async requireApproval(input) {
        const call = { id: '', name, arguments: input }
        const need = await (await getView({})).findApprovalNeed(call)
        if (need === false) return false
        const key = hashCall(name, input)
        if (known && !needs.has(key)) needs.set(key, need)
        for (const oldest of needs.keys()) if (needs.size > MAX_NEEDS) needs.delete(oldest)
        report.asked(call, need)
        return true
      },
      async execute(input, context): Promise<KeptResult> {
        const callId = context.agent?.toolCallId ?? crypto.randomUUID()
        report.started({ isResumed: true })
        const view = await getView(context)
        const key = hashCall(name, input)
        const need = needs.get(key)
        needs.delete(key)
        // Mastra has asked already.
        const result = await view.call(
          { id: callId, name, arguments: input },
          { signal: context.abortSignal, isApproved: true, need },
        )
        const { text, images, events } = result
        await addToThread(context, new Map([...(known ?? []), [callId, events]]))
        return { text, images, foldout: { callId, events } }
      },
      toModelOutput,
    })
  }

  #report(reply: Required<HostReply>): void {
    this.#host.report.replied(reply)
    if (reply.calls.length === 0) this.#host.report.finished('completed')
  }

  #at(events: EventsByCall): HostView {
    return this.#host.at([...events.values()].flat())
  }
}

/** Returns the text of a message of the user, in the form in which Mastra keeps it. */
function getInput(message: unknown): string | undefined {
  if (!isObject(message) || message['role'] !== 'user') return undefined
  const { content } = message
  const parts = isObject(content) && Array.isArray(content['parts']) ? (content['parts'] as readonly unknown[]) : []
  return joinTexts(parts)
}

/** Whether a tool is one of a prompt's. Mastra makes copies of tools, which have the same functions. */
function isWrapped(tool: unknown): boolean {
  return typeof tool === 'object' && tool !== null && 'toModelOutput' in tool && tool.toModelOutput === toModelOutput
}

function toModelOutput({ text, images }: KeptResult): unknown {
  if (images.length === 0) return { type: 'text', value: text }
  const pictures = images.map(({ mimeType, data }) => ({ type: 'media', mediaType: mimeType, data }))
  return { type: 'content', value: [{ type: 'text', text }, ...pictures] }
}
