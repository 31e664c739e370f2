import type { ErrorCode } from '../core/errors.ts'

/**
 * Something that happened to a catalog. Events contain queries and names, but no arguments or results.
 *
 * @example
 * ```ts
 * const count = { searches: 0 }
 * const stop = catalog.subscribe((event: CatalogEvent) => {
 *   if (event.type === 'tools/searched') count.searches += 1
 * })
 * ```
 */
export type CatalogEvent =
  /** Tools were added, removed or renamed. */
  | { readonly type: 'catalog/changed' }
  /** A client received the list of tools. */
  | {
      readonly type: 'tools/listed'
      readonly client: string
      readonly exposure: string
      readonly tools: readonly string[]
      readonly tokens: number
    }
  /** A client searched. */
  | {
      readonly type: 'tools/searched'
      readonly client: string
      readonly query: string
      readonly hits: readonly string[]
      /** Tokens of the call and its answer. */
      readonly tokens: number
      /** The request of the client, as in the context of the call. */
      readonly request?: number | undefined
    }
  /** A client received one tool's definition. */
  | {
      readonly type: 'tool/defined'
      readonly client: string
      readonly name: string
      readonly tokens: number
      /** The request of the client, as in the context of the call. */
      readonly request?: number | undefined
    }
  /** A client ran a tool. */
  | {
      readonly type: 'tool/used'
      readonly client: string
      /** The qualified name of the tool that ran, not of the meta tool that the call went through. */
      readonly name: string
      /** The meta tool that the call went through, or `direct`. */
      readonly through: string
      readonly ok: boolean
      readonly durationMs: number
      /** How many tokens the call cost beyond a direct one, because it went through a meta tool. */
      readonly wrappingTokens: number
      /** The request of the client, as in the context of the call. */
      readonly request?: number | undefined
    }
  /** A result does not fit what was learned about the tool's results. It was passed on unchanged. */
  | {
      readonly type: 'output/unexpected'
      /** The qualified name. */
      readonly name: string
      /** Where it differs, such as `$.rooms[*].id`. */
      readonly path: string
    }
  /**
   * A problem with searching that a person should know about: a tool cannot be indexed, the word vectors cannot be
   * loaded, or an encoder or a cache of vectors failed. Searches continue.
   */
  | {
      readonly type: 'search/problem'
      readonly message: string
      readonly tool: string | undefined
      readonly code?: ErrorCode
    }
  /** An exposure made a decision for a client. */
  | { readonly type: 'exposure/chosen'; readonly client: string; readonly exposure: string; readonly reason: string }
