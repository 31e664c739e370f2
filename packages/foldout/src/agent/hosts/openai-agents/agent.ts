import {
  Agent,
  tool,
  type AgentInputItem,
  type AgentOptions,
  type AgentOutputType,
  type CallModelInputFilter,
  type RunContext,
  type Tool,
  type ToolCallDetails,
  type ToolErrorFormatter,
} from '@openai/agents'
import { FoldoutError } from '../../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import type { BoundPrompt } from '../../../prompt/prompt.ts'
import type { Event } from '../../../session/event.ts'
import type { AnyTool } from '../../../tools/tool.ts'
import { getOpenRule } from '../../ahead/open-rule.ts'
import { describeDenial } from '../../loop/calls/approval.ts'
import type { Host, HostOptions, HostResult, HostView } from '../core/contract.ts'
import { rememberNeed } from '../core/asked.ts'
import { createHost, toHostTool } from '../core/host.ts'
import { checkNames } from '../core/names.ts'
import { watchRun, type RunWatch } from './report.ts'

/**
 * Options of {@link foldedAgent}: those of an agent, and those of a host. Instructions come before the prompt's text.
 *
 * @example
 * ```ts
 * const options: FoldedAgentOptions = { name: 'desk', model: 'gpt-5', tools: [lookUp] }
 * ```
 */
export type FoldedAgentOptions<TContext = unknown, TOutput extends AgentOutputType = 'text'> = AgentOptions<
  TContext,
  TOutput
> & { readonly foldout?: HostOptions }

/**
 * A prompt as an agent of openai-agents, with handoffs, guardrails and `asTool`. The model opens what it needs. What is
 * open is in the run's `context`, a plain object, which is part of `RunState`.
 *
 * @example
 * ```ts
 * const agent = foldedAgent(bound, { name: 'desk', model: 'gpt-5', tools: [lookUp] })
 * const result = await run(agent, 'Money back for A-17.', { ...runOptions(agent), context: {} })
 * ```
 */
export function foldedAgent<TContext = unknown, TOutput extends AgentOutputType = 'text'>(
  bound: Pick<BoundPrompt, 'prompt' | 'render'>,
  options: FoldedAgentOptions<TContext, TOutput>,
): Agent<TContext, TOutput> {
  return new FoldedAgent(bound, options)
}

class FoldedAgent<TContext, TOutput extends AgentOutputType> extends Agent<TContext, TOutput> {
  readonly host: Host
  readonly watch: RunWatch
  readonly #wrapped = new WeakSet<object>()
  /** What a run begins with, until its first request opens ahead for it. */
  readonly #inputs = new WeakMap<object, readonly AgentInputItem[]>()

  constructor(
    bound: Pick<BoundPrompt, 'prompt' | 'render'>,
    { foldout, ...options }: FoldedAgentOptions<TContext, TOutput>,
  ) {
    super(options)
    this.host = createHost(bound, foldout)
    this.watch = watchRun(this, this.host.report, (each) => this.#wrapped.has(each))
    if (foldout && getOpenRule(foldout) !== undefined)
      this.on('agent_start', (context, _agent, input = []) => this.#inputs.set(context, input))
  }

  at(context: unknown): HostView {
    return this.host.at(readEvents(context, this.name))
  }

  /** Without the filter of `runOptions`, nobody knows which results a request has, so the text has everything. */
  override async getSystemPrompt(runContext: RunContext<TContext>): Promise<string> {
    await this.#openAhead(runContext)
    const own = await super.getSystemPrompt(runContext)
    return [own, this.at(runContext.context).getPrompt().text].filter(Boolean).join('\n\n')
  }

  override async getAllTools(runContext: RunContext<TContext>): Promise<Tool<TContext>[]> {
    await this.#openAhead(runContext)
    const own = await super.getAllTools(runContext)
    const { tools } = this.at(runContext.context)
    checkNames(
      own.map(({ name }) => name),
      tools,
    )
    return [...own, ...tools.map((each) => this.#wrap(each))]
  }

  async run(
    context: unknown,
    call: { readonly id: string; readonly name: string; readonly arguments?: unknown },
    signal?: AbortSignal,
  ): Promise<HostResult> {
    this.host.report.started({ isResumed: true })
    // The SDK has asked already.
    const result = await this.at(context).call(call, { signal, isApproved: true })
    addEvents(context, this.name, result.events)
    return result
  }

  async #openAhead(runContext: RunContext<TContext>): Promise<void> {
    const items = this.#inputs.get(runContext) ?? []
    this.#inputs.delete(runContext)
    if (items.length === 0) return
    const inputs = items.flatMap((item) => getInput(item) ?? [])
    const { events } = await this.at(runContext.context).openAhead(inputs)
    addEvents(runContext.context, this.name, events)
  }

  #wrap(own: AnyTool): Tool<TContext> {
    const { name, description, inputSchema } = toHostTool(own)
    const made = tool<TContext>({
      name,
      description,
      parameters: { additionalProperties: true, required: [], ...inputSchema },
      // The arguments are checked where the tool runs, so the model reads what is wrong.
      strict: false,
      needsApproval: async (runContext, input, id = '') => {
        const call = { id, name, arguments: input }
        const now = this.at(runContext.context)
        const need = await now.findApprovalNeed(call)
        if (need === false) return false
        addEvents(runContext.context, this.name, rememberNeed(now.session, call, need))
        this.watch.replied(runContext)
        this.host.report.asked(call, need)
        return true
      },
      execute: async (input, runContext, details) => {
        const call = { id: getCallId(details), name, arguments: input }
        return toOutput(await this.run(runContext?.context, call, details?.signal))
      },
    })
    this.#wrapped.add(made)
    return made
  }
}

function getCallId(details: ToolCallDetails | undefined): string {
  return details?.toolCall?.callId ?? crypto.randomUUID()
}

function toOutput({ text, images }: HostResult): unknown {
  if (images.length === 0) return text
  const pictures = images.map(({ mimeType, data }) => ({ type: 'image', image: `data:${mimeType};base64,${data}` }))
  return [{ type: 'text', text }, ...pictures]
}

/**
 * The options that {@link runOptions} returns.
 *
 * @example
 * ```ts
 * const options: FoldedRunOptions = runOptions(agent)
 * options.toolNotFoundBehavior // => 'return_error_to_model'
 * ```
 */
export interface FoldedRunOptions {
  /** Keeps the text of the first request, and returns what is no longer in the conversation. */
  readonly callModelInputFilter: CallModelInputFilter
  /** Lets the run go on if the model calls a tool that is folded or does not exist. */
  readonly toolNotFoundBehavior: 'return_error_to_model'
  /** Tells the model how to get that tool. */
  readonly toolErrorFormatter: ToolErrorFormatter
}

/**
 * Returns the options with which a folded agent should run. If you have a filter of your own, pass it: it goes first.
 *
 * @example
 * ```ts
 * const result = await run(agent, input, { ...runOptions(agent), context: {} })
 * ```
 */
export function runOptions(
  agent: Agent<never, never> | Agent<unknown>,
  own: { readonly callModelInputFilter?: CallModelInputFilter } = {},
): FoldedRunOptions {
  const filter: CallModelInputFilter = async (args) => {
    const modelData = (await own.callModelInputFilter?.(args)) ?? args.modelData
    // After a handoff, it is another agent.
    if (!(args.agent instanceof FoldedAgent)) return modelData
    const now = (args.agent as FoldedAgent<unknown, never>).at(args.context)
    const { messages: input, shown } = now.addAhead(modelData.input, {
      getInput,
      create: (content) => ({ role: 'user', content }),
    })
    const prompt = now.getPrompt([...input.flatMap(getResult), ...shown])
    const whole = now.getPrompt().text
    const { instructions = '' } = modelData
    const text = instructions.endsWith(whole)
      ? instructions.slice(0, instructions.length - whole.length) + prompt.text
      : instructions
    const tools = now.tools.map(({ name }) => name)
    args.agent.watch.sent({ prompt, messages: input.length, tools })
    return { ...modelData, input, instructions: text }
  }
  filter.preserveInputIdentity = own.callModelInputFilter?.preserveInputIdentity ?? true
  return {
    callModelInputFilter: filter,
    toolNotFoundBehavior: 'return_error_to_model',
    async toolErrorFormatter({ kind, toolName: name, callId: id, runContext }) {
      if (kind === 'approval_rejected') return describeDenial(undefined)
      if (!(agent instanceof FoldedAgent)) return undefined
      agent.watch.replied(runContext)
      return (await agent.run(runContext.context, { id, name })).text
    },
  }
}

/** Returns the text of a message of the user. */
function getInput({ role, content }: AgentInputItem): string | undefined {
  if (role !== 'user') return undefined
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as readonly unknown[])
    .flatMap((part) => (isObject(part) && typeof part['text'] === 'string' ? [part['text']] : []))
    .join('\n')
}

/** Returns the text of a result in the conversation. */
function getResult({ type, output }: AgentInputItem): readonly string[] {
  if (type !== 'function_call_result') return []
  return (Array.isArray(output) ? (output as readonly unknown[]) : [output]).flatMap((part) => {
    if (typeof part === 'string') return [part]
    const text = typeof part === 'object' && part !== null && 'text' in part ? part.text : undefined
    if (typeof text === 'string') return [text]
    return []
  })
}

/** The field of the run's context that has the events, by the name of the agent. */
const FIELD = 'foldout'

/** Reads the events of an agent from the context of a run, which is part of the run's state. */
function readEvents(context: unknown, agent: string): readonly Event[] {
  const all = isObject(context) ? context[FIELD] : undefined
  const own = isObject(all) && Object.hasOwn(all, agent) ? all[agent] : undefined
  if (Array.isArray(own)) return own as readonly Event[]
  return []
}

/** Adds events of an agent to the context of a run. */
function addEvents(context: unknown, agent: string, events: readonly Event[]): void {
  if (events.length === 0) return
  if (!isObject(context)) {
    throw new FoldoutError(
      'session-invalid',
      'The context of the run is not a plain object, so what is open would be lost. Pass one, as in run(agent, input, { ...runOptions(agent), context: {} }).',
    )
  }
  const all = isObject(context[FIELD]) ? context[FIELD] : {}
  const entry = {
    value: [...readEvents(context, agent), ...events],
    enumerable: true,
    writable: true,
    configurable: true,
  }
  // Defined, because an agent may have any name.
  context[FIELD] = Object.defineProperty({ ...all }, agent, entry)
}
