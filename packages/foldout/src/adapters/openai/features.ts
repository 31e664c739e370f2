import type { ModelEvent } from '../contract.ts'
import { toFailure } from '../failure.ts'

/** What an endpoint may not support. Each feature is used until the endpoint refuses it. */
export type Feature = 'added-tools' | 'output-format' | 'reasoning'

export interface Features {
  /**
   * Sends a request that uses the features. If the endpoint refuses it because of one, it is sent without that one; if that
   * succeeds, the feature is not used with this endpoint again.
   */
  send<T>(
    wanted: readonly Feature[],
    request: (using: ReadonlySet<Feature>) => Promise<T>,
    emit: (event: ModelEvent) => void,
  ): Promise<T>
}

interface Refusal {
  /** Matches the endpoint's answer if this feature is the reason. */
  readonly named: RegExp
  readonly warning: string
}

// The first to suspect comes first: an answer may list what the endpoint does support.
const REFUSALS: Readonly<Record<Feature, Refusal>> = {
  'added-tools': {
    named: /additional_tools/i,
    warning:
      "The endpoint does not support tools that are added within a conversation. From now on they are sent at the end of the tool list, which costs the cached prefix. Set toolAdditions: 'plain' to avoid the attempt.",
  },
  'output-format': {
    named: /response_format|json_schema|text\.format|structured output|guided/i,
    warning:
      'The endpoint does not support structured output. From now on the shape of the answer is only requested in the prompt, and checked when it is read.',
  },
  reasoning: {
    named: /encrypted[ _]content/i,
    warning:
      'The endpoint does not support encrypted reasoning. From now on it is neither requested nor passed back. Set reasoning: false to avoid the attempt.',
  },
}
const FEATURES = Object.keys(REFUSALS) as readonly Feature[]

export function createFeatures(): Features {
  const refused = new Set<Feature>()
  return {
    async send(wanted, request, emit) {
      const using = new Set(wanted.filter((feature) => !refused.has(feature)))
      const dropped: Feature[] = []
      for (;;) {
        try {
          const answer = await request(using)
          for (const feature of dropped) {
            refused.add(feature)
            emit({ type: 'warning', message: REFUSALS[feature].warning })
          }
          return answer
        } catch (error) {
          const feature = getSuspect(error, using)
          if (feature === undefined) throw error
          using.delete(feature)
          dropped.push(feature)
        }
      }
    },
  }
}

function getSuspect(error: unknown, using: ReadonlySet<Feature>): Feature | undefined {
  const failure = toFailure(error)
  if (failure?.status !== 400 && failure?.status !== 422) return undefined
  const { param = '', code = '' } = error as { readonly param?: unknown; readonly code?: unknown }
  const said = [failure.message, param, code].join(' ')
  if (/context_length|context (length|window)/i.test(said)) return undefined
  const named = FEATURES.find((feature) => REFUSALS[feature].named.test(said))
  if (named !== undefined && using.has(named)) return named
  // Servers have many wordings for an item that they do not know, and most do not repeat its name.
  return using.has('added-tools') ? 'added-tools' : undefined
}
