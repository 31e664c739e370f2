import type { TokenCounter } from 'foldout'
import type { ProviderAdapter } from 'foldout/adapter'
import { anthropic } from 'foldout/anthropic'
import { openai } from 'foldout/openai'
import type { ModelStep } from '../../packages/foldout/src/testing/adapter-peer.ts'
import { ANTHROPIC_CACHE, OPENAI_CACHE, type CacheRules, type Piece } from './caches.ts'

type Body = Readonly<Record<string, unknown>>

/** An adapter, and how its provider reads and caches its requests. */
export interface ChatProvider {
  readonly name: string
  /** Whether tools are added at their place in the conversation. */
  readonly isNative: boolean
  readonly cache: CacheRules
  /** What the provider answers before the conversation begins. */
  readonly refusals: readonly ModelStep[]
  createAdapter(url: string): ProviderAdapter
  /** A request in the order in which the provider reads it: output format, tools, system text, conversation. */
  readPieces(body: Body, counter: TokenCounter): readonly Piece[]
}

const apiKey = 'no-secret'

/** OpenAI's own URL, answered by the mock: the adapter recognizes what OpenAI accepts by its URL. */
function toMock(url: string): typeof fetch {
  return (input, init) => {
    const asked = input instanceof Request ? input.url : input.toString()
    return fetch(asked.replace('https://api.openai.com', url), init)
  }
}

const OPENAI_CHAT: ChatProvider = {
  name: 'OpenAI Chat Completions',
  isNative: false,
  cache: OPENAI_CACHE,
  refusals: [],
  createAdapter: (url) => openai({ ...OPENAI_CHAT_OPTIONS, fetch: toMock(url), toolAdditions: 'plain' }),
  readPieces: ({ response_format: format, tools, messages }, counter) =>
    toPieces([format, ...toList(tools), ...toList(messages)], counter),
}

const OPENAI_CHAT_OPTIONS = {
  model: 'gpt-4.1',
  apiKey,
  baseURL: 'https://api.openai.com/v1',
  interface: 'chat',
} as const

const ANTHROPIC_PLAIN: ChatProvider = {
  name: 'Anthropic, end of the list',
  isNative: false,
  cache: ANTHROPIC_CACHE,
  refusals: [],
  createAdapter: (url) => anthropic({ model: 'claude-sonnet-5', apiKey, baseURL: url, toolAdditions: 'plain' }),
  readPieces: readMessagesBody,
}

/** Providers whose list grows, and the same with one constant tool. */
export const GROWING_PROVIDERS: readonly { readonly growing: ChatProvider; readonly through: ChatProvider }[] = [
  {
    growing: OPENAI_CHAT,
    through: {
      ...OPENAI_CHAT,
      name: `${OPENAI_CHAT.name}, through call_tool`,
      createAdapter: (url) => openai({ ...OPENAI_CHAT_OPTIONS, fetch: toMock(url), toolAdditions: 'through' }),
    },
  },
  {
    growing: ANTHROPIC_PLAIN,
    through: {
      ...ANTHROPIC_PLAIN,
      name: 'Anthropic, through call_tool',
      createAdapter: (url) => anthropic({ model: 'claude-sonnet-5', apiKey, baseURL: url, toolAdditions: 'through' }),
    },
  },
]

export const CHAT_PROVIDERS: readonly ChatProvider[] = [
  {
    name: 'OpenAI Responses, in place',
    isNative: true,
    cache: OPENAI_CACHE,
    refusals: [],
    createAdapter: (url) =>
      openai({ model: 'gpt-5', apiKey, baseURL: 'https://api.openai.com/v1', fetch: toMock(url) }),
    readPieces: ({ text, tools, instructions, input }, counter) =>
      toPieces([text, ...toList(tools), instructions, ...toList(input)], counter),
  },
  {
    name: 'Anthropic, in place',
    isNative: true,
    cache: ANTHROPIC_CACHE,
    refusals: [],
    createAdapter: (url) => anthropic({ model: 'claude-opus-5-5', apiKey, baseURL: url, toolAdditions: 'native' }),
    readPieces: readMessagesBody,
  },
  {
    name: 'Anthropic, by reference',
    isNative: true,
    cache: ANTHROPIC_CACHE,
    refusals: [{ refuses: 400, message: 'Unexpected value for the anthropic-beta header: inline-tools-2026-09-15' }],
    createAdapter: (url) => anthropic({ model: 'claude-opus-5-5', apiKey, baseURL: url, toolAdditions: 'native' }),
    readPieces: readMessagesBody,
  },
  OPENAI_CHAT,
  ANTHROPIC_PLAIN,
]

interface Block {
  readonly type?: string
  readonly name?: string
  readonly defer_loading?: boolean
  readonly tool?: { readonly type: string; readonly name?: string }
}

function readMessagesBody(
  { output_config: format, tools, system, messages }: Body,
  counter: TokenCounter,
): readonly Piece[] {
  const listed = toList(tools) as readonly Block[]
  // An unloaded tool is read where it is added, not where it is defined.
  const deferred = new Map(listed.flatMap((tool) => (tool.defer_loading ? [[tool.name, tool]] : [])))
  const said = (toList(messages) as readonly { readonly role: string; readonly content: unknown }[]).flatMap(
    ({ role, content }) =>
      toList(content).map((block) => {
        const { tool } = block as Block
        return { role, ...(block as Block), ...(deferred.has(tool?.name) ? { tool: deferred.get(tool?.name) } : {}) }
      }),
  )
  return toPieces([format, ...listed.filter((tool) => !tool.defer_loading), ...toList(system), ...said], counter)
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function toPieces(parts: readonly unknown[], counter: TokenCounter): readonly Piece[] {
  return parts
    .filter((part) => part !== undefined)
    .map((part) => {
      let isMarked = false
      const json = JSON.stringify(part, (key, value: unknown) => {
        if (key !== 'cache_control') return value
        isMarked = true
        return undefined
      })
      // Models read texts, not JSON strings.
      const text = json.replaceAll(String.raw`\n`, '\n').replaceAll(String.raw`\"`, '"')
      return { text, tokens: counter.count(text), isMarked }
    })
}
