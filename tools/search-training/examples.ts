import { getTerms } from '../../packages/foldout/src/catalog/search/text/words.ts'
import type { LabeledSet, LabeledTool } from './data.ts'
import { getFieldTerms, type FieldTerms } from './fields.ts'
import type { Text } from './model.ts'
import { below } from './random.ts'
import { queryText, thinned, toolText } from './texts.ts'
import { RIGHT, type Batch } from './trainer.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Words left out of every text in training. */
const THINNED = 0.1
const QUERIES = 96
const CANDIDATES = 256
const DESCRIPTIONS = 192
/** How many tools of a server come together, so that the model learns to distinguish them. */
const SIBLINGS = 4
const SENTENCE_END = /(?<=[.!?])\s+|\n+/
const SHORTEST_SENTENCE = 3

interface TrainingQuery {
  readonly text: Text
  readonly relevant: readonly number[]
}

interface TrainingSet {
  readonly tools: readonly Text[]
  readonly queries: readonly TrainingQuery[]
}

/**
 * Batches of labeled queries of one set, among tools of that set. A set of n queries comes up as often as n to the
 * power of `balance`, so that the largest does not drown out the others.
 */
export function createLabeledExamples(
  vocabulary: Vocabulary,
  sets: readonly LabeledSet[],
  balance: number,
  random: () => number,
): () => Batch {
  const prepared = sets.map((set) => prepare(vocabulary, set))
  const shares = prepared.map(({ queries }) => queries.length ** balance)
  const total = shares.reduce((sum, share) => sum + share, 0)
  const pick = (): TrainingSet => {
    let left = random() * total
    return prepared[shares.findIndex((share) => (left -= share) < 0)] ?? prepared[0]!
  }
  return () => {
    const { tools, queries } = pick()
    const asked = Array.from(
      { length: Math.min(QUERIES, queries.length) },
      () => queries[below(random, queries.length)]!,
    )
    const candidates = new Set(asked.flatMap(({ relevant }) => relevant))
    if (tools.length <= CANDIDATES) for (const at of tools.keys()) candidates.add(at)
    else while (candidates.size < CANDIDATES) candidates.add(below(random, tools.length))
    const places = new Map([...candidates].map((at, place) => [at, place]))
    const labels = new Int8Array(asked.length * places.size)
    for (const [row, { relevant }] of asked.entries()) {
      for (const at of relevant) labels[row * places.size + places.get(at)!] = RIGHT
    }
    return {
      queries: asked.map(({ text }) => thinned(text, THINNED, random)),
      tools: [...candidates].map((at) => thinned(tools[at]!, THINNED, random)),
      labels,
    }
  }
}

/** Batches without labels: names with their descriptions, and sentences with the rest of their descriptions. */
export function createDescriptionExamples(
  vocabulary: Vocabulary,
  described: readonly LabeledTool[],
  random: () => number,
): () => Batch {
  const tools = described.map((tool) => ({
    fields: getFieldTerms(tool),
    sentences: (tool.description ?? '')
      .split(SENTENCE_END)
      .map(getTerms)
      .filter((sentence) => sentence.length >= SHORTEST_SENTENCE),
  }))
  const groups = getGroups(described)
  return () => {
    const chosen = new Set<number>()
    while (chosen.size < DESCRIPTIONS) {
      const group = groups[below(random, groups.length)]!
      for (let i = 0; i < SIBLINGS; i++) chosen.add(group[below(random, group.length)]!)
    }
    const pairs = [...chosen]
      .map((at) => getPair(vocabulary, tools[at]!.fields, tools[at]!.sentences, random))
      .filter(([query, tool]) => query.words.length > 0 && tool.words.length > 0)
    const labels = new Int8Array(pairs.length ** 2)
    for (const row of pairs.keys()) labels[row * pairs.length + row] = RIGHT
    return {
      queries: pairs.map(([query]) => thinned(query, THINNED, random)),
      tools: pairs.map(([, tool]) => thinned(tool, THINNED, random)),
      labels,
    }
  }
}

/** Tools that belong together: those of a server, or of a category if they name no server. */
function getGroups(tools: readonly LabeledTool[]): readonly (readonly number[])[] {
  const groups = new Map<string, number[]>()
  for (const [at, { name, category }] of tools.entries()) {
    const [server = '', ...rest] = name.split('/')
    const key = rest.length > 0 ? server : (category ?? '')
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [at])
    else group.push(at)
  }
  return [...groups.values()]
}

function getPair(
  vocabulary: Vocabulary,
  fields: FieldTerms,
  sentences: readonly (readonly string[])[],
  random: () => number,
): readonly [query: Text, tool: Text] {
  const { name, source, tags } = fields
  if (sentences.length < 2 || random() < 0.5) {
    return [queryText(vocabulary, name), toolText(vocabulary, { ...fields, name: [] })]
  }
  const chosen = below(random, sentences.length)
  const description = sentences.filter((_, at) => at !== chosen).flat()
  return [queryText(vocabulary, sentences[chosen]!), toolText(vocabulary, { name, source, tags, description })]
}

function prepare(vocabulary: Vocabulary, set: LabeledSet): TrainingSet {
  const indexOf = new Map(set.tools.map(({ name }, at) => [name, at]))
  const queries = set.queries.map(({ query, relevant }) => {
    const found = relevant.map((name) => indexOf.get(name)).filter((at) => at !== undefined)
    return { text: queryText(vocabulary, getTerms(query)), relevant: found }
  })
  return {
    tools: set.tools.map((tool) => toolText(vocabulary, getFieldTerms(tool))),
    queries: queries.filter(({ text, relevant }) => text.words.length > 0 && relevant.length > 0),
  }
}
