import type { SearchField } from '../../packages/foldout/src/catalog/search/contract.ts'
import { computeLengthWeight, MOST_TERMS } from '../../packages/foldout/src/catalog/search/vectors/vectors.ts'
import type { FieldTerms } from './fields.ts'
import { FIELDS, QUERY, type Text } from './model.ts'
import type { Vocabulary } from './vocabulary.ts'

export function queryText(vocabulary: Vocabulary, terms: readonly string[]): Text {
  return getText(vocabulary, [[QUERY, terms]])
}

export function toolText(vocabulary: Vocabulary, fields: Partial<FieldTerms>): Text {
  const parts = Object.entries(fields).map(
    ([field, terms]) => [FIELDS.indexOf(field as SearchField), terms.slice(0, MOST_TERMS)] as const,
  )
  return getText(vocabulary, parts)
}

/** A text without some of its words, so that the model relies on no single word. */
export function thinned(text: Text, share: number, random: () => number): Text {
  const kept: number[] = []
  for (let k = 0; k < text.words.length; k++) if (random() >= share) kept.push(k)
  if (kept.length === 0) return text
  return {
    words: Int32Array.from(kept, (k) => text.words[k]!),
    counts: Float32Array.from(kept, (k) => text.counts[k]!),
    fields: Uint8Array.from(kept, (k) => text.fields[k]!),
  }
}

function getText(vocabulary: Vocabulary, parts: readonly (readonly [field: number, terms: readonly string[]])[]): Text {
  const words: number[] = []
  const counts: number[] = []
  const fields: number[] = []
  for (const [field, terms] of parts) {
    const occurrences = new Map<number, number>()
    for (const term of terms) {
      const word = vocabulary.getId.get(term)
      if (word !== undefined) occurrences.set(word, (occurrences.get(word) ?? 0) + 1)
    }
    for (const [word, count] of occurrences) {
      words.push(word)
      counts.push(Math.sqrt(count) * (field === QUERY ? 1 : computeLengthWeight(terms.length)))
      fields.push(field)
    }
  }
  return { words: Int32Array.from(words), counts: Float32Array.from(counts), fields: Uint8Array.from(fields) }
}
