import type { ModelEvent, RefusalMemory } from '../contract.ts'
import { isFormatRefused, isRefusedForGood, toFailure } from '../failure.ts'
import { MAX_REFUSAL_CHARACTERS } from '../limits.ts'
import { findQuirk, QUIRK_NAMES, type Quirk } from '../quirks.ts'

/** Features that an endpoint may not support. Each is used until the endpoint rejects it. */
export type Feature =
  | 'added-tools'
  | 'cache-diagnostics'
  | 'cache-key'
  | 'cache-mark'
  | 'format-beside-tools'
  | 'namespaces'
  | 'output-format'
  | 'passed-reasoning'
  | 'reasoning'
  | 'sent-reasoning'
  | 'stream-usage'
  | 'strict'
  | 'tool-search'

/** The features that one request uses, and the quirks that it accounts for. */
export type Using = ReadonlySet<Feature | Quirk>

export interface Features {
  /** Whether the endpoint has rejected a feature. */
  isRefused(feature: Feature): boolean
  /**
   * Sends a request that uses the features. If the endpoint rejects it because of one feature, the request is sent
   * without it; if the rejection describes a quirk, the request is sent in a form that accounts for it. The form that
   * succeeded is remembered.
   */
  send<T>(
    wanted: readonly (Feature | Quirk)[],
    request: (using: Using) => Promise<T>,
    emit: (event: ModelEvent) => void,
  ): Promise<T>
}

interface Refusal {
  /** Whether the endpoint named this feature as the reason. */
  isNamed(this: void, said: string): boolean
  readonly warning: string
}

// Most likely cause first: an answer may also list features that the endpoint does support.
const REFUSALS: Readonly<Record<Feature, Refusal>> = {
  // Before the output's format, which the same words name, and which works without it.
  strict: {
    isNamed: (said) => /\bstrict\b|invalid[ _]schema|invalid_function_parameters|additionalProperties/i.test(said),
    warning:
      'The endpoint refused a strict schema. From now on, schemas of tools and of the output are sent without `strict`, and checked when the model answers.',
  },
  namespaces: {
    isNamed: (said) =>
      /\b(invalid|unknown|unsupported|unexpected|unrecognized)\b.{0,40}\bnamespace|\bnamespaces?\b.{0,40}\bnot\b/i.test(
        said,
      ),
    warning:
      'The endpoint does not support namespaces. From now on, tools that are added during a conversation are sent without their server or section.',
  },
  'tool-search': {
    isNamed: (said) => /tool_search/i.test(said),
    warning: 'The endpoint does not support tool_search. From now on, the search for tools is sent as a function.',
  },
  'added-tools': {
    isNamed: (said) => /additional_tools/i.test(said),
    warning:
      "The endpoint does not support tools that are added during a conversation. From now on, they are sent at the end of the tool list, which invalidates the cached prefix. Set toolAdditions: 'plain' to avoid the attempt.",
  },
  'cache-diagnostics': {
    isNamed: (said) => /prompt_cache_options|comparison_response_id/i.test(said),
    warning: 'The endpoint does not explain cache misses. From now on, it is not asked. Leave out cacheDiagnostics.',
  },
  'cache-mark': {
    isNamed: (said) => /prompt_cache_breakpoint/i.test(said),
    warning:
      'The endpoint does not support prompt_cache_breakpoint. From now on, the system text is sent as instructions, so conversations share less of the cache.',
  },
  'cache-key': {
    isNamed: (said) => /prompt_cache_key/i.test(said),
    warning: 'The endpoint does not support prompt_cache_key. From now on, it is not sent. Leave out promptCacheKey.',
  },
  'format-beside-tools': {
    isNamed: isFormatRefused,
    warning:
      'The endpoint does not support structured output while tools are offered. From now on, with tools, the shape of the answer is only requested in the prompt and checked when the answer is read.',
  },
  'output-format': {
    isNamed: isFormatRefused,
    warning:
      'The endpoint does not support structured output. From now on, the shape of the answer is only requested in the prompt and checked when the answer is read.',
  },
  'passed-reasoning': {
    isNamed: (said) => /\breasoning(_content|_details)?\b/i.test(said),
    warning: 'The endpoint does not accept the reasoning of earlier replies. From now on, it is left out.',
  },
  'stream-usage': {
    isNamed: (said) => /stream_options/i.test(said),
    warning: 'The endpoint does not support stream_options. From now on, it is not sent, so usage may be missing.',
  },
  // One conversation may contain reasoning that the server cannot read: of another organization, or of another model.
  'sent-reasoning': {
    isNamed: (said) =>
      /invalid_encrypted_content|encrypted[ _]content.{0,200}(verif|decrypt|parse|invalid)/i.test(said),
    warning: 'The endpoint cannot read the reasoning of earlier replies, so it is left out of this conversation.',
  },
  reasoning: {
    isNamed: (said) => /encrypted[ _]content/i.test(said),
    warning:
      'The endpoint does not support encrypted reasoning. From now on, it is neither requested nor passed back. Set reasoning: false to avoid the attempt.',
  },
}
const FEATURES = Object.keys(REFUSALS) as readonly Feature[]

export function createFeatures(refused: RefusalMemory): Features {
  return {
    isRefused: (feature) => refused.has(feature),
    async send(wanted, request, emit) {
      const using = new Set([
        ...wanted.filter((feature) => !refused.has(feature)),
        ...QUIRK_NAMES.filter((name) => refused.has(name)),
      ])
      const dropped: Feature[] = []
      const found: Quirk[] = []
      // Each pass drops a feature or adds a quirk, and there are only a few.
      for (;;) {
        try {
          const answer = await request(using)
          for (const quirk of found) refused.add(quirk)
          for (const feature of dropped) {
            if (feature !== 'sent-reasoning') refused.add(feature)
            emit({ type: 'warning', message: REFUSALS[feature].warning })
          }
          return answer
        } catch (error) {
          const said = readRefusal(error)
          if (said === undefined) throw error
          const quirk = findQuirk(said, using)
          if (quirk !== undefined) {
            using.add(quirk)
            found.push(quirk)
            continue
          }
          const feature = getSuspect(said, using)
          if (feature === undefined) throw error
          using.delete(feature)
          dropped.push(feature)
        }
      }
    },
  }
}

/** Returns the error message of a rejected request, or undefined if no other form of the request would be accepted. */
function readRefusal(error: unknown): string | undefined {
  const failure = toFailure(error)
  if (failure?.status !== 400 && failure?.status !== 422) return undefined
  const { param = '', code = '' } = error as { readonly param?: unknown; readonly code?: unknown }
  const said = [failure.message, param, code].join(' ').slice(0, MAX_REFUSAL_CHARACTERS)
  return isRefusedForGood(said) ? undefined : said
}

function getSuspect(said: string, using: Using): Feature | undefined {
  const named = FEATURES.find((feature) => using.has(feature) && REFUSALS[feature].isNamed(said))
  if (named !== undefined) return named
  // Servers word their errors about unknown items in many ways, and most do not repeat the item's name.
  return (['namespaces', 'tool-search', 'added-tools'] as const).find((feature) => using.has(feature))
}
