/** What happens to a catalog and with it. Queries and names are in it, arguments and results are not. */
export type CatalogEvent =
  /** Tools came, went, or have another name now. */
  | { readonly type: 'catalog/changed' }
  /** A client was given the list of tools. */
  | {
      readonly type: 'tools/listed'
      readonly client: string
      readonly exposure: string
      readonly tools: readonly string[]
      readonly tokens: number
    }
  | {
      readonly type: 'tools/searched'
      readonly client: string
      readonly query: string
      readonly hits: readonly string[]
      /** Of the call and its answer. */
      readonly tokens: number
    }
  /** A client was given one tool's definition. */
  | { readonly type: 'tool/defined'; readonly client: string; readonly name: string; readonly tokens: number }
  | {
      readonly type: 'tool/used'
      readonly client: string
      /** Qualified: the tool that ran, not the meta tool that it was called through. */
      readonly name: string
      /** The meta tool it was called through, or `direct`. */
      readonly through: string
      readonly ok: boolean
      readonly durationMs: number
      /** What calling it through a meta tool cost more than a direct call. */
      readonly wrappingTokens: number
    }
  /** Something about searching that a person should know: a tool that cannot be indexed, word vectors that cannot be loaded. */
  | { readonly type: 'search/problem'; readonly message: string; readonly tool: string | undefined }
  /** An exposure that decides for each client has decided. */
  | { readonly type: 'exposure/chosen'; readonly client: string; readonly exposure: string; readonly reason: string }
