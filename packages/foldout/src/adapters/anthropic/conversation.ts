import type { Anthropic } from '@anthropic-ai/sdk'
import { isPlainObject } from '../../core/json/json.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { ChatRequest } from '../chat.ts'
import type { AssistantMessage, Message, ToolCall, ToolMessage } from '../contract.ts'
import { getAddedTools } from '../tool-calls.ts'

type MessageParam = Anthropic.Beta.Messages.BetaMessageParam
type ContentParam = Anthropic.Beta.Messages.BetaContentBlockParam
type ToolParam = Anthropic.Beta.Messages.BetaTool
type AdditionParam = Anthropic.Beta.Messages.BetaRequestToolAdditionBlock
type ResultParam = Anthropic.Beta.Messages.BetaToolResultBlockParam
type TextParam = Anthropic.Beta.Messages.BetaTextBlockParam

export const ADAPTER_NAME = 'anthropic'

/** How a conversation is written down for the Messages interface. */
export interface WireOptions {
  /** Whether added tools are defined where the conversation added them, or else at the end of the tool list. */
  readonly inlineTools: boolean
  readonly cache: boolean
}

/** In the order in which the provider caches: what comes first stays the same longest. */
export interface WireConversation {
  tools?: ToolParam[]
  system?: TextParam[]
  messages: MessageParam[]
}

const BREAKPOINT = { cache_control: { type: 'ephemeral' as const } }

/** User turns that end at a cache breakpoint. With tools and system text that makes four, the most there can be. */
const CACHED_TURNS = 2

export function wireConversation(request: ChatRequest, { inlineTools, cache }: WireOptions): WireConversation {
  const { system } = request
  const tools = request.tools.map(toolParam)
  if (cache) markLast(tools)
  const added = getAddedTools(request)
  if (!inlineTools) tools.push(...[...added.values()].flat().map(toolParam))
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...(system === '' ? {} : { system: [{ type: 'text', text: system, ...(cache ? BREAKPOINT : {}) }] }),
    messages: messageParams(request, inlineTools ? added : new Map(), cache),
  }
}

function toolParam({ name, description, inputSchema }: AnyTool): ToolParam {
  return { name, description, input_schema: { ...inputSchema, type: 'object' } }
}

/** What is said to the model between two of its replies. */
interface UserTurn {
  readonly results: ResultParam[]
  readonly texts: TextParam[]
  readonly additions: AdditionParam[]
}

interface AssistantTurn {
  readonly content: ContentParam[]
}

function messageParams(
  { messages }: ChatRequest,
  added: ReadonlyMap<number, readonly AnyTool[]>,
  cache: boolean,
): MessageParam[] {
  const turns: (UserTurn | AssistantTurn)[] = []
  let open: UserTurn | undefined
  const getUserTurn = (): UserTurn => {
    if (!open) turns.push((open = { results: [], texts: [], additions: [] }))
    return open
  }
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') {
      addToTurn(getUserTurn, message, added.get(index) ?? [])
      continue
    }
    const content = assistantContent(message)
    // The interface does not take an empty message; without it the turns around it become one.
    if (content.length === 0) continue
    turns.push({ content })
    open = undefined
  }
  const userTurns = turns.filter((turn) => 'results' in turn)
  if (cache) userTurns.slice(-CACHED_TURNS).forEach(markTurn)
  return turns.flatMap((turn): MessageParam[] =>
    'results' in turn ? userMessages(turn) : [{ role: 'assistant', content: turn.content }],
  )
}

function addToTurn(
  getTurn: () => UserTurn,
  message: Exclude<Message, AssistantMessage>,
  added: readonly AnyTool[],
): void {
  switch (message.role) {
    case 'user':
      getTurn().texts.push({ type: 'text', text: message.text })
      return
    case 'tool':
      getTurn().results.push({
        type: 'tool_result',
        tool_use_id: wireId(message.callId),
        content: resultContent(message),
        is_error: message.isError,
      })
      return
    case 'tools':
      for (const tool of added) {
        getTurn().additions.push({
          type: 'tool_addition',
          tool: { type: 'tool_definition', definition: toolParam(tool) },
        })
      }
  }
}

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const

function resultContent({ text, images = [] }: ToolMessage): NonNullable<ResultParam['content']> {
  const shown = images.flatMap(({ mimeType, data }) => {
    const type = IMAGE_TYPES.find((known) => known === mimeType)
    return type ? [{ type: 'image' as const, source: { type: 'base64' as const, media_type: type, data } }] : []
  })
  return shown.length === 0 ? text : [{ type: 'text', text }, ...shown]
}

/** Results must come first and added tools after all that the user says, or the interface refuses the request. */
function userMessages({ results, texts, additions }: UserTurn): MessageParam[] {
  const content = [...results, ...texts]
  return [
    ...(content.length === 0 ? [] : [{ role: 'user' as const, content }]),
    ...(additions.length === 0 ? [] : [{ role: 'system' as const, content: additions }]),
  ]
}

function markTurn({ results, texts, additions }: UserTurn): void {
  if (additions.length > 0) markLast(additions)
  else if (texts.length > 0) markLast(texts)
  else markLast(results)
}

function markLast(blocks: object[]): void {
  const last = blocks.at(-1)
  if (last) Object.assign(last, BREAKPOINT)
}

function assistantContent(message: AssistantMessage): ContentParam[] {
  const { native, text, toolCalls } = message
  // The content is what this adapter wrote down of a reply.
  if (native?.adapter === ADAPTER_NAME) return [...(native.content as unknown as ContentParam[])]
  return [
    ...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]),
    ...toolCalls.map((call) => ({
      type: 'tool_use' as const,
      id: wireId(call.id),
      name: call.name,
      input: wireInput(call),
    })),
  ]
}

/** Conversations that began with another provider may have ids that this interface does not take. */
function wireId(id: string): string {
  return id.replace(/[^\w-]/g, '_')
}

/** The interface takes only objects back; anything else the model wrote is put in one, so that it sees its mistake. */
export function wireInput({ arguments: args, malformed }: ToolCall): Record<string, unknown> {
  return isPlainObject(args) ? args : { INVALID_JSON: malformed ?? JSON.stringify(args) }
}
