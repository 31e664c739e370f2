import { isObject } from 'foldout-shared/values'
import { Command, interrupt, isGraphInterrupt, ReducedValue, StateSchema } from '@langchain/langgraph'
import {
  createMiddleware,
  HumanMessage,
  ToolMessage,
  type AgentMiddleware,
  type AIMessage,
  type BaseMessage,
  type ModelRequest,
  type ToolCallRequest,
} from 'langchain'
import * as z from 'zod/v4'
import type { BoundPrompt } from '../../../prompt/prompt.ts'
import type { Event } from '../../../session/event.ts'
import type { ApprovalNeed } from '../../../tools/tool.ts'
import { getOpenRule } from '../../ahead/open-rule.ts'
import { describeDenial } from '../../loop/calls/approval.ts'
import type { Host, HostCall, HostOptions, HostResult, HostView } from '../core/contract.ts'
import { createHost, toHostTool } from '../core/host.ts'
import { checkNames } from '../core/names.ts'

/** The field of the agent's state that has the events. Fields that begin like this are not part of the output. */
const FIELD = '_foldout'

/**
 * A prompt inside an agent of LangChain, LangGraph or deepagents: its text follows the agent's own system prompt, and
 * the model opens what it needs. What is open is in the agent's state, so it is kept by any checkpointer, per thread and
 * per branch. Put it after middleware that edits the messages of requests.
 *
 * A tool that needs approval interrupts the graph like `humanInTheLoopMiddleware`, and takes the same answers.
 *
 * @example
 * ```ts
 * const agent = createAgent({ model, tools: [lookUp], middleware: [foldoutMiddleware(bound)], checkpointer })
 * await agent.invoke({ messages: 'Money back for A-17.' }, { configurable: { thread_id: 'ada' } })
 * ```
 */
export function foldoutMiddleware(
  bound: Pick<BoundPrompt, 'prompt' | 'render'>,
  options: HostOptions = {},
): AgentMiddleware {
  const host = createHost(bound, options)
  return createMiddleware({
    name: 'Foldout',
    stateSchema: new StateSchema({ [FIELD]: createField() }),
    // Each is a node of the graph, with a checkpoint of its own.
    ...((host.report.isOn || getOpenRule(options) !== undefined) && { beforeAgent: (state) => begin(host, state) }),
    ...(host.report.isOn && { afterAgent: () => host.report.finished('completed') }),
    wrapModelCall: (request, handler) => askModel(host, request, handler),
    // A message or a command, as the handler's own.
    wrapToolCall: (request, handler) => runTool(host, request, handler) as Promise<never>,
  })
}

/** Parallel openings append to the list, each without knowing of the others. */
function createField(): ReducedValue<readonly Event[] | undefined> {
  // A default would not be seen before the first call.
  const schema = z.array(z.looseObject({ type: z.string(), payload: z.unknown() })).optional()
  return new ReducedValue<readonly Event[] | undefined>(schema, {
    inputSchema: schema,
    reducer: (current, next) => [...(current ?? []), ...(next ?? [])],
  })
}

function getEvents(state: Readonly<Record<string, unknown>>): readonly Event[] {
  const events = state[FIELD]
  return Array.isArray(events) ? (events as readonly Event[]) : []
}

/** Opens what belongs to the message that begins the run. */
async function begin(
  { at, report }: Host,
  state: Readonly<Record<string, unknown>>,
): Promise<Record<string, readonly Event[]> | undefined> {
  const { input } = describeInput(state)
  report.started(describeInput(state))
  if (input === undefined) return undefined
  const messages = (state['messages'] ?? []) as readonly BaseMessage[]
  const { events } = await at(getEvents(state)).openAhead(messages.flatMap((message) => getInput(message) ?? []))
  if (events.length > 0) return { [FIELD]: events }
  return undefined
}

function getInput(message: BaseMessage): string | undefined {
  if (message.getType() === 'human') return message.text
  return undefined
}

async function askModel(
  { at, report }: Host,
  request: ModelRequest,
  handler: (request: ModelRequest) => AIMessage | Promise<AIMessage>,
): Promise<AIMessage> {
  const now = at(getEvents(request.state))
  const results = request.messages.filter((message) => message.getType() === 'tool').map(({ text }) => text)
  const { messages, shown } = now.addAhead(request.messages, { getInput, create: (text) => new HumanMessage(text) })
  const prompt = now.getPrompt([...results, ...shown])
  const names = request.tools.flatMap(({ name }) => (typeof name === 'string' ? [name] : []))
  checkNames(names, now.tools)
  const added = now.tools.map(toHostTool).map(({ inputSchema, ...tool }) => ({ ...tool, schema: inputSchema }))
  const tools = [...request.tools, ...added]
  const before = request.systemMessage.text === '' ? '' : '\n\n'
  report.sent({ prompt, messages: messages.length, tools: [...names, ...added.map(({ name }) => name)] })
  const reply = await handler({
    ...request,
    messages,
    systemMessage: request.systemMessage.concat(before + prompt.text),
    tools,
  })
  report.replied(describeReply(reply))
  await keepNeeds(now, reply)
  return reply
}

/**
 * Keeps in the reply what people are asked about its calls: once the graph is interrupted, the node that asks begins again,
 * perhaps in another process, and could not know what they have read.
 */
async function keepNeeds(now: HostView, reply: AIMessage): Promise<void> {
  const needs: Record<string, ApprovalNeed> = {}
  for (const { id = '', name, args } of reply.tool_calls ?? []) {
    const need = await now.findApprovalNeed({ id, name, arguments: args })
    if (need !== false) needs[id] = need
  }
  if (Object.keys(needs).length > 0) reply.response_metadata = { ...reply.response_metadata, [FIELD]: needs }
}

function findNeed({ messages }: Readonly<Record<string, unknown>>, callId: string): ApprovalNeed | undefined {
  const replies = ((messages ?? []) as readonly BaseMessage[]).toReversed()
  for (const { response_metadata: metadata } of replies) {
    const needs: unknown = metadata?.[FIELD]
    if (isObject(needs) && Object.hasOwn(needs, callId)) return needs[callId] as ApprovalNeed
  }
  return undefined
}

async function runTool(
  host: Host,
  request: ToolCallRequest,
  handler: (request: ToolCallRequest) => unknown,
): Promise<unknown> {
  const { toolCall, tool, state, runtime } = request
  const call: HostCall = { id: toolCall.id ?? '', name: toolCall.name, arguments: toolCall.args }
  if (tool !== undefined) return runOwn(host, call, () => handler(request))
  const now = host.at(getEvents(state))
  const asked = findNeed(state, call.id)
  const need = asked ?? (await now.findApprovalNeed(call))
  const denial = need === false ? undefined : askPerson(host, call, need)
  if (denial !== undefined) return toMessage(call, { text: denial, isError: true, images: [] })
  const result = await now.call(call, { signal: runtime.signal, isApproved: true, need: asked })
  const message = toMessage(call, result)
  return new Command({ update: { messages: [message], [FIELD]: result.events } })
}

/** Runs a tool of the agent itself. */
async function runOwn({ report }: Host, call: HostCall, run: () => unknown): Promise<unknown> {
  const started = performance.now()
  const result = await run()
  const [text, isError] = ToolMessage.isInstance(result) ? [result.text, result.status === 'error'] : ['', false]
  report.called(call, { text, isError, durationMs: Math.round(performance.now() - started) })
  return result
}

interface Decision {
  readonly type: string
  readonly message?: string
}

/** Interrupts the graph until a person has decided. Returns what the model reads if the call must not run. */
function askPerson({ report }: Host, call: HostCall, need: ApprovalNeed): string | undefined {
  const { name, arguments: args = {} } = call
  const description = typeof need === 'string' ? need : `The tool ${name} needs approval.`
  const request = {
    actionRequests: [{ name, args, description }],
    reviewConfigs: [{ actionName: name, allowedDecisions: ['approve', 'reject'] }],
  }
  let answer: { readonly decisions?: readonly Decision[] } | undefined
  try {
    answer = interrupt(request) as typeof answer
  } catch (error) {
    if (isGraphInterrupt(error)) {
      report.asked(call, need)
      report.finished('waiting')
    }
    throw error
  }
  const decision = answer?.decisions?.[0]
  report.started({ isResumed: true })
  report.answered(call, decision?.type === 'approve')
  return decision?.type === 'approve' ? undefined : describeDenial(decision?.message)
}

function toMessage({ id, name }: HostCall, result: Pick<HostResult, 'text' | 'isError' | 'images'>): ToolMessage {
  const { text, isError, images } = result
  const content =
    images.length === 0
      ? text
      : [
          { type: 'text', text },
          ...images.map(({ mimeType, data }) => ({
            type: 'image_url',
            image_url: { url: `data:${mimeType};base64,${data}` },
          })),
        ]
  return new ToolMessage({ content, name, tool_call_id: id, status: isError ? 'error' : 'success' })
}

function describeInput({ messages }: Readonly<Record<string, unknown>>): { readonly input?: string } {
  const last = (messages as ModelRequest['messages'] | undefined)?.at(-1)
  return last?.getType() === 'human' ? { input: last.text } : {}
}

function describeReply({ text, tool_calls: calls = [], usage_metadata: usage }: AIMessage) {
  const { cache_read: read, cache_creation: written } = usage?.input_token_details ?? {}
  const { reasoning } = usage?.output_token_details ?? {}
  return {
    text,
    calls: calls.map(({ id = '', name, args }) => ({ id, name, arguments: args })),
    usage: {
      inputTokens: usage?.input_tokens ?? 0,
      outputTokens: usage?.output_tokens ?? 0,
      cachedInputTokens: read ?? 0,
      cacheWriteTokens: written ?? 0,
      ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    },
  }
}
