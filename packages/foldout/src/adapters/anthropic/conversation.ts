import type { Anthropic } from '@anthropic-ai/sdk'
import { isObject } from 'foldout-shared/values'
import type { AnyTool } from '../../tools/tool.ts'
import type { ChatRequest, AssistantMessage, Message, ToolCall, ToolMessage } from '../contract.ts'
import { getAddedTools, toAcceptedId } from '../tool-calls.ts'
import { toToolParameters } from '../tool-schemas.ts'
import { IMAGE_TYPES, toUserBlocks, type UserBlock } from './input.ts'
import { extendPrefix, isThinking, readNative } from './native.ts'
import type { Additions } from './request.ts'

type MessageParam = Anthropic.Beta.Messages.BetaMessageParam
type ContentParam = Anthropic.Beta.Messages.BetaContentBlockParam
type ToolParam = Anthropic.Beta.Messages.BetaTool
type AdditionParam =
  | Anthropic.Beta.Messages.BetaRequestToolAdditionBlock
  | Anthropic.Beta.Messages.BetaRequestToolRemovalBlock
type ResultParam = Anthropic.Beta.Messages.BetaToolResultBlockParam
type TextParam = Anthropic.Beta.Messages.BetaTextBlockParam
type ServerTool = Exclude<Anthropic.Beta.Messages.BetaToolUnion, ToolParam>
type CacheControl = Anthropic.Beta.Messages.BetaCacheControlEphemeral

/** How a conversation is converted for the Messages API. */
export interface WireOptions {
  readonly model: string
  /** Tools that the provider runs. */
  readonly serverTools: readonly ServerTool[]
  readonly additions: Additions
  /** The cache mark for parts that the provider should cache, or undefined if caching is off. */
  readonly cacheControl: CacheControl | undefined
  /** Whether thinking is sent back even if the conversation before it has changed. */
  readonly keepsThinking: boolean
  /** The prefixes of replies whose thinking the provider rejected. */
  readonly refusedThinking: ReadonlySet<string>
}

/** In the order in which the provider caches: the parts that change least come first. */
export interface WireParams {
  tools?: (ToolParam | ServerTool)[]
  system?: TextParam[]
  messages: MessageParam[]
}

export interface WireConversation {
  readonly params: WireParams
  /** Identifies everything that precedes the reply to this request. */
  readonly prefix: string
  /** The prefixes of the replies whose thinking is sent back. */
  readonly thinking: readonly string[]
  /** The container in which the provider's own tools ran, if the conversation has one. */
  readonly container: string | undefined
  /** The provider's id of the last reply, if it is known. */
  readonly previous: string | undefined
}

/** The API accepts no more cache breakpoints: after the tools, the system text and the last two user turns. */
const MAX_MARKS = 4

export function toWireConversation(request: ChatRequest, options: WireOptions): WireConversation {
  const { additions, cacheControl } = options
  const added = getAddedTools(request)
  // A tool may be removed and added again.
  const later = [...new Set([...added.values()].flat())].map(toToolParam)
  const tools = [...options.serverTools.map((tool) => ({ ...tool })), ...request.tools.map(toToolParam)]
  const initial = tools.length
  const { references, unnamed } = additions === 'result' ? placeReferences(request, added) : NO_REFERENCES
  tools.push(...later.filter(({ name }) => additions === 'plain' || unnamed.has(name)))
  // The API rejects text that is only whitespace.
  const system: TextParam[] = request.system.trim() === '' ? [] : [{ type: 'text', text: request.system }]
  const start = extendPrefix('', [tools, system])
  // The model does not see deferred tools before the conversation adds them.
  if (additions === 'reference' || additions === 'result')
    tools.push(...later.filter(({ name }) => !unnamed.has(name)).map((tool) => ({ ...tool, defer_loading: true })))
  const { turns, prefix, thinking } = createTurns(request, { added, references, start }, options)
  if (cacheControl) {
    const own = options.serverTools.filter((tool) => 'cache_control' in tool && tool.cache_control).length
    const [last, ...earlier] = turns.filter(isUserTurn).toReversed()
    // The most useful first, as many as the caller's own marks leave.
    const marks = [
      () => last && markTurn(last, cacheControl),
      () => markLast(system, cacheControl),
      () => markLast(tools.slice(0, initial), cacheControl),
      () => earlier[0] && markTurn(earlier[0], cacheControl),
    ]
    for (const mark of marks.slice(0, Math.max(0, MAX_MARKS - own))) mark()
  }
  return {
    params: {
      ...(tools.length > 0 && { tools }),
      ...(system.length > 0 && { system }),
      messages: turns.flatMap(toMessages),
    },
    prefix,
    thinking,
    container: findContainer(request.messages),
    previous: findPrevious(request.messages),
  }
}

function findPrevious(messages: readonly Message[]): string | undefined {
  const last = messages.findLast(({ role }) => role === 'assistant')
  return last?.role === 'assistant' ? readNative(last)?.id : undefined
}

function findContainer(messages: readonly Message[]): string | undefined {
  for (const message of messages.toReversed()) {
    const container = message.role === 'assistant' ? readNative(message)?.container : undefined
    if (container !== undefined) return container
  }
  return undefined
}

function toToolParam({ name, description, inputSchema }: AnyTool): ToolParam {
  return { name, description, input_schema: toToolParameters(inputSchema, 'anthropic') }
}

/** Everything that the model receives between two of its replies. */
interface UserTurn {
  readonly results: ResultParam[]
  readonly said: UserBlock[]
  readonly additions: AdditionParam[]
}

interface AssistantTurn {
  readonly content: ContentParam[]
}

function isUserTurn(turn: UserTurn | AssistantTurn): turn is UserTurn {
  return 'results' in turn
}

interface Turns {
  readonly turns: readonly (UserTurn | AssistantTurn)[]
  readonly prefix: string
  readonly thinking: readonly string[]
}

interface TurnParts {
  /** The tools that system messages add, by the position of the `tools` message. */
  readonly added: ReadonlyMap<number, readonly AnyTool[]>
  /** The tools that results name, by the position of the result. */
  readonly references: ReadonlyMap<number, readonly string[]>
  readonly start: string
}

function createTurns({ messages }: ChatRequest, { added, references, start }: TurnParts, options: WireOptions): Turns {
  const turns: (UserTurn | AssistantTurn)[] = []
  const thinking: string[] = []
  let prefix = start
  let open: UserTurn | undefined
  const getUserTurn = (): UserTurn => {
    if (!open) turns.push((open = { results: [], said: [], additions: [] }))
    return open
  }
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') {
      addToTurn(getUserTurn, message, {
        added: added.get(index) ?? [],
        named: references.get(index) ?? [],
        additions: options.additions,
      })
      continue
    }
    const before = open ? extendPrefix(prefix, open) : prefix
    const content = toAssistantContent(message, before, options)
    // The API does not accept an empty message. If one is left out, the turns around it become one.
    if (content.length === 0) continue
    if (content.some(isThinking)) thinking.push(before)
    prefix = extendPrefix(before, content)
    const last = turns.at(-1)
    // A paused reply continues in the next message.
    if (last && !isUserTurn(last)) for (const block of content) last.content.push(block)
    else turns.push({ content })
    open = undefined
  }
  return { turns, thinking, prefix: open ? extendPrefix(prefix, open) : prefix }
}

function addToTurn(
  getTurn: () => UserTurn,
  message: Exclude<Message, AssistantMessage>,
  {
    added,
    named,
    additions,
  }: { readonly added: readonly AnyTool[]; readonly named: readonly string[]; readonly additions: Additions },
): void {
  switch (message.role) {
    case 'user': {
      const { said } = getTurn()
      for (const block of toUserBlocks(message)) said.push(block)
      return
    }
    case 'tool':
      getTurn().results.push({
        type: 'tool_result',
        tool_use_id: toWireId(message.callId),
        ...toResultContent(message, named),
        is_error: message.isError,
      })
      return
    case 'tools':
      if (additions === 'plain' || additions === 'result') return
      for (const tool of added) getTurn().additions.push(toAdditionParam(tool, additions))
      for (const name of message.removed ?? [])
        getTurn().additions.push({ type: 'tool_removal', tool: { type: 'tool_reference', name } })
  }
}

function toAdditionParam(tool: AnyTool, additions: Additions): AdditionParam {
  if (additions === 'reference') return { type: 'tool_addition', tool: { type: 'tool_reference', name: tool.name } }
  return { type: 'tool_addition', tool: { type: 'tool_definition', definition: toToolParam(tool) } }
}

interface References {
  readonly references: ReadonlyMap<number, readonly string[]>
  /** The added tools that no result can name. */
  readonly unnamed: ReadonlySet<string>
}

const NO_REFERENCES: References = { references: new Map(), unnamed: new Set() }

/** The API accepts no more in one result. */
const MAX_REFERENCES = 5

/** Places the names of added tools in the results before them, last first. */
function placeReferences({ messages }: ChatRequest, added: ReadonlyMap<number, readonly AnyTool[]>): References {
  const references = new Map<number, readonly string[]>()
  const unnamed = new Set<string>()
  for (const [index, tools] of added) {
    const names = tools.map(({ name }) => name)
    for (let at = index - 1; names.length > 0; at--) {
      const message = messages[at]
      if (message === undefined || message.role === 'assistant') break
      if (message.role !== 'tool' || message.isError) continue
      const given = references.get(at) ?? []
      references.set(at, [...given, ...names.splice(0, MAX_REFERENCES - given.length)])
    }
    for (const name of names) unnamed.add(name)
  }
  return { references, unnamed }
}

/** The API rejects empty text, and a failed result without content. */
function toResultContent(
  { text, isError, images = [] }: ToolMessage,
  named: readonly string[],
): Pick<ResultParam, 'content'> {
  const references = named.map((name) => ({ type: 'tool_reference' as const, tool_name: name }))
  const pictures = images.flatMap(({ mimeType, data }) => {
    const type = IMAGE_TYPES.find((known) => known === mimeType)
    return type ? [{ type: 'image' as const, source: { type: 'base64' as const, media_type: type, data } }] : []
  })
  const shown = [...pictures, ...references]
  const said = text.trim() === '' && isError ? 'The tool failed and did not say why.' : text
  if (said.trim() === '') return shown.length === 0 ? {} : { content: shown }
  return { content: shown.length === 0 ? said : [{ type: 'text', text: said }, ...shown] }
}

function toMessages(turn: UserTurn | AssistantTurn): MessageParam[] {
  if (!isUserTurn(turn)) return [{ role: 'assistant', content: turn.content }]
  // The API requires that results come first, and that added tools come after the user's text.
  const said = [...turn.results, ...turn.said]
  const content = said.length === 0 ? [{ type: 'text' as const, text: EMPTY_MESSAGE }] : said
  return [
    { role: 'user', content },
    ...(turn.additions.length === 0 ? [] : [{ role: 'system' as const, content: turn.additions }]),
  ]
}

/** Replaces an empty user message, which the API rejects. Without a message, the roles would not alternate. */
const EMPTY_MESSAGE = '(The message is empty.)'

function markTurn({ results, said, additions }: UserTurn, cacheControl: CacheControl): void {
  if (additions.length > 0) markLast(additions, cacheControl)
  else if (said.length > 0) markLast(said, cacheControl)
  else markLast(results, cacheControl)
}

function markLast(blocks: readonly object[], cacheControl: CacheControl): void {
  const last = blocks.at(-1)
  if (last) Object.assign(last, { cache_control: cacheControl })
}

/** Converts a reply to be sent back. Its thinking is left out if the conversation before it has changed since. */
function toAssistantContent(message: AssistantMessage, prefix: string, options: WireOptions): ContentParam[] {
  const { text, toolCalls } = message
  const native = readNative(message)
  if (native) {
    const isBound = native.prefix === undefined || native.prefix === prefix || options.keepsThinking
    const isKept = isBound && !options.refusedThinking.has(prefix)
    // The API rejects a reply that ends with thinking, such as one that was cut off there.
    const end = native.blocks.findLastIndex((block) => !isThinking(block)) + 1
    const kept = native.blocks.slice(0, end).filter((block) => isKept || !isThinking(block))
    return kept.map((block) => (block.type === 'tool_use' ? { ...block, id: toWireId(block.id) } : block))
  }
  return [
    ...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]),
    ...toolCalls.map((call) => ({
      type: 'tool_use' as const,
      id: toWireId(call.id),
      name: call.name,
      input: toWireInput(call),
    })),
  ]
}

/** Conversations that started with another provider may have ids that this API does not accept. */
function toWireId(id: string): string {
  return id.length > MAX_ID_CHARACTERS ? toAcceptedId(id) : id.replace(/[^\w-]/g, '_')
}

const MAX_ID_CHARACTERS = 64

/** The API accepts only objects. Anything else the model wrote is wrapped in one, so the model sees its mistake. */
export function toWireInput({ arguments: args, malformed }: ToolCall): Record<string, unknown> {
  return isObject(args) ? args : { INVALID_JSON: malformed ?? JSON.stringify(args) }
}
