import type { LanguageModel, ToolSet } from 'ai'
import type { AnyTool } from '../../tools/tool.ts'
import { AdapterError } from '../adapter-error.ts'
import { chatAdapter, type ChatReply, type ChatRequest } from '../chat.ts'
import type { ProviderAdapter } from '../contract.ts'
import { isFormatRefused, isRefusedForGood } from '../failure.ts'
import { withRetries } from '../retry.ts'
import { toToolParameters } from '../tool-schemas.ts'
import { CACHE_MARK, isCachedByMarks } from './cache.ts'
import { toModelMessages } from './messages.ts'
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
   * A model of any AI SDK provider, or the name of one behind the gateway. Settings such as the temperature are the
   * model's: `wrapLanguageModel({ model, middleware: defaultSettingsMiddleware({ settings }) })`.
   */
  readonly model: LanguageModel
  /** The provider's name in OpenTelemetry. Default: from the model, `openai` for `openai.responses`. */
  readonly name?: string
  /** How often a failed request is sent again. Default 3. */
  readonly maxRetries?: number
  /** Tokens that input and output may have together. */
  readonly contextWindow?: number
  /** Passed on with every request. */
  readonly providerOptions?: ProviderOptions
  /**
   * Whether the provider is told a prompt's output schema, if that is an object. Default true, until the provider refuses a
   * schema. The answer is checked either way.
   */
  readonly structuredOutput?: boolean
  /**
   * Whether to mark what a model of Anthropic should cache: the tools, the system text and the last two turns. Default true.
   * Other providers cache by themselves, or as `providerOptions` say.
   */
  readonly cache?: boolean
}

/**
 * A model of the Vercel AI SDK. The SDK makes the requests; the tool loop is Foldout's. Needs the package `ai` and that of
 * the model's provider.
 *
 * @example
 * ```ts
 * const adapter = aiSdk({ model: google('gemini-3-pro') })
 * const { text } = await runAgent(bound, { adapter, input: 'Where is my parcel?' })
 * ```
 */
export function aiSdk(options: AiSdkOptions): ProviderAdapter {
  const { model, contextWindow, structuredOutput = true } = options
  const name = options.name ?? getProvider(model)
  const settings: Settings = { ...options, name, hasMarks: (options.cache ?? true) && isCachedByMarks(model) }
  const refusedOutputs = new WeakSet<object>()

  const send = async (request: ChatRequest, hasFormat: boolean): Promise<ChatReply> => {
    const ai = await loadAi()
    return withRetries((emit, signal) => ask(ai, settings, { ...request, signal, emit }, hasFormat), {
      adapter: name,
      retries: options.maxRetries,
      signal: request.signal,
      emit: (event) => request.emit(event),
    })
  }

  return chatAdapter({
    name,
    model: typeof model === 'string' ? model : model.modelId,
    contextWindow,
    async complete(request) {
      const { output } = request
      // Providers do not accept an array at the top of a schema.
      if (!structuredOutput || output?.container !== 'object' || refusedOutputs.has(output)) return send(request, false)
      try {
        return await send(request, true)
      } catch (error) {
        if (!isFormatRefusal(error)) throw error
      }
      const reply = await send(request, false)
      refusedOutputs.add(output)
      request.emit({ type: 'warning', message: FORMAT_WARNING })
      return reply
    },
  })
}

const FORMAT_WARNING =
  'The provider refused the output schema. From now on the shape of the answer is only requested in the prompt, and checked when it is read. Set structuredOutput: false to avoid the attempt.'

function isFormatRefusal(error: unknown): boolean {
  if (!(error instanceof AdapterError) || error.code !== 'adapter-refused') return false
  if (error.status !== 400 && error.status !== 422) return false
  return isFormatRefused(error.message) && !isRefusedForGood(error.message)
}

/** `openai` for `openai.responses`, and for the gateway's `openai/gpt-5`. */
function getProvider(model: LanguageModel): string {
  const [provider = ''] = typeof model === 'string' ? model.split('/') : model.provider.split('.')
  return provider
}

interface Settings extends AiSdkOptions {
  readonly name: string
  /** Whether to mark what should be cached. */
  readonly hasMarks: boolean
}

function ask(ai: AiPackage, settings: Settings, request: ChatRequest, hasFormat: boolean): Promise<ChatReply> {
  const { model, hasMarks, name } = settings
  const { system, messages, output, signal } = request
  // Another adapter may have the same name and store other content.
  const adapter = `ai-sdk:${name}`
  const result = ai.streamText({
    model,
    ...(system === '' ? {} : { system: hasMarks ? { role: 'system', content: system, ...CACHE_MARK } : system }),
    messages: toModelMessages(messages, { adapter, hasMarks }),
    tools: toToolSet(ai, request, hasMarks),
    ...(hasFormat && output ? { output: ai.Output.object({ schema: toSdkSchema(ai, output.jsonSchema) }) } : {}),
    ...getProviderOptions(settings, hasFormat),
    abortSignal: signal,
    maxRetries: 0,
    stopWhen: () => true,
    // The default writes the error to the console; here it is thrown.
    onError: () => {},
  })
  return readReply(result, { adapter: name, nativeAdapter: adapter, request })
}

// These request strict schemas by default: all fields required, no others allowed. Few output schemas are like that, and
// OpenAI refuses the others.
const STRICT_BY_DEFAULT = ['openai', 'azure', 'groq', 'openaiCompatible']

function getProviderOptions(
  { providerOptions }: Settings,
  hasFormat: boolean,
): { readonly providerOptions?: ProviderOptions } {
  if (!hasFormat) return providerOptions === undefined ? {} : { providerOptions }
  const loose = STRICT_BY_DEFAULT.map((provider) => [
    provider,
    { strictJsonSchema: false, ...providerOptions?.[provider] },
  ])
  return { providerOptions: { ...providerOptions, ...(Object.fromEntries(loose) as ProviderOptions) } }
}

/** The tools without `execute`, so that the calls come back to us. */
function toToolSet(ai: AiPackage, { tools, addedTools }: ChatRequest, hasMarks: boolean): ToolSet {
  const toEntry = ({ name, description, inputSchema }: AnyTool, isMarked: boolean): [string, ToolSet[string]] => {
    const schema = toSdkSchema(ai, toToolParameters(inputSchema, 'openai'))
    return [name, ai.tool({ description, inputSchema: schema, ...(isMarked ? CACHE_MARK : {}) })]
  }
  return Object.fromEntries([
    ...tools.map((tool, index) => toEntry(tool, hasMarks && index === tools.length - 1)),
    ...[...addedTools.values()].map((tool) => toEntry(tool, false)),
  ])
}
