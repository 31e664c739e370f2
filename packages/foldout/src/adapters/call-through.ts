import { describeSignature } from '../catalog/signatures/signature.ts'
import { isObject } from 'foldout-shared/values'
import type { PromptCache } from '../core/price/prompt-cache.ts'
import { fromJsonSchema } from '../core/schema/schema.ts'
import { estimatedTokens } from '../core/tokens/tokens.ts'
import { fail } from '../tools/result.ts'
import { toolTokens } from '../tools/definition.ts'
import { defineTool, TOOL_NAME_PATTERN, type AnyTool } from '../tools/tool.ts'
import type { AssistantMessage, ChatRequest, Evaluation, Message, ToolCall } from './contract.ts'
import { getAddedTools, readToolCall } from './tool-calls.ts'

export const CALL_TOOL = 'call_tool'

/** The tool through which a model calls tools that were added, so that the list of tools never changes. */
const callTool: AnyTool = defineTool({
  name: CALL_TOOL,
  description: 'Call a tool that is not in your tool list, but whose signature this conversation shows.',
  params: fromJsonSchema<{ readonly name: string; readonly arguments?: object }>({
    type: 'object',
    properties: {
      name: { type: 'string', description: "The tool's name" },
      arguments: { type: 'object', description: 'Its arguments, as in its signature' },
    },
    required: ['name'],
  }),
  execute: () => fail(`Say in 'name' which tool to call.`),
})

type Sent = Pick<ChatRequest, 'tools' | 'addedTools' | 'messages'>

/** How added tools are called. */
export interface CallWay {
  toSent(request: Sent): Sent
  /** Turns a reply of the model into calls of the tools that it means. */
  toOwn(reply: AssistantMessage): AssistantMessage
}

/** Added tools are offered by the provider, each under its own name. */
const DIRECT: CallWay = { toSent: (request) => request, toOwn: (reply) => reply }

/** Added tools are defined in the text of the result that added them, and called through one constant tool. */
export const THROUGH: CallWay = {
  toSent(request) {
    const { tools, messages } = request
    const listed = new Set(tools.map(({ name }) => name))
    const added = getAddedTools(request)
    const sent: Message[] = []
    for (const [index, message] of messages.entries()) {
      if (message.role === 'assistant') sent.push(wrapCalls(message, listed))
      else if (message.role !== 'tools') sent.push(message)
      else addText(sent, describeTools(added.get(index) ?? [], message.removed ?? []))
    }
    return { tools: [...tools, callTool], addedTools: new Map(), messages: sent }
  },
  toOwn: (reply) => replaceCalls(reply, unwrap),
}

/** Chooses a way for a conversation, from what does not change in it. */
export function chooseWay(
  callThrough: 'always' | 'auto' | 'never',
  start: Pick<Evaluation, 'system' | 'tools' | 'mayAddTools'>,
  cache: PromptCache | undefined,
): CallWay {
  const isTaken = start.tools.some(({ name }) => name === CALL_TOOL)
  if (callThrough === 'never' || isTaken) return DIRECT
  if (callThrough === 'always') return THROUGH
  return start.mayAddTools === true && isThroughCheaper(start, cache) ? THROUGH : DIRECT
}

/**
 * Whether one constant tool costs less than a list that grows. A list that grows loses what the provider has cached, once
 * for each opening. The constant tool is read with every request, and each call through it is a little longer. Below the
 * cache's minimum there is nothing to lose.
 */
export function isThroughCheaper(
  { system, tools }: Pick<ChatRequest, 'system' | 'tools'>,
  cache: PromptCache | undefined,
): boolean {
  if (cache === undefined) return false
  const sizes = tools.map((tool) => toolTokens(tool, estimatedTokens))
  const prompt = sizes.reduce((sum, size) => sum + size, estimatedTokens.count(system))
  if (prompt < cache.minimum) return false
  const own = toolTokens(callTool, estimatedTokens)
  const constant = own * (cache.write + cache.read * USUAL_REQUESTS)
  return prompt * (cache.write - cache.read) > constant + CALL_TOKENS * USUAL_CALLS * OUTPUT_PRICE
}

/** What the estimate assumes: a conversation of ten requests with one opening, whose tools are called four times. */
const USUAL_REQUESTS = 10
const USUAL_CALLS = 4
/** The tokens of a call's additional fields, and the price of output. */
const CALL_TOKENS = 12
const OUTPUT_PRICE = 5

function describeTools(added: readonly AnyTool[], removed: readonly string[]): string {
  const lines = removed.length === 0 ? [] : [`No longer callable: ${removed.join(', ')}.`]
  if (added.length > 0) lines.push(`Call with ${CALL_TOOL}:`, ...added.map(describeTool))
  return lines.join('\n')
}

/** The longest signature, in tokens. A tool whose signature would leave something out is shown with its JSON Schema. */
const MAX_SIGNATURE = 600

function describeTool({ name, description, inputSchema }: AnyTool): string {
  const { text, whole } = describeSignature(
    { name, inputSchema, outputSchema: undefined },
    { maxTokens: MAX_SIGNATURE },
  )
  const call = whole ? text : `${name} ${JSON.stringify(inputSchema)}`
  return description.trim() === '' ? call : `${call} — ${description.trim()}`
}

/** Adds a text to what the model was told last, or as a message of its own after a reply. */
function addText(messages: Message[], text: string): void {
  const last = messages.at(-1)
  if (text === '') return
  if (last?.role !== 'tool' && last?.role !== 'user') {
    messages.push({ role: 'user', text })
    return
  }
  const whole = last.text === '' ? text : `${last.text}\n\n${text}`
  const parts = last.role === 'user' && last.parts ? { parts: [...last.parts, { type: 'text' as const, text }] } : {}
  messages[messages.length - 1] = { ...last, text: whole, ...parts }
}

function wrapCalls(message: AssistantMessage, listed: ReadonlySet<string>): AssistantMessage {
  return replaceCalls(message, (call) => {
    const { name, arguments: args, malformed } = call
    if (listed.has(name) || call.writtenName !== undefined || malformed !== undefined) return call
    return { ...call, name: CALL_TOOL, arguments: { name, arguments: args ?? {} } }
  })
}

/** Reads which tool a call means. Models also write the arguments as text, or beside the name. */
function unwrap(call: ToolCall): ToolCall {
  const { arguments: given, malformed } = call
  if (call.name !== CALL_TOOL || malformed !== undefined || !isObject(given)) return call
  const { name, arguments: nested, ...beside } = given
  if (typeof name !== 'string' || !TOOL_NAME_PATTERN.test(name)) return call
  if (typeof nested === 'string') return readToolCall({ id: call.id, name, text: nested })
  return { ...call, name, arguments: nested ?? beside }
}

function replaceCalls(message: AssistantMessage, replace: (call: ToolCall) => ToolCall): AssistantMessage {
  const toolCalls = message.toolCalls.map(replace)
  return toolCalls.every((call, at) => call === message.toolCalls[at]) ? message : { ...message, toolCalls }
}
