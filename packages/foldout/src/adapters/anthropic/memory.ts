import type { AdapterError } from '../adapter-error.ts'
import type { ChatRequest } from '../contract.ts'
import { getHost, getRefusals } from '../quirks.ts'
import { isSince, readVersion, takesReferencesOnly } from './model-version.ts'
import type { AnthropicOptions } from './options.ts'
import type { WireOptions } from './conversation.ts'
import {
  describeAdditionsRefused,
  describeFormatRefused,
  getAnswer,
  isLimitOfModel,
  refuseThinking,
} from './refusals.ts'
import type { Additions, Features } from './request.ts'

/** The features that were left out of a request after it was rejected. */
export interface Loss {
  readonly before: Features
  readonly after: Features
  readonly refusal: AdapterError
}

/** What an adapter has learned about its endpoint, so it does not repeat rejected features. */
export interface Memory {
  readonly additions: Additions
  readonly maxTokens: number
  readonly hasUpdates: boolean
  readonly hasDiagnostics: boolean
  /** Outputs whose schema was rejected. */
  readonly refusedOutputs: WeakSet<object>
  readonly wiring: Omit<WireOptions, 'model' | 'additions'>
  /** Remembers the features that were left out of a successful request, and emits a warning if it matters. */
  keep(request: ChatRequest, loss: Loss): void
  refuseThinking(prefixes: readonly string[]): void
}

export function createMemory(options: AnthropicOptions): Memory {
  const { cache = true, serverTools = [], parameters } = options
  const refusedOutputs = new WeakSet<object>()
  const refusedThinking = new Set<string>()
  const refused = getRefusals(options.learned, getHost(getAddress(options)), options.model)
  let additions = getFirstAdditions(options)
  while (additions !== 'plain' && refused.has(`${additions}-additions`)) additions = getPlainer(additions)
  let maxTokens = options.maxTokens ?? getDefaultMaxTokens(options.model)
  let hasUpdates = wantsUpdates(options) && !refused.has('updates')
  let hasDiagnostics = options.cacheDiagnostics === true && !refused.has('diagnostics')
  return {
    get additions() {
      return additions
    },
    get maxTokens() {
      return maxTokens
    },
    get hasUpdates() {
      return hasUpdates
    },
    get hasDiagnostics() {
      return hasDiagnostics
    },
    refusedOutputs,
    wiring: {
      serverTools,
      cacheControl: getCacheControl(cache),
      // Models with a thinking budget require that the last reply begins with thinking, and accept thinking from any
      // conversation.
      keepsThinking: parameters?.thinking?.type === 'enabled',
      refusedThinking,
    },
    keep(request, { before, after, refusal }) {
      if (before.format && !after.format && request.output) {
        refusedOutputs.add(request.output)
        request.emit({ type: 'warning', message: describeFormatRefused(refusal) })
      }
      if (after.additions !== before.additions) {
        additions = after.additions
        for (let from = before.additions; from !== additions; from = getPlainer(from)) refused.add(`${from}-additions`)
      }
      if (before.hasUpdates && !after.hasUpdates) refused.add('updates')
      if (before.hasDiagnostics && !after.hasDiagnostics) refused.add('diagnostics')
      hasDiagnostics &&= after.hasDiagnostics
      hasUpdates &&= after.hasUpdates
      if (after.additions === 'plain' && before.additions !== 'plain')
        request.emit({ type: 'warning', message: describeAdditionsRefused(refusal) })
      if (after.maxTokens < before.maxTokens && isLimitOfModel(getAnswer(refusal))) maxTokens = after.maxTokens
    },
    refuseThinking: (prefixes) => refuseThinking(refusedThinking, prefixes),
  }
}

/**
 * Anthropic's own addresses, and those of the services of AWS, Google Cloud and Azure that offer its API. On a machine
 * that somebody rents there (`….compute.amazonaws.com`, `….cloudapp.azure.com`), any server may answer.
 */
const NATIVE_HOSTS =
  /(^|\.)(anthropic\.com|bedrock[a-z-]*\.([\w-]+\.){1,3}amazonaws\.com(\.cn)?|api\.aws|googleapis\.com|(services\.ai|cognitiveservices|openai)\.azure\.com)$/

/**
 * Other servers that speak this API may ignore a tool that is added within the conversation, and report nothing: the
 * model would never see it. So they get added tools at the end of the list from the start.
 */
function getFirstAdditions(options: AnthropicOptions): Additions {
  const { toolAdditions = 'auto' } = options
  const isNative = toolAdditions === 'native' || (toolAdditions === 'auto' && isNativeHost(options))
  if (!isNative) return 'plain'
  return takesReferencesOnly(options.model) ? 'result' : 'inline'
}

function wantsUpdates(options: AnthropicOptions): boolean {
  const isSet = options.parameters?.thinking !== undefined
  return options.updates === true && !isSet && isSince(readVersion(options.model), [5, 5])
}

/** The way that is tried after another one was refused. */
function getPlainer(additions: Additions): Additions {
  return additions === 'inline' ? 'reference' : 'plain'
}

function isNativeHost(options: AnthropicOptions): boolean {
  return NATIVE_HOSTS.test(getHost(getAddress(options)))
}

/** The clients for other platforms choose their address themselves. */
function getAddress({ client, baseURL }: AnthropicOptions): string {
  const address = (client as { readonly baseURL?: unknown } | undefined)?.baseURL ?? baseURL ?? readEnvironment()
  return typeof address !== 'string' || address === '' ? 'https://api.anthropic.com' : address
}

/** The SDK reads the address from the same variable. */
function readEnvironment(): string | undefined {
  return globalThis.process?.env?.['ANTHROPIC_BASE_URL']?.trim()
}

function getCacheControl(cache: NonNullable<AnthropicOptions['cache']>): WireOptions['cacheControl'] {
  if (cache === false) return undefined
  return cache === true || cache.ttl === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl: cache.ttl }
}

/** The limits of the models since one version of Claude. */
interface ModelRow {
  readonly from: readonly [major: number, minor: number]
  /** The maximum number of tokens in a reply, including thinking. */
  readonly maxTokens: number
}

/** Newest first. Versions and limits are from Anthropic's list of models. */
const MODELS: readonly ModelRow[] = [
  { from: [4, 6], maxTokens: 128_000 },
  { from: [4, 5], maxTokens: 64_000 },
]

/** A limit that every model supports. */
const FALLBACK_MAX_TOKENS = 8192

/**
 * Returns the maximum number of tokens in a reply of this model. For models that always think, thinking counts too, so
 * a low limit would cut off answers. The name may come from another platform, such as
 * `us.anthropic.claude-sonnet-4-5-20250929-v1:0`.
 */
function getDefaultMaxTokens(model: string): number {
  const version = readVersion(model)
  return MODELS.find(({ from }) => isSince(version, from))?.maxTokens ?? FALLBACK_MAX_TOKENS
}
