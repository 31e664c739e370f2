import type { LanguageModel, ModelMessage } from 'ai'
import type { AnyTool } from '../../tools/tool.ts'
import type { ChatRequest } from '../contract.ts'
import { getAddedTools } from '../tool-calls.ts'
import { toToolParameters } from '../tool-schemas.ts'

/**
 * How a provider package of the AI SDK accepts tools that are added during a conversation: `anthropic` names them in a
 * system message at that point, `openai` defines them after a tool result.
 */
export type AdditionStyle = 'anthropic' | 'openai'

/**
 * Returns the style of a model's provider package, if it has one. Behind the gateway, the version of the package is
 * unknown, and a package under another name reads its options under that name.
 */
export function getAdditionStyle(model: LanguageModel): AdditionStyle | undefined {
  if (typeof model === 'string') return undefined
  if (/(^|\.)anthropic\./.test(model.provider)) return 'anthropic'
  // Packages of AI SDK 6 leave out the options.
  if (model.provider === 'openai.responses' && isOfVersion7(model)) return 'openai'
  return undefined
}

function isOfVersion7({ specificationVersion }: { readonly specificationVersion: string }): boolean {
  return specificationVersion !== 'v2' && specificationVersion !== 'v3'
}

/** The betas that Anthropic's package adds to requests that add tools. */
export const ADDITION_BETAS = ['mid-conversation-system-2026-04-07', 'mid-conversation-tool-changes-2026-07-01']

type ProviderOptions = NonNullable<ModelMessage['providerOptions']>

/** The tools that a request adds at a point in the conversation. All other tools are part of the tool list. */
export interface Additions {
  /**
   * Options for a tool that is added during the conversation. It stays in the list, because providers require that to
   * accept its calls.
   */
  getToolOptions(name: string): ProviderOptions | undefined
  /** Options for the last message before the tools are added, by the position of the `tools` message. */
  readonly afterResult: ReadonlyMap<number, ProviderOptions>
  /** Messages that add tools, by the position of the `tools` message. */
  readonly messages: ReadonlyMap<number, ModelMessage>
}

export const NO_ADDITIONS: Additions = { getToolOptions: () => undefined, afterResult: new Map(), messages: new Map() }

export function findAdditions(request: ChatRequest, style: AdditionStyle | undefined): Additions {
  if (style === undefined) return NO_ADDITIONS
  const added = getAddedTools(request)
  if (style === 'anthropic') return addByName(added)
  return addAfterResults(request, added)
}

type AddedTools = ReadonlyMap<number, readonly AnyTool[]>

function addByName(added: AddedTools): Additions {
  const names = new Set([...added.values()].flat().map(({ name }) => name))
  const messages = [...added].map(([at, tools]): readonly [number, ModelMessage] => {
    const toolChanges = tools.map(({ name }) => ({ type: 'tool_addition', toolName: name }))
    return [at, { role: 'system', content: '', providerOptions: { anthropic: { toolChanges } } }]
  })
  return {
    // The model does not see the tool before the conversation adds it.
    getToolOptions: (name) => {
      if (names.has(name)) return { anthropic: { deferLoading: true } }
      return undefined
    },
    afterResult: new Map(),
    messages: new Map(messages),
  }
}

/** A package that does not know these options leaves the tools in its tool list, where they also work. */
function addAfterResults({ messages }: ChatRequest, added: AddedTools): Additions {
  const afterResult = new Map<number, ProviderOptions>()
  const names = new Set<string>()
  for (const [at, tools] of added) {
    if (messages[at - 1]?.role !== 'tool') continue
    for (const { name } of tools) names.add(name)
    afterResult.set(at, { openai: { additionalTools: tools.map(toFunction) } } as ProviderOptions)
  }
  return {
    getToolOptions: (name) => {
      if (names.has(name)) return { openai: { omitFromRequestTools: true } }
      return undefined
    },
    afterResult,
    messages: new Map(),
  }
}

function toFunction({ name, description, inputSchema }: AnyTool): object {
  return { type: 'function', name, description, parameters: toToolParameters(inputSchema, 'openai'), strict: false }
}

/** Whether an endpoint says that it does not accept tools that are added during a conversation. */
export function isAdditionRefused(said: string): boolean {
  return /tool_addition|tool_reference|defer_loading|additional_tools|\bbetas?\b|\brole\b|system messages/i.test(said)
}

/** Merges the options of a message or tool from two sources. */
export function mergeOptions(one: ProviderOptions | undefined, other: ProviderOptions | undefined): ProviderOptions {
  const names = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})])
  return Object.fromEntries([...names].map((name) => [name, { ...one?.[name], ...other?.[name] }]))
}
