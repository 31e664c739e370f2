import type { LanguageModel, ToolSet } from 'ai'
import type { AnyTool } from '../../tools/tool.ts'
import { chatAdapter, type ChatReply, type ChatRequest } from '../chat.ts'
import type { ProviderAdapter } from '../contract.ts'
import { withRetries } from '../retry.ts'
import { toToolParameters } from '../tool-schemas.ts'
import { modelMessages } from './messages.ts'
import { loadAi, schemaFor, type AiPackage } from './package.ts'
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
  /** The provider's name as OpenTelemetry has it. Default: the model's own, `openai` of `openai.responses`. */
  readonly name?: string
  /** How often a failed request is sent again. Default 3. */
  readonly maxRetries?: number
  /** Tokens that input and output may have together. */
  readonly contextWindow?: number
  /** Passed on with every request. */
  readonly providerOptions?: ProviderOptions
  /**
   * Whether the provider is told a prompt's output schema, where that is an object. Default true; the answer is checked
   * either way.
   */
  readonly structuredOutput?: boolean
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
  const { model, contextWindow } = options
  const name = options.name ?? getProvider(model)
  return chatAdapter({
    name,
    model: typeof model === 'string' ? model : model.modelId,
    contextWindow,
    async complete(request) {
      const ai = await loadAi()
      return withRetries((emit, signal) => ask(ai, { ...options, name }, { ...request, signal, emit }), {
        adapter: name,
        retries: options.maxRetries,
        signal: request.signal,
        emit: (event) => request.emit(event),
      })
    },
  })
}

/** `openai` of `openai.responses`, and of the gateway's `openai/gpt-5`. */
function getProvider(model: LanguageModel): string {
  const [provider = ''] = typeof model === 'string' ? model.split('/') : model.provider.split('.')
  return provider
}

function ask(
  ai: AiPackage,
  options: AiSdkOptions & { readonly name: string },
  request: ChatRequest,
): Promise<ChatReply> {
  const { model, providerOptions, structuredOutput = true } = options
  const { system, messages, output, signal } = request
  // Another adapter may have the same name and keep something else.
  const adapter = `ai-sdk:${options.name}`
  const result = ai.streamText({
    model,
    ...(system === '' ? {} : { system }),
    messages: modelMessages(messages, adapter),
    tools: toolSet(ai, [...request.tools, ...request.addedTools.values()]),
    // Providers do not take a list at the top of a schema.
    ...(structuredOutput && output?.container === 'object'
      ? { output: ai.Output.object({ schema: schemaFor(ai, output.jsonSchema) }) }
      : {}),
    ...(providerOptions === undefined ? {} : { providerOptions }),
    abortSignal: signal,
    maxRetries: 0,
    stopWhen: () => true,
    // The default writes the error to the console; here it is thrown.
    onError: () => {},
  })
  return readReply(result, { adapter: options.name, nativeAdapter: adapter, request })
}

/** The tools without `execute`, so that the calls come back to us. */
function toolSet(ai: AiPackage, tools: readonly AnyTool[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      ai.tool({ description, inputSchema: schemaFor(ai, toToolParameters(inputSchema, 'openai')) }),
    ]),
  )
}
