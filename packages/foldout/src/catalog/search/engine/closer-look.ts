import { FIELD_END, type Postings } from '../lexical/postings.ts'
import { MAX_LIKENED_WORDS } from '../limits.ts'
import { isActionWord } from '../text/actions.ts'
import type { ParsedQuery, QueryWord } from '../lexical/query.ts'
import { FIELDS } from '../text/tool-text.ts'
import type { WordComparison } from '../vectors/vectors.ts'
import type { Tuning } from '../tuning.ts'

const NAME = FIELDS.indexOf('name')
const DESCRIPTION = FIELDS.indexOf('description')
const PARAMETERS = FIELDS.indexOf('parameters')
/** Words of a description that are compared by their meaning: its beginning says what the tool does. */
const OPENING = 12
/** Words of each other field that are compared by their meaning. */
const MOST_OTHERS = 64
/** Any two words are a little alike. */
const LEAST_LIKENESS = 0.2

export interface CloserLookSources {
  readonly postings: Postings
  readonly tuning: Tuning
  /** Compares words by their meaning; `undefined` if that is not possible. */
  readonly comparison: WordComparison | undefined
}

/** What a tool has for one word of a request. */
export interface LikeWord {
  readonly word: QueryWord
  /** The id of the tool's word that is most like it. */
  readonly matched: number
  /** 1 if the tool has the word itself. */
  readonly likeness: number
  /** How much this adds to the tool's score. */
  readonly share: number
}

/** What a closer look at a tool finds. */
export interface CloserLook {
  readonly words: readonly LikeWord[]
  /** How much of the request the tool has in its own or in similar words, from 0 to 1. */
  readonly likeness: number
  /** The same of the words that mean no action: what the request is about. 1 if it has no such words. */
  readonly objects: number
  /** Whether it has one of the words that mean an action. */
  readonly hasAction: boolean
  readonly score: number
}

/**
 * Looks at single tools word by word: each word of the request is worth as much as the most similar word of the tool. Vectors of
 * whole texts blur that, and equal words alone do not see it: `folder` is a `directory`. It takes too long for all tools.
 */
export function createCloserLook(
  { words: all, isAsked }: Pick<ParsedQuery, 'words' | 'isAsked'>,
  { postings, tuning, comparison }: CloserLookSources,
): (slot: number) => CloserLook {
  const words = all.slice(0, MAX_LIKENED_WORDS)
  const mass = words.reduce((sum, { weight }) => sum + weight, 0)
  const areObjects = words.map(({ word }) => !isActionWord(word))
  const objectMass = words.reduce((sum, { weight }, at) => sum + (areObjects[at] === true ? weight : 0), 0)
  const findSimilar = createSimilarity(words, postings, comparison)
  return (slot) => {
    const tool = readWords(slot, isAsked, postings)
    const found: LikeWord[] = []
    let likeness = 0
    let objects = 0
    let hasAction = false
    let score = 0
    for (const [at, word] of words.entries()) {
      const same = word.ids.find((id) => tool.asked.has(id))
      const like = same === undefined ? findSimilar(at, tool.telling) : { matched: same, likeness: 1 }
      if (!like || mass === 0) continue
      const weight = word.weight / mass
      const named = word.ids.some((id) => tool.named.has(id)) ? tuning.nameWords : 0
      const share = weight * (tuning.likeness * like.likeness + named)
      found.push({ word, ...like, share })
      likeness += weight * like.likeness
      if (areObjects[at] === true) objects += word.weight * like.likeness
      else hasAction ||= like.likeness === 1
      score += share
    }
    return { words: found, likeness, objects: objectMass === 0 ? 1 : objects / objectMass, hasAction, score }
  }
}

/** The ids of a tool's words. */
interface ToolWords {
  /** Those that the request asks for. */
  readonly asked: ReadonlySet<number>
  /** Those of them that are in the tool's name. */
  readonly named: ReadonlySet<number>
  /** Those that are compared by their meaning. */
  readonly telling: readonly number[]
}

function readWords(slot: number, isAsked: Uint8Array, postings: Postings): ToolWords {
  const asked = new Set<number>()
  const named = new Set<number>()
  const telling: number[] = []
  let field = 0
  let at = 0
  for (const id of postings.wordsIn(slot)) {
    if (id === FIELD_END) {
      field++
      at = 0
      continue
    }
    if (isAsked[id] === 1) {
      asked.add(id)
      if (field === NAME) named.add(id)
    }
    if (field !== PARAMETERS && at++ < (field === DESCRIPTION ? OPENING : MOST_OTHERS)) telling.push(id)
  }
  return { asked, named, telling }
}

type FindSimilar = (at: number, telling: readonly number[]) => Pick<LikeWord, 'matched' | 'likeness'> | undefined

/** Finds the word of a tool that is most like a word of the request. Tools share most of their words, so each pair is compared once. */
function createSimilarity(
  words: readonly QueryWord[],
  postings: Postings,
  comparison: WordComparison | undefined,
): FindSimilar {
  if (!comparison) return () => undefined
  const rows = words.map(({ stem }) => comparison.find(stem))
  /** By id: the row of a word in the table; 1 more, so that 0 is a word that was not looked up, and -1 one that is unknown. */
  const rowById = new Int32Array(postings.ids)
  const known = words.map(() => new Map<number, number>())
  const getRow = (id: number): number => {
    const before = rowById[id] ?? 0
    if (before !== 0) return before
    const row = comparison.find(postings.getTerm(id))
    return (rowById[id] = row === undefined ? -1 : row + 1)
  }
  return (at, telling) => {
    const own = rows[at]
    const compared = known[at]
    if (own === undefined || !compared) return undefined
    let matched = -1
    let likeness = LEAST_LIKENESS
    for (const id of telling) {
      const row = getRow(id)
      if (row < 0) continue
      let one = compared.get(id)
      if (one === undefined) compared.set(id, (one = comparison.compare(own, row - 1)))
      if (one <= likeness) continue
      likeness = one
      matched = id
    }
    if (matched < 0) return undefined
    return { matched, likeness }
  }
}
