import type { Searchable, SearchField } from '../contract.ts'
import { FIELD_END, type Postings } from '../lexical/postings.ts'
import type { Slice } from '../slices.ts'
import { FIELDS } from '../text/tool-text.ts'
import { createVectorBlock, type VectorBlock } from './vector-block.ts'
import type { WordVectors } from './vectors.ts'
import { getTerms } from '../text/words.ts'

/** What a field says is said in its first words; the others take time. */
const MOST_WORDS = 48
/** What making a tool's vector costs, as if so many characters were indexed. */
export const VECTOR_COST = 200

export type Vector = ArrayLike<number>

/** Nearness of meaning, of a text to every tool. */
export interface Meaning {
  /** By what it is found. */
  readonly kind: 'word-vectors' | 'own' | 'none'
  /** Whether no tool waits for its vector. */
  readonly isReady: boolean
  add(slot: number, tool: Searchable): void
  remove(slot: number): void
  /** Makes the vectors of the tools that wait for theirs. */
  prepare(slice: Slice): Promise<void>
  /** The vectors of some texts; nothing for a text of unknown words. */
  computeVectors(texts: readonly string[]): Promise<readonly (Vector | undefined)[]>
  /** How near each tool is, by slot: 1 for the same, 0 for one that has nothing to do with it or is not known. */
  cosinesWith(vector: Vector): (slot: number) => number
  /** The same for one who will ask about all of them, and again. */
  allCosinesWith(vector: Vector): (slot: number) => number
}

export interface WordMeaningOptions {
  readonly postings: Postings
  readonly load: () => Promise<WordVectors>
  /** The vectors cannot be loaded: there is no nearness of meaning from now on. */
  readonly onUnavailable: (error: unknown) => void
}

/** Meaning by word vectors. They are loaded when tools first wait for theirs. */
export function createWordMeaning({ postings, load, onUnavailable }: WordMeaningOptions): Meaning {
  const waiting = new Set<number>()
  let block: VectorBlock | undefined
  let isUnavailable = false
  const tryLoad = async (): Promise<WordVectors | undefined> => {
    if (isUnavailable) return undefined
    try {
      return await load()
    } catch (error) {
      if (!isUnavailable) onUnavailable(error)
      isUnavailable = true
      return undefined
    }
  }
  return {
    get kind() {
      return isUnavailable ? 'none' : 'word-vectors'
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
      for (const slot of waiting) {
        waiting.delete(slot)
        const vector = vectors.computeToolVector(getWordsByField(slot, postings))
        if (vector) block.set(slot, vector)
        if (slice.spend(VECTOR_COST)) await slice.next()
      }
    },
    async computeVectors(texts) {
      const vectors = await tryLoad()
      return texts.map((text) => vectors?.computeVector(getTerms(text)))
    },
    cosinesWith: (vector) => block?.cosinesWith(vector) ?? (() => 0),
    allCosinesWith: (vector) => block?.allCosinesWith(vector) ?? (() => 0),
  }
}

/** The first words of each field of a tool. */
function getWordsByField(slot: number, postings: Postings): Partial<Record<SearchField, readonly string[]>> {
  const byField: Partial<Record<SearchField, string[]>> = {}
  const words = postings.wordsIn(slot)
  let field = 0
  let ofField: string[] = []
  for (let i = 0; i < words.length; i++) {
    const id = words[i]!
    if (id === FIELD_END) {
      if (ofField.length > 0) byField[FIELDS[field]!] = ofField
      ofField = []
      field++
    } else if (ofField.length < MOST_WORDS) ofField.push(postings.getTerm(id))
  }
  return byField
}
