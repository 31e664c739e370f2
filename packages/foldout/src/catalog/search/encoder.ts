/**
 * The kind of text that an encoder reads. Some models embed a request and the text that answers it in different ways.
 *
 * @example
 * ```ts
 * const prefix: Record<EmbeddedText, string> = { query: 'query: ', tool: 'passage: ' }
 * ```
 */
export type EmbeddedText = 'query' | 'tool'

/**
 * The context of a call of an embedding function.
 *
 * @example
 * ```ts
 * const embed: Embed = (texts, call: EmbedCall) => myModel.embed(texts, call)
 * ```
 */
export interface EmbedCall {
  readonly kind: EmbeddedText
  /** Aborts when the search no longer waits for the vectors. */
  readonly signal: AbortSignal
}

/**
 * An embedding model: returns one vector for each text, all of the same length.
 *
 * @example
 * ```ts
 * const embed: Embed = async (input) => {
 *   const { data } = await openai.embeddings.create({ model: 'text-embedding-3-small', input: [...input] })
 *   return data.map(({ embedding }) => embedding)
 * }
 * ```
 */
export type Embed = (
  texts: readonly string[],
  call: EmbedCall,
) => Promise<readonly (readonly number[] | Float32Array)[]>

/**
 * An embedding model with a name, so its vectors can be stored.
 *
 * @example
 * ```ts
 * const encoder: Encoder = { model: 'my-model 2', embed: myModel.embed, cache: createVectorFile('.cache/vectors') }
 * const catalog = createCatalog(tools, { embed: encoder })
 * ```
 */
export interface Encoder {
  /** Identifies the model. Vectors of other models are not used. */
  readonly model: string
  readonly embed: Embed
  /** Stores the vectors of tools, so each text is embedded only once. By default, they are only kept in memory. */
  readonly cache?: VectorCache | undefined
}

/**
 * Stores vectors by a key that identifies a model and a text. It may forget any of them. If it fails, searches continue
 * without it.
 *
 * @example
 * ```ts
 * const vectors = new Map<string, Int8Array>()
 * const cache: VectorCache = {
 *   read: async (keys) => new Map([...vectors].filter(([key]) => keys.includes(key))),
 *   write: async (added) => added.forEach((vector, key) => vectors.set(key, vector)),
 * }
 * ```
 */
export interface VectorCache {
  /** Returns the stored vectors. A key without a vector is left out. */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, Int8Array>>
  write(vectors: ReadonlyMap<string, Int8Array>): Promise<void>
}
