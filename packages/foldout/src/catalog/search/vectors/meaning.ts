import type { Searchable, SearchField } from '../contract.ts'
import { FIELD_END, type Postings } from '../lexical/postings.ts'
import type { Slice, Steps } from '../slices.ts'
import { FIELDS } from '../text/tool-text.ts'
import { createVectorBlock, type VectorBlock } from './vector-block.ts'
import type { WordComparison, WordVectors } from './vectors.ts'
import { getTerms } from '../text/words.ts'

/** Only the first words of a field are used: they say what it is about, and more of them take time. */
const MOST_WORDS = 48
/** The cost of computing a tool's vector, in characters of indexing. */
export const VECTOR_COST = 200

export type Vector = ArrayLike<number>

/** How near a text is in meaning to every tool. */
export interface Meaning {
  /** How nearness is found. */
  readonly kind: 'word-vectors' | 'none'
  /** Whether every tool has its vector. */
  readonly isReady: boolean
  add(slot: number, tool: Searchable): void
  remove(slot: number): void
  /** Computes the vectors that are still missing. */
  prepare(slice: Slice): Promise<void>
  /** Whether a term is a word that the vectors know, and not misspelled. */
  isWord(term: string): boolean
  /** Compares single words; `undefined` if there are no vectors. */
  readonly comparison: WordComparison | undefined
  /** Computes the vectors of texts; `undefined` for a text that has only unknown words. */
  computeVectors(texts: readonly string[]): Promise<readonly (Vector | undefined)[]>
  /** How near each tool is, by slot: 1 for the same meaning, 0 for an unrelated or unknown tool. */
  cosinesWith(vector: Vector): (slot: number) => number
  /** The same, faster for a caller that reads most slots. */
  allCosinesWith(vector: Vector): Steps<(slot: number) => number>
}

export interface WordMeaningOptions {
  readonly postings: Postings
  readonly load: () => Promise<WordVectors>
  /** Called when the vectors cannot be loaded. From then on there is no nearness of meaning. */
  readonly onUnavailable: (error: unknown) => void
}

/** Finds nearness of meaning with word vectors, which are loaded when the first tool needs one. */
export function createWordMeaning({ postings, load, onUnavailable }: WordMeaningOptions): Meaning {
  const waiting = new Set<number>()
  let block: VectorBlock | undefined
  let table: WordVectors | undefined
  let isUnavailable = false
  const tryLoad = async (): Promise<WordVectors | undefined> => {
    if (isUnavailable) return undefined
    try {
      return (table = await load())
    } catch (error) {
      if (!isUnavailable) onUnavailable(error)
      isUnavailable = true
      return undefined
    }
  }
  return {
    get kind() {
      if (isUnavailable) return 'none'
      return 'word-vectors'
    },
    get isReady() {
      return waiting.size === 0
    },
    add(slot) {
      waiting.add(slot)
    },
    remove(slot) {
      waiting.delete(slot)
      block?.remove(slot)
    },
    async prepare(slice) {
      if (waiting.size === 0) return
      const vectors = await tryLoad()
      if (!vectors) return waiting.clear()
      block ??= createVectorBlock(vectors.dimensions)
      const written = new Float32Array(vectors.dimensions)
      for (const slot of waiting) {
        waiting.delete(slot)
        const vector = vectors.computeToolVector(getWordsByField(slot, postings), written)
        if (vector) block.set(slot, vector)
        if (slice.spend(VECTOR_COST)) await slice.next()
      }
    },
    isWord: (term) => table?.has(term) ?? false,
    get comparison() {
      return table?.comparison
    },
    async computeVectors(texts) {
      const vectors = await tryLoad()
      return texts.map((text) => vectors?.computeVector(getTerms(text)))
    },
    cosinesWith: (vector) => block?.cosinesWith(vector) ?? (() => 0),
    *allCosinesWith(vector) {
      if (block) return yield* block.allCosinesWith(vector)
      return () => 0
    },
  }
}

/** The first words of each field of a tool. */
function getWordsByField(slot: number, postings: Postings): Partial<Record<SearchField, readonly string[]>> {
  const byField: Partial<Record<SearchField, string[]>> = {}
  let field = 0
  let ofField: string[] = []
  for (const id of postings.wordsIn(slot)) {
    if (id === FIELD_END) {
      const name = FIELDS[field++]
      if (name !== undefined && ofField.length > 0) byField[name] = ofField
      ofField = []
    } else if (ofField.length < MOST_WORDS) ofField.push(postings.getTerm(id))
  }
  return byField
}
