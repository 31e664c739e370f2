import type { LabeledSet, LabeledTool } from './data.ts'
import { getFieldTexts } from '../../packages/foldout/src/catalog/search/text/tool-text.ts'
import { getWords } from '../../packages/foldout/src/catalog/search/text/words.ts'
import { toSearchable } from './fields.ts'

const SENTENCE_END = /(?<=[.!?])\s+|\n+/
const SHORTEST_SENTENCE = 3
const LONGEST_SENTENCE = 300
const MOST_SENTENCES = 4
/** The most queries taken from one set: the largest has nine tenths of all queries. */
const MOST_QUERIES = 6_000
/** Texts for the teacher to encode: requests, tool names and descriptions, sentence by sentence. */
export function getLessons(corpus: readonly LabeledTool[], sets: readonly LabeledSet[]): readonly string[] {
  const lessons = new Set<string>()
  for (const { queries } of sets) {
    const step = Math.max(1, queries.length / MOST_QUERIES)
    for (const [at, { query }] of queries.entries()) {
      if (Math.floor(at / step) !== Math.floor((at - 1) / step)) lessons.add(query)
    }
  }
  for (const tool of [...corpus, ...sets.flatMap(({ tools }) => tools)]) {
    const [name = '', source = '', description = ''] = getFieldTexts(toSearchable(tool))
    const sentences = description
      .split(SENTENCE_END)
      .map((sentence) => sentence.trim().slice(0, LONGEST_SENTENCE))
      .filter((sentence) => getWords(sentence).length >= SHORTEST_SENTENCE)
    const called = getWords(`${source} ${name}`).join(' ')
    lessons.add(sentences[0] === undefined ? called : `${called}: ${sentences[0]}`)
    for (const sentence of sentences.slice(0, MOST_SENTENCES)) lessons.add(sentence)
  }
  return [...lessons]
}
