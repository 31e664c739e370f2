import { distill, getDirections, reduce, type Lesson, type Student } from './distill.ts'
import type { Material } from './learn.ts'
import { getGlosses } from './glosses.ts'
import { getLessons } from './lessons.ts'
import { matrix } from './matrix.ts'
import { encodeTexts } from './teacher.ts'
import { queryText } from './texts.ts'
import type { Vocabulary } from './vocabulary.ts'
import { getTerms } from '../../packages/foldout/src/catalog/search/text/words.ts'

/** How many of the most frequent words are also taught with their dictionary definition. */
const GLOSSED = 12_000

/** Teaches word vectors the sentence encoder's vectors of requests, tools, dictionary definitions and single words. */
export async function teachStudent(
  vocabulary: Vocabulary,
  { corpus, sets, general }: Material,
  {
    emphasis,
    dimensions,
    seed,
  }: { readonly emphasis: Float32Array; readonly dimensions: number; readonly seed: number },
  tell: (message: string) => void,
): Promise<Student> {
  const frequent = [...general.values()].sort((a, b) => b.share - a.share).slice(0, GLOSSED)
  const sentences = [...getLessons(corpus, sets), ...getGlosses(frequent.map(({ form }) => form))]
  const words = vocabulary.words.map((word) => general.get(word)?.form ?? word)
  const said = await encodeTexts(sentences, tell)
  const saidOfWords = await encodeTexts(words, tell)
  const directions = getDirections(said, dimensions)
  const start: Student = { vectors: reduce(saidOfWords, directions), emphasis }
  const targets = matrix(sentences.length + words.length, dimensions)
  targets.values.set(reduce(said, directions).values)
  targets.values.set(start.vectors.values, sentences.length * dimensions)
  const lessons: Lesson[] = [...sentences, ...words].map((text) => queryText(vocabulary, getTerms(text)))
  tell(`${sentences.length} sentences, ${words.length} words`)
  return distill(lessons, targets, start, seed, tell)
}
