import { findActionWord } from '../text/actions.ts'
import type { Explanation, Searchable } from '../contract.ts'
import { countIn, countsIn, type Postings } from '../lexical/postings.ts'
import type { ParsedQuery } from '../lexical/query.ts'
import type { Score } from './ranking.ts'
import { FIELDS, getFieldTexts } from '../text/tool-text.ts'
import { getStem, getWords } from '../text/words.ts'

const NAME = FIELDS.indexOf('name')

type ExplainedWord = Explanation['words'][number]

/** A word of the query, and the tool's word that matched. */
interface FoundWord {
  readonly word: string
  /** The stem that the tool's word has. */
  readonly stem: string
  /** Its packed counts in all fields. */
  readonly counts: number
  readonly share: number
  readonly how: ExplainedWord['how']
}

/**
 * Explains a tool's score. What the index knows is read at once, because the tool may be removed later; the text is made when the
 * returned function is called.
 */
export function createExplainer(
  tool: Searchable,
  slot: number,
  score: Score,
  query: ParsedQuery,
  postings: Postings,
): () => Explanation {
  const found = findWords(slot, score, query, postings)
  return () => {
    const surfaces = getSurfaces(tool)
    const words: ExplainedWord[] = found.map(({ word, stem, counts, share, how }) => ({
      word,
      matched: surfaces.get(stem) ?? stem,
      fields: FIELDS.filter((_, field) => countIn(field, counts) > 0),
      score: share,
      how,
    }))
    if (score.action) words.push(explainAction(tool, score.action))
    return {
      score: words.reduce((sum, { score }) => sum + score, score.meaning + score.named),
      words,
      meaning: score.meaning,
      named: score.named > 0,
    }
  }
}

/** Finds the words that the tool has, and then those that it has only in words of the same meaning. */
function findWords(
  slot: number,
  { words, look }: Score,
  { terms, isAsked }: ParsedQuery,
  postings: Postings,
): readonly FoundWord[] {
  const shares = new Map(words)
  const like = (look?.words ?? []).filter(({ matched, share }) => {
    const own = shares.get(matched)
    if (own === undefined || !terms.has(matched)) return true
    shares.set(matched, own + share)
    return false
  })
  const isRead = isAsked.slice()
  for (const { matched } of like) isRead[matched] = 1
  const counts = countsIn(slot, isRead, postings)
  const describe = (id: number): Pick<FoundWord, 'stem' | 'counts'> => ({
    stem: postings.getTerm(id),
    counts: counts.get(id) ?? 0,
  })
  const found: FoundWord[] = []
  for (const [id, share] of shares) {
    const term = terms.get(id)
    if (term) found.push({ word: term.word, ...describe(id), share, how: term.how })
  }
  for (const { word, matched, share } of like) {
    found.push({ word: word.word, ...describe(matched), share, how: 'meaning' })
  }
  return found
}

/** Names the tool's word for the action that was asked for, or for the one that was not. */
function explainAction(tool: Searchable, { asked, ofTool, share }: NonNullable<Score['action']>): ExplainedWord {
  const actions = share > 0 ? asked.actions : ofTool
  const inName = findActionWord(actions, getWords(getFieldTexts(tool)[NAME] ?? ''))
  const matched = inName ?? findActionWord(actions, getWords(tool.description)) ?? asked.word
  const field = inName === undefined ? 'description' : 'name'
  return { word: asked.word, matched, fields: [field], score: share, how: 'action' }
}

/** Maps each stem to the first word of the tool that has it. */
function getSurfaces(tool: Searchable): ReadonlyMap<string, string> {
  const surfaces = new Map<string, string>()
  for (const text of getFieldTexts(tool)) {
    for (const word of getWords(text)) if (!surfaces.has(getStem(word))) surfaces.set(getStem(word), word)
  }
  return surfaces
}
