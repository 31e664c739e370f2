import type { AnyTool } from '../tools/tool.ts'
import {
  type ChatRequest,
  type ChatReply,
  NO_USAGE,
  addUsage,
  type Compaction,
  type CompactionRequest,
  type MediaPart,
  type Message,
  type ModelEvent,
  type ProviderAdapter,
} from './contract.ts'
import { dropUndefined } from 'foldout-shared/values'
import { untilAborted } from '../core/abort.ts'
import { checkNumber } from '../core/check-number.ts'
import { checkPromptCache, type PromptCache } from '../core/price/prompt-cache.ts'
import { getPromptCache } from './cache/known-caches.ts'
import { CALL_TOOL, chooseWay, THROUGH, type CallWay } from './call-through.ts'
import { MAX_PAUSES } from './limits.ts'
import { readReply } from './read-reply.ts'
import { listOffered } from './tool-calls.ts'
import { toSentTool, withOwnKeys, withSentKeys } from './tool-keys.ts'

/**
 * A stateless chat API.
 *
 * @example
 * ```ts
 * const model: ChatModel = { name: 'acme', model: 'acme-1', complete: (request) => askAcme(request) }
 * ```
 */
export interface ChatModel {
  readonly name: string
  readonly model: string
  readonly contextWindow?: number | undefined
  /** How the provider caches the beginning of requests. Default: what is known about the model, by its name. */
  readonly promptCache?: Partial<PromptCache> | undefined
  /** Whether replies have reasoning that is lost if the conversation before it changes. Default false. */
  readonly bindsReasoning?: boolean
  /** Whether the API takes `removed` of `tools` messages. Default false. */
  readonly removesTools?: boolean
  /** Whether the API takes added tools in a way that changes nothing that was already sent. Default false. */
  readonly addsInPlace?: boolean
  /**
   * Whether added tools are called through one constant tool, `call_tool`, and defined in the text that adds them, so the
   * API never receives another list of tools. `auto`: if the model's cache makes that cheaper. Default `never`.
   */
  readonly callThrough?: 'always' | 'auto' | 'never'
  /** Compacts a conversation on demand, if the provider can. */
  compact?(request: CompactionRequest): Promise<Compaction>
  /**
   * Says why this model does not accept an image or a file; undefined if it does. Without this method, the model
   * accepts only text.
   */
  refuseInput?(part: MediaPart): string | undefined
  complete(request: ChatRequest): Promise<ChatReply>
}

/**
 * Creates an adapter for a stateless chat API. It runs the tool loop itself, so tools can be added at any time.
 *
 * @example
 * ```ts
 * const adapter = chatAdapter({
 *   name: 'acme',
 *   model: 'acme-1',
 *   complete: (request) =>
 *     withRetries((emit, signal) => askAcme(request, emit, signal), {
 *       adapter: 'acme',
 *       signal: request.signal,
 *       emit: (event) => request.emit(event),
 *     }),
 * })
 * ```
 */
export function chatAdapter(chat: ChatModel): ProviderAdapter {
  checkNumber('contextWindow', chat.contextWindow, { code: 'adapter-config', least: 1 })
  checkPromptCache('promptCache', chat.promptCache, 'adapter-config')
  const promptCache = getPromptCache(chat.model, chat.promptCache)
  const { callThrough = 'never' } = chat
  return {
    name: chat.name,
    model: chat.model,
    supportsDynamicTools: true,
    get addsInPlace() {
      return chat.addsInPlace === true || callThrough === 'always'
    },
    ...dropUndefined({ contextWindow: chat.contextWindow, promptCache }),
    ...(chat.compact !== undefined && {
      compact: (request: CompactionRequest) => compact(chat, request, chooseWay(callThrough, request, promptCache)),
    }),
    get bindsReasoning() {
      return chat.bindsReasoning ?? false
    },
    get removesTools() {
      return chat.removesTools ?? false
    },
    ...(chat.refuseInput !== undefined && { refuseInput: (part: MediaPart) => chat.refuseInput?.(part) }),
    async evaluate({ messages, beforeRequest, callTools, record, emit, ...start }) {
      const { system, tools, addedTools, findToolGroup, output, signal } = start
      const way = chooseWay(callThrough, start, promptCache)
      const conversation = [...messages]
      const added = new Map(addedTools)
      const byName = new Map([...tools.map((tool) => [tool.name, tool] as const), ...addedTools])
      const keep = async (message: Message): Promise<void> => {
        conversation.push(message)
        await record(message)
      }
      let usage = NO_USAGE
      // The text of the earlier parts of a paused reply.
      let said = ''
      let pauses = 0
      const watch = (event: ModelEvent): void => {
        if (event.type === 'reply/lost') usage = addUsage(usage, event.usage)
        // These parts are no arguments of the tool that is called.
        if (event.type === 'call/delta' && event.name === CALL_TOOL && way === THROUGH) return
        emit(event)
      }
      let offered = listOffered({ tools, addedTools, messages })
      for (;;) {
        await beforeRequest()
        emit({ type: 'request/sent', messages: conversation.length, tools: offered })
        const sent = toSent(way, { tools, addedTools: added, messages: conversation }, byName)
        const request = { system, ...sent, ...dropUndefined({ findToolGroup }), output, signal, emit: watch }
        // A model that ignores its signal must not hold up a cancelled run.
        const given = await untilAborted(signal, () => chat.complete(request))
        const reply = readReply(given, { adapter: chat.name, conversation })
        usage = addUsage(usage, reply.usage)
        const message = withOwnKeys(way.toOwn(reply.message), byName)
        emit({ type: 'reply/received', message, usage: reply.usage })
        await keep(message)
        if (message.toolCalls.length === 0) {
          said += message.text
          if (reply.isPaused !== true || ++pauses > MAX_PAUSES) return { type: 'final', text: said, usage }
          continue
        }
        said = ''
        pauses = 0
        const outcome = await callTools(message.toolCalls)
        for (const result of outcome.results) await keep(result)
        if (outcome.type === 'halt') return { type: 'halted', usage }
        if (outcome.added.length > 0) {
          const names = outcome.added.map(({ name }) => name)
          for (const tool of outcome.added) {
            byName.set(tool.name, tool)
            added.set(tool.name, tool)
          }
          // A new list, because listeners have received the previous one.
          offered = [...offered, ...names]
          await keep({ role: 'tools', names })
        }
      }
    },
  }
}

/** Translates an adapter's option for added tools, for APIs that take them only at the end of the list. */
export function toCallThrough(toolAdditions: string): NonNullable<ChatModel['callThrough']> {
  if (toolAdditions === 'through') return 'always'
  return toolAdditions === 'auto' ? 'auto' : 'never'
}

/** Returns tools and messages in the form in which the provider gets them. */
function toSent(
  way: CallWay,
  request: Pick<ChatRequest, 'tools' | 'addedTools' | 'messages'>,
  byName: ReadonlyMap<string, AnyTool>,
): Pick<ChatRequest, 'tools' | 'addedTools' | 'messages'> {
  const { tools, addedTools, messages } = way.toSent(request)
  return {
    tools: tools.map(toSentTool),
    addedTools: new Map([...addedTools].map(([name, tool]) => [name, toSentTool(tool)])),
    messages: withSentKeys(messages, byName),
  }
}

/** Compacts a conversation in the form in which {@link chatAdapter} sends it, so that the provider finds it in its cache. */
async function compact(chat: ChatModel, request: CompactionRequest, way: CallWay): Promise<Compaction> {
  const { tools, addedTools, messages, signal } = request
  const byName = new Map([...tools.map((tool) => [tool.name, tool] as const), ...addedTools])
  const sent = toSent(way, { tools, addedTools, messages: [...messages] }, byName)
  const given = await untilAborted(signal, async () => chat.compact?.({ ...request, ...sent }))
  if (!given) throw new Error('This model cannot compact a conversation.')
  return given
}
