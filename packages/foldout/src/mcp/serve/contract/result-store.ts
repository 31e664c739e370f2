/**
 * Where a server keeps folded results while models read parts of them. Without one, it keeps them in memory. Several
 * machines that serve the same clients need one that they share.
 *
 * @example
 * ```ts
 * const texts = new Map<string, string>()
 * const store: ResultStore = {
 *   keep: async (handle, text) => void texts.set(handle, text),
 *   find: async (handle) => texts.get(handle),
 * }
 * const served = serveMcp(catalog, { name: 'home', version: '1.0.0', foldResults: { tokens: 8_000, store } })
 * ```
 */
export interface ResultStore {
  /** Keeps a text of an owner under a handle, which nobody can guess. Rejects if it cannot. */
  keep(handle: string, text: string, owner: string): Promise<void>
  /** Finds a text, if it is still kept and belongs to this owner. */
  find(handle: string, owner: string): Promise<string | undefined>
}

/**
 * Which results a server folds.
 *
 * @example
 * ```ts
 * const folding: ResultFolding = { tokens: 8_000 }
 * const served = serveMcp(catalog, { name: 'home', version: '1.0.0', foldResults: folding })
 * ```
 */
export interface ResultFolding {
  /** Results with more tokens are folded. */
  readonly tokens: number
  /** Default: the memory of the process. */
  readonly store?: ResultStore
}
