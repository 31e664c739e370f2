import { getFieldTerms } from './fields.ts'
import type { LabeledSet, LabeledTool } from './data.ts'
import { createDescriptionExamples, createLabeledExamples } from './examples.ts'
import type { GeneralWord } from './glove.ts'
import { createModel, type Model } from './model.ts'
import { createRandom } from '../../packages/foldout/src/compare/statistics/distributions.ts'
import { startVectors } from './start.ts'
import type { Student } from './distill.ts'
import { teachStudent } from './student.ts'
import { createTrainer } from './trainer.ts'
import { createVocabulary, type Vocabulary } from './vocabulary.ts'
import { getTerms } from '../../packages/foldout/src/catalog/search/text/words.ts'

export interface Settings {
  readonly seed: number
  readonly words: number
  readonly dimensions: number
  readonly steps: number
  /** The share of batches with labeled queries; the others are descriptions. */
  readonly labeled: number
  /** A set of n queries comes up as often as n to this power. */
  readonly balance: number
  readonly temperature: number
  /** Whether to start from general English, from co-occurrence in tools, or both. */
  readonly general: boolean
  /** Whether to start from a student of a sentence encoder, including its word weights. */
  readonly student: boolean
  readonly learnedEmphasis: boolean
  readonly cooccurrence: boolean
}

export const SETTINGS: Settings = {
  seed: 1,
  words: 24_000,
  dimensions: 128,
  steps: 1_200,
  labeled: 0.6,
  balance: 0.5,
  temperature: 0.07,
  general: true,
  student: true,
  learnedEmphasis: true,
  cooccurrence: true,
}

/** A word with this share of all words starts with half the weight of a rare one. */
const COMMON_SHARE = 1e-3
const RATES = { map: 0.001, shift: 0.03, emphasis: 0.05, field: 0.02 } as const
/** Names and descriptions are matched in both directions; queries only to tools. */
const BACKWARD = { labeled: 0.2, described: 0.5 } as const
const LONGEST_PARAMETERS = 60

export interface Material {
  readonly corpus: readonly LabeledTool[]
  readonly sets: readonly LabeledSet[]
  readonly general: ReadonlyMap<string, GeneralWord>
}

export async function learn(
  material: Material,
  settings: Settings,
  tell: (message: string) => void,
): Promise<{ readonly model: Model; readonly vocabulary: Vocabulary }> {
  const { corpus, sets, general } = material
  const tools = [...corpus, ...sets.flatMap(({ tools }) => tools)]
  const texts: (readonly string[])[] = []
  for (const tool of tools) {
    const { name, source, description, tags, category, parameters } = getFieldTerms(tool)
    texts.push([...source, ...name, ...description], [...tags, ...category], parameters.slice(0, LONGEST_PARAMETERS))
  }
  for (const { queries } of sets) for (const { query } of queries) texts.push(getTerms(query))
  const vocabulary = createVocabulary(texts, general, settings.words)
  tell(`${vocabulary.words.length} words`)

  const emphasis = Float32Array.from(vocabulary.shares, (share) => Math.log(COMMON_SHARE / (COMMON_SHARE + share)))
  const student = settings.student
    ? await teachStudent(vocabulary, material, { ...settings, emphasis }, tell)
    : undefined
  if (student && settings.learnedEmphasis) emphasis.set(getEmphasis(student))
  const sources = {
    general: settings.general ? general : undefined,
    student: student?.vectors,
    texts: settings.cooccurrence ? texts : undefined,
  }
  const start = startVectors(vocabulary, sources, settings.dimensions, settings.seed)
  const model = createModel(start, settings.dimensions, emphasis)
  tell('start')

  const random = createRandom(settings.seed)
  const nextLabelled = createLabeledExamples(vocabulary, sets, settings.balance, random)
  const nextDescribed = createDescriptionExamples(vocabulary, tools, random)
  const trainer = createTrainer(model)
  for (let step = 0; step < settings.steps; step++) {
    const left = 1 - step / settings.steps
    const kind = random() < settings.labeled ? 'labeled' : 'described'
    const loss = trainer.step(kind === 'labeled' ? nextLabelled() : nextDescribed(), {
      map: RATES.map * left,
      shift: RATES.shift * left,
      emphasis: RATES.emphasis * left,
      field: RATES.field * left,
      temperature: settings.temperature,
      backward: BACKWARD[kind],
    })
    if ((step + 1) % 200 === 0) tell(`step ${step + 1}: loss ${loss.toFixed(3)} (${kind})`)
  }
  return { model, vocabulary }
}

/** The logarithm of a word's influence: its weight times the length of its vector. */
function getEmphasis({ vectors: { values, columns }, emphasis }: Student): Float32Array {
  return emphasis.map((weight, word) => {
    let square = 1e-9
    for (let i = word * columns; i < (word + 1) * columns; i++) square += values[i]! ** 2
    return weight + Math.log(square) / 2
  })
}
