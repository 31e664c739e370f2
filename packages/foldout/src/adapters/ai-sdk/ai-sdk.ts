import { isObject } from 'foldout-shared/values'
import type { LanguageModel, ToolSet } from 'ai'
import { checkNumber } from '../../core/check-number.ts'
import type { PromptCache } from '../../core/price/prompt-cache.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { extendPrefix } from '../anthropic/native.ts'
import { chatAdapter, toCallThrough } from '../chat.ts'
import type { ChatReply, ChatRequest, ProviderAdapter, RefusalMemory } from '../contract.ts'
import { getProviderQuirks, getRefusals, type Quirk } from '../quirks.ts'
import { withRetries } from '../retry.ts'
import { toToolParameters } from '../tool-schemas.ts'
import { refuseKind, type InputKind } from '../user-parts.ts'
import { ADDITION_BETAS, findAdditions, getAdditionStyle, mergeOptions, type Additions } from './additions.ts'
import { CACHE_MARK, isCachedByMarks } from './cache.ts'
import { createFeatures, hasTools, type SdkFeatures } from './features.ts'
import { forbidDownloads, refuseAddress, toModelMessages } from './messages.ts'
import { loadAi, toSdkSchema, type AiPackage } from './package.ts'
import { readReply } from './reply.ts'

type ProviderOptions = NonNullable<Parameters<AiPackage['streamText']>[0]['providerOptions']>

/**
 * The options of {@link aiSdk}.
 *
 * @example
 * ```ts
 * const options: AiSdkOptions = { model: google('gemini-3-pro'), maxRetries: 5 }
 * ```
 */
export interface AiSdkOptions {
  /**
   * A model of any AI SDK provider, or the name of a model behind the gateway. Settings such as the temperature belong
   * to the model: `wrapLanguageModel({ model, middleware: defaultSettingsMiddleware({ settings }) })`.
   */
  readonly model: LanguageModel
  /** The provider's name in OpenTelemetry. Default: derived from the model, such as `openai` for `openai.responses`. */
  readonly name?: string
  /** How often a failed request is retried. Default 3. */
  readonly maxRetries?: number
  /** The maximum number of tokens for input and output together. */
  readonly contextWindow?: number
  /** How the provider caches the beginning of requests. Default: what is known about the model. */
  readonly promptCache?: Partial<PromptCache>
  /**
   * Options that are sent with every request. For OpenAI's Responses API, `store` is false unless you set it: the
   * conversation is not kept there, and earlier turns are sent in full.
   */
  readonly providerOptions?: ProviderOptions
  /**
   * Whether to send a prompt's output schema to the provider, if the output is an object. Default true, until the
   * provider rejects a schema. The answer is checked either way.
   */
  readonly structuredOutput?: boolean
  /**
   * Whether to mark the parts that an Anthropic model should cache: the tools, the system text and the last two turns.
   * Default true. Other providers cache automatically, or according to `providerOptions`.
   */
  readonly cache?: boolean
  /**
   * Tools that the provider runs, such as `{ web_search: openai.tools.webSearch() }`. They are offered before the
   * prompt's own tools.
   */
  readonly providerTools?: ToolSet
  /**
   * How tools that are added during a conversation are sent. `native`: at their point in the conversation, so
   * everything before it stays cached. This works for models of `@ai-sdk/anthropic` (3.0.138, or 4.0 and later) and the
   * Responses models of `@ai-sdk/openai` (4.0 and later), until the endpoint rejects it. `plain`: at the end of the tool
   * list. `through`: in the text that adds them, and called through one constant tool. Default `auto`: `through` if the
   * model's cache makes that cheaper, or `plain`.
   */
  readonly toolAdditions?: 'auto' | 'native' | 'plain' | 'through'
  /**
   * The kinds of input that the model accepts besides text; other input is rejected before a run begins. Default:
   * images and files.
   */
  readonly input?: readonly InputKind[]
  /** Remembers what the provider has refused. Default: a memory that lives as long as the adapter. */
  readonly learned?: RefusalMemory
}

/**
 * Uses a model of the Vercel AI SDK. The SDK makes the requests; Foldout runs the tool loop. Requires the package `ai`
 * and the package of the model's provider.
 *
 * @example
 * ```ts
 * const adapter = aiSdk({ model: google('gemini-3-pro') })
 * const { text } = await runAgent(bound, { adapter, input: 'Where is my parcel?' })
 * ```
 */
export function aiSdk(options: AiSdkOptions): ProviderAdapter {
  const { model, contextWindow, input: kinds = ['image', 'file'] } = options
  checkNumber('maxRetries', options.maxRetries, { code: 'adapter-config' })
  const modelName = getModelName(model)
  const provider = getProvider(model)
  const name = options.name ?? getSystem(provider)
  const quirks = new Set(getProviderQuirks(provider))
  const settings: Settings = { ...options, name, quirks, hasMarks: (options.cache ?? true) && isCachedByMarks(model) }
  const features = createFeatures({
    structuredOutput: options.structuredOutput ?? true,
    hasFormatQuirk: quirks.has('format-without-tools'),
    additions: options.toolAdditions === 'native' ? getAdditionStyle(model) : undefined,
    refused: getRefusals(options.learned, provider, modelName),
  })
  return chatAdapter({
    name,
    model: modelName,
    contextWindow,
    promptCache: options.promptCache,
    get addsInPlace() {
      return features.addsInPlace
    },
    callThrough: toCallThrough(options.toolAdditions ?? 'auto'),
    refuseInput: (part) => refuseKind(part, { kinds, model: modelName }) ?? refuseAddress(part, model),
    complete: (request) =>
      features.send(request, async (using) => {
        const ai = await loadAi()
        return withRetries((emit, signal) => ask(ai, settings, { ...request, signal, emit }, using), {
          adapter: name,
          retries: options.maxRetries,
          signal: request.signal,
          emit: (event) => request.emit(event),
        })
      }),
  })
}

function getModelName(model: LanguageModel): string {
  if (typeof model === 'string') return model
  return model.modelId
}

/** Returns the provider's name in the AI SDK: `openai.responses`, or `openai` for the gateway's `openai/gpt-5`. */
function getProvider(model: LanguageModel): string {
  return typeof model === 'string' ? (model.split('/')[0] ?? '') : model.provider
}

/** Returns `openai` for `openai.responses`. */
function getSystem(provider: string): string {
  return provider.split('.')[0] ?? ''
}

interface Settings extends AiSdkOptions {
  readonly name: string
  readonly quirks: ReadonlySet<Quirk>
  /** Whether to mark the parts to cache. */
  readonly hasMarks: boolean
}

function ask(ai: AiPackage, settings: Settings, request: ChatRequest, using: SdkFeatures): Promise<ChatReply> {
  const { model, hasMarks, name, quirks } = settings
  const { system, messages, output, signal } = request
  // Another adapter may have the same name and store other content.
  const adapter = `ai-sdk:${name}`
  const additions = findAdditions(request, using.additions)
  const sent = toModelMessages(messages, {
    adapter,
    hasMarks,
    quirks,
    additions,
    start: getStart(settings, request, additions),
    keepsReasoning: isThinkingEnabled(settings),
    refusedReasoning: using.refusedReasoning,
    hasItemIds: using.hasItemIds,
  })
  using.sends(sent.reasoning)
  const result = ai.streamText({
    model,
    ...(system === '' ? {} : { system: hasMarks ? { role: 'system', content: system, ...CACHE_MARK } : system }),
    messages: sent.messages,
    // The only system messages here are those that add tools.
    allowSystemInMessages: true,
    tools: toToolSet(ai, settings, request, additions),
    ...(using.hasFormat && output ? { output: ai.Output.object({ schema: toSdkSchema(ai, output.jsonSchema) }) } : {}),
    ...getProviderOptions(settings, using, request),
    experimental_download: forbidDownloads,
    abortSignal: signal,
    maxRetries: 0,
    stopWhen: () => true,
    // By default, the SDK writes the error to the console; here it is thrown.
    onError: () => {},
  })
  return readReply(result, { adapter: name, nativeAdapter: adapter, prefix: sent.prefix, request })
}

/** Returns everything besides the messages that the reasoning of Anthropic models is bound to. */
function getStart({ model, providerTools }: Settings, request: ChatRequest, additions: Additions): string | undefined {
  if (!isCachedByMarks(model)) return undefined
  const { system, tools, addedTools } = request
  const listed = [...tools, ...[...addedTools.values()].filter(({ name }) => !additions.getToolOptions(name))]
  const definitions = listed.map(({ name, description, inputSchema }) => [name, description, inputSchema])
  return extendPrefix('', [system, definitions, Object.keys(providerTools ?? {})])
}

/**
 * Models with a thinking budget require that the last reply begins with thinking, and accept thinking from any
 * conversation.
 */
function isThinkingEnabled({ providerOptions }: Settings): boolean {
  const thinking = providerOptions?.['anthropic']?.['thinking']
  return isObject(thinking) && thinking['type'] === 'enabled'
}

/**
 * By default, these keep every conversation, and the package sends earlier turns as references to what was kept. That
 * fails for organizations that keep nothing.
 */
const STORING = /^(openai|azure|azure-openai)\.responses$/

// These providers request strict schemas by default: every field required, no others allowed. Few output schemas are
// like that, and OpenAI rejects the rest.
const STRICT_BY_DEFAULT = ['openai', 'azure', 'groq', 'openaiCompatible']

function getProviderOptions(
  { model, providerOptions = {} }: Settings,
  { hasFormat, additions }: SdkFeatures,
  request: ChatRequest,
): { readonly providerOptions?: ProviderOptions } {
  const options: Record<string, ProviderOptions[string]> = { ...providerOptions }
  if (STORING.test(getProvider(model)))
    for (const name of [getSystem(getProvider(model)), 'openai']) options[name] = { store: false, ...options[name] }
  if (hasFormat)
    for (const provider of STRICT_BY_DEFAULT) options[provider] = { strictJsonSchema: false, ...options[provider] }
  if (additions === 'anthropic' && hasTools(request)) {
    const { anthropicBeta: own, ...rest } = providerOptions['anthropic'] ?? {}
    // Sent from the first request on, even if it adds nothing yet: to the cache, all requests of a conversation should
    // look alike.
    options['anthropic'] = { ...rest, anthropicBeta: [...(Array.isArray(own) ? own : []), ...ADDITION_BETAS] }
  }
  return Object.keys(options).length === 0 ? {} : { providerOptions: options }
}

/** Returns the provider's tools, and the prompt's tools without `execute`, so their calls come back here. */
function toToolSet(
  ai: AiPackage,
  { hasMarks, providerTools, quirks }: Settings,
  { tools, addedTools }: ChatRequest,
  additions: Additions,
): ToolSet {
  const toEntry = ({ name, description, inputSchema }: AnyTool, isMarked: boolean): [string, ToolSet[string]] => {
    const schema = toSdkSchema(ai, toToolParameters(inputSchema, 'openai'))
    const options = mergeOptions(isMarked ? CACHE_MARK.providerOptions : undefined, additions.getToolOptions(name))
    const settings = {
      ...(Object.keys(options).length > 0 ? { providerOptions: options } : {}),
      ...(quirks.has('strict-tools') ? { strict: false } : {}),
    }
    return [name, ai.tool({ description, inputSchema: schema, ...settings })]
  }
  return {
    ...providerTools,
    ...Object.fromEntries([
      ...tools.map((tool, index) => toEntry(tool, hasMarks && index === tools.length - 1)),
      ...[...addedTools.values()].map((tool) => toEntry(tool, false)),
    ]),
  }
}
