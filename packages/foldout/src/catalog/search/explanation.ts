import { findActionWord } from './text/actions.ts'
import type { Explanation, Searchable } from './contract.ts'
import { countIn, countsIn, type Postings } from './lexical/postings.ts'
import type { ParsedQuery, QueryTerm } from './text/query.ts'
import type { Score } from './ranking.ts'
import { FIELDS, getFieldTexts } from './text/tool-text.ts'
import { getStem, getWords } from './text/words.ts'

const NAME = FIELDS.indexOf('name')

type ExplainedWord = Explanation['words'][number]

interface FoundWord {
  readonly term: QueryTerm
  /** The stem under which the tool has it. */
  readonly stem: string
  /** Counts of it in all fields. */
  readonly counts: number
  readonly share: number
}

/**
 * Why a tool has its score. What the index knows is taken down at once, since the tool may be gone when somebody asks; the
 * text is made when they do.
 */
export function createExplainer(
  tool: Searchable,
  slot: number,
  score: Score,
  { terms, isAsked }: ParsedQuery,
  postings: Postings,
): () => Explanation {
  const counts = countsIn(slot, isAsked, postings)
  const found = Array.from(score.words, ([id, share]): FoundWord => ({
    term: terms.get(id)!,
    stem: postings.getTerm(id),
    counts: counts.get(id)!,
    share,
  }))
  return () => {
    const surfaces = getSurfaces(tool)
    const words: ExplainedWord[] = found.map(({ term, stem, counts, share }) => ({
      word: term.word,
      matched: surfaces.get(stem) ?? stem,
      fields: FIELDS.filter((_, field) => countIn(field, counts) > 0),
      score: share,
      how: term.how,
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

function explainAction(tool: Searchable, { asked, share }: NonNullable<Score['action']>): ExplainedWord {
  const inName = findActionWord(asked.actions, getWords(getFieldTexts(tool)[NAME]!))
  const matched = inName ?? findActionWord(asked.actions, getWords(tool.description))!
  const field = inName === undefined ? 'description' : 'name'
  return { word: asked.word, matched, fields: [field], score: share, how: 'action' }
}

/** The word of the tool that each stem first stands for. */
function getSurfaces(tool: Searchable): ReadonlyMap<string, string> {
  const surfaces = new Map<string, string>()
  for (const text of getFieldTexts(tool)) {
    for (const word of getWords(text)) if (!surfaces.has(getStem(word))) surfaces.set(getStem(word), word)
  }
  return surfaces
}
