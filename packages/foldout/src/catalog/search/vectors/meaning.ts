import type { Searchable, SearchField } from '../contract.ts'
import { FIELD_END, type Postings } from '../lexical/postings.ts'
import { FIELDS } from '../text/tool-text.ts'
import { createVectorBlock, type VectorBlock } from './vector-block.ts'
import type { WordVectors } from './vectors.ts'
import { getTerms } from '../text/words.ts'

/** What a field says is said in its first words; the others take time. */
const MOST_WORDS = 48

export type Vector = ArrayLike<number>

/** Nearness of meaning, of a text to every tool. */
export interface Meaning {
  add(slot: number, tool: Searchable): void
  remove(slot: number): void
  /** The vectors of some texts, when those of all tools are there too; nothing for a text of unknown words. */
  computeVectors(texts: readonly string[]): Promise<readonly (Vector | undefined)[]>
  /** How near each tool is, by slot: 1 for the same, 0 for one that has nothing to do with it or is not known. */
  cosinesWith(vector: Vector): (slot: number) => number
  /** The same for one who will ask about all of them, and again. */
  allCosinesWith(vector: Vector): (slot: number) => number
}

/** Meaning by word vectors. They are loaded, and those of the tools made, when first asked for. */
export function createWordMeaning(postings: Postings, load: () => Promise<WordVectors>): Meaning {
  const waiting = new Set<number>()
  let loading: Promise<WordVectors> | undefined
  let block: VectorBlock | undefined
  return {
    add(slot) {
      waiting.add(slot)
    },
    remove(slot) {
      waiting.delete(slot)
      block?.remove(slot)
    },
    async computeVectors(texts) {
      const vectors = await (loading ??= load())
      block ??= createVectorBlock(vectors.dimensions)
      for (const slot of waiting) {
        const vector = vectors.computeToolVector(wordsByField(slot, postings))
        if (vector) block.set(slot, vector)
      }
      waiting.clear()
      return texts.map((text) => vectors.computeVector(getTerms(text)))
    },
    cosinesWith: (vector) => block!.cosinesWith(vector),
    allCosinesWith: (vector) => block!.allCosinesWith(vector),
  }
}

/** The first words of each field of a tool. */
function wordsByField(slot: number, postings: Postings): Partial<Record<SearchField, readonly string[]>> {
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
