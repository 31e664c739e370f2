import type { Anthropic } from '@anthropic-ai/sdk'
import { isPlainObject } from '../../core/json/json.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { ChatRequest } from '../chat.ts'
import type { AssistantMessage, ToolCall, ToolMessage } from '../contract.ts'

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

/** Turns of the user's side that end at a cache breakpoint. With tools and system text that makes the four there may be. */
const CACHED_TURNS = 2

export function wireConversation(request: ChatRequest, { inlineTools, cache }: WireOptions): WireConversation {
  const { system } = request
  const tools = request.tools.map(toolParam)
  if (cache) markLast(tools)
  const added = addedByMessage(request)
  if (!inlineTools) tools.push(...[...added.values()].flat().map(toolParam))
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...(system === '' ? {} : { system: [{ type: 'text', text: system, ...(cache ? BREAKPOINT : {}) }] }),
    messages: messageParams(request, inlineTools ? added : new Map(), cache),
  }
}

/** Whether the conversation has added tools. */
export function addsTools(request: ChatRequest): boolean {
  return addedByMessage(request).size > 0
}

/** The tools that each `tools` message really adds, in order. */
function addedByMessage({ tools, addedTools, messages }: ChatRequest): Map<number, readonly AnyTool[]> {
  const offered = new Set(tools.map(({ name }) => name))
  const byMessage = new Map<number, readonly AnyTool[]>()
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tools') continue
    const added = message.names.flatMap((name) => {
      const tool = addedTools.get(name)
      if (!tool || offered.has(name)) return []
      offered.add(name)
      return [tool]
    })
    if (added.length > 0) byMessage.set(index, added)
  }
  return byMessage
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

function messageParams(
  { messages }: ChatRequest,
  added: ReadonlyMap<number, readonly AnyTool[]>,
  cache: boolean,
): MessageParam[] {
  const turns: (UserTurn | { readonly content: ContentParam[] })[] = []
  let open: UserTurn | undefined
  const userTurn = (): UserTurn => {
    if (!open) turns.push((open = { results: [], texts: [], additions: [] }))
    return open
  }
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case 'user':
        userTurn().texts.push({ type: 'text', text: message.text })
        break
      case 'tool':
        userTurn().results.push({
          type: 'tool_result',
          tool_use_id: wireId(message.callId),
          content: resultContent(message),
          is_error: message.isError,
        })
        break
      case 'tools':
        for (const tool of added.get(index) ?? []) {
          userTurn().additions.push({
            type: 'tool_addition',
            tool: { type: 'tool_definition', definition: toolParam(tool) },
          })
        }
        break
      case 'assistant': {
        const content = assistantContent(message)
        // The interface takes no empty message; without it the turns around it are one.
        if (content.length === 0) break
        turns.push({ content })
        open = undefined
        break
      }
    }
  }
  const userTurns = turns.filter((turn) => 'results' in turn)
  if (cache) userTurns.slice(-CACHED_TURNS).forEach(markTurn)
  return turns.flatMap((turn): MessageParam[] =>
    'results' in turn ? userMessages(turn) : [{ role: 'assistant', content: turn.content }],
  )
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

/** Conversations that began with another provider have other identifiers than this interface takes. */
function wireId(id: string): string {
  return id.replace(/[^\w-]/g, '_')
}

/** The interface takes back nothing but objects; what else the model wrote is put in one, so that it sees its mistake. */
export function wireInput({ arguments: args, malformed }: ToolCall): Record<string, unknown> {
  return isPlainObject(args) ? args : { INVALID_JSON: malformed ?? JSON.stringify(args) }
}
