/**
 * The part of a catalog that {@link catalogSearch} uses.
 *
 * @example
 * ```ts
 * const searchable: SearchableCatalog = catalog
 * ```
 */
export interface SearchableCatalog {
  search(query: string): Promise<{
    readonly hits: readonly { readonly tool: { readonly name: string; readonly qualified: string } }[]
    readonly alsoNear: readonly { readonly name: string; readonly qualified: string }[]
  }>
}

/**
 * Ranks tools for the AI SDK's own `toolSearch` (version 7) as the catalog's search does, which knows synonyms, typing
 * errors and the tools' schemas. Give the tools the names that the catalog has for them.
 *
 * @example
 * ```ts
 * const search = catalogSearch(catalog)
 * await search({ query: 'write to Ada', tools: [{ name: 'send_mail' }] }) // => [ 'send_mail' ]
 * ```
 */
export function catalogSearch(
  catalog: SearchableCatalog,
): (request: { readonly query: string; readonly tools: readonly { readonly name: string }[] }) => Promise<string[]> {
  return async ({ query, tools }) => {
    const names = new Set(tools.map(({ name }) => name))
    const { hits, alsoNear } = await catalog.search(query)
    const found = [...hits.map(({ tool }) => tool), ...alsoNear].flatMap(({ name, qualified }) =>
      [name, qualified].filter((each) => names.has(each)),
    )
    return [...new Set(found)]
  }
}
