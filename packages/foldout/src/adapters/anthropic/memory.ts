import type { AdapterError } from '../adapter-error.ts'
import type { ChatRequest } from '../chat.ts'
import type { AnthropicOptions } from './anthropic.ts'
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
  /** Outputs whose schema was rejected. */
  readonly refusedOutputs: WeakSet<object>
  readonly wiring: Omit<WireOptions, 'model' | 'additions'>
  /** Remembers the features that were left out of a successful request, and emits a warning if it matters. */
  keep(request: ChatRequest, loss: Loss): void
  refuseThinking(prefixes: readonly string[]): void
}

export function createMemory(options: AnthropicOptions): Memory {
  const { toolAdditions = 'auto', cache = true, serverTools = [], parameters } = options
  const refusedOutputs = new WeakSet<object>()
  const refusedThinking = new Set<string>()
  let additions: Additions = toolAdditions === 'plain' ? 'plain' : 'inline'
  let maxTokens = options.maxTokens ?? getDefaultMaxTokens(options.model)
  return {
    get additions() {
      return additions
    },
    get maxTokens() {
      return maxTokens
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
      if (after.additions !== before.additions) additions = after.additions
      if (after.additions === 'plain' && before.additions !== 'plain')
        request.emit({ type: 'warning', message: describeAdditionsRefused(refusal) })
      if (after.maxTokens < before.maxTokens && isLimitOfModel(getAnswer(refusal))) maxTokens = after.maxTokens
    },
    refuseThinking: (prefixes) => refuseThinking(refusedThinking, prefixes),
  }
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
  if (version === undefined) return FALLBACK_MAX_TOKENS
  const [major, minor] = version
  const row = MODELS.find(({ from }) => major > from[0] || (major === from[0] && minor >= from[1]))
  return row?.maxTokens ?? FALLBACK_MAX_TOKENS
}

/** A number of more than two digits is a date. */
const VERSION = /claude-(?:[a-z]{1,20}-)?(\d{1,2})(?!\d)(?:[-.](\d{1,2})(?!\d))?/

function readVersion(model: string): readonly [major: number, minor: number] | undefined {
  const [, major, minor] = VERSION.exec(model) ?? []
  return major === undefined ? undefined : [Number(major), Number(minor ?? 0)]
}
