import { describe, expect, it } from 'vitest'
import { createCloserLook } from './closer-look.ts'
import { createPostings } from '../lexical/postings.ts'
import { MAX_LIKENED_WORDS } from '../limits.ts'
import type { QueryWord } from '../lexical/query.ts'
import { TUNING } from '../tuning.ts'
import type { WordComparison } from '../vectors/vectors.ts'

const tuning = { ...TUNING, likeness: 1, nameWords: 0.5 }
/** The similarities of the words in these tests. */
const ALIKE: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  folder: { directory: 0.8, file: 0.5, shelf: 0.1 },
}

/** A shelf of one tool, and what a closer look at it finds for some words. */
function look(words: readonly string[], fields: readonly (readonly string[])[]) {
  const postings = createPostings()
  const slot = postings.add(fields)
  const asked = words.map((word): QueryWord => {
    const id = postings.getId(word)
    return { word, stem: word, weight: 1, ids: id === undefined ? [] : [id] }
  })
  const table = ['folder', 'directory', 'file', 'shelf']
  let comparisons = 0
  const comparison: WordComparison = {
    find: (term) => (table.includes(term) ? table.indexOf(term) : undefined),
    compare(a, b) {
      comparisons++
      return ALIKE[table[a] ?? '']?.[table[b] ?? ''] ?? 0
    },
  }
  const isAsked = new Uint8Array(postings.ids)
  for (const { ids } of asked) for (const id of ids) isAsked[id] = 1
  const seen = createCloserLook({ words: asked, isAsked }, { postings, tuning, comparison })(slot)
  const found = seen.words.map(({ word, matched }) => [word.word, postings.getTerm(matched)])
  return { ...seen, found, comparisons }
}

describe('a closer look at a tool', () => {
  it('R45 takes the most similar word for each word of the request', () => {
    const { found, likeness, score } = look(['folder', 'list'], [['list'], [], ['file', 'directory']])
    expect(found).toEqual([
      ['folder', 'directory'],
      ['list', 'list'],
    ])
    expect(likeness).toBeCloseTo((0.8 + 1) / 2)
    // "list" is also in the name.
    expect(score).toBeCloseTo((0.8 + 1 + 0.5) / 2)
  })

  it('R45 prefers the word itself, wherever it is, to a similar one', () => {
    const { found, likeness } = look(['folder'], [['directory'], [], [], [], [], ['folder']])
    expect(found).toEqual([['folder', 'folder']])
    expect(likeness).toBe(1)
  })

  it('R45 ignores what is hardly alike, words that it cannot compare, and similar words of parameters', () => {
    expect(look(['folder'], [['shelf']])).toMatchObject({ found: [], likeness: 0, score: 0 })
    expect(look(['cupboard'], [['directory']])).toMatchObject({ found: [], likeness: 0, score: 0 })
    expect(look(['folder'], [['shelf'], [], [], [], [], ['directory']]).found).toEqual([])
    expect(look([], [['shelf']])).toMatchObject({ likeness: 0, score: 0 })
  })

  it('R45 looks only at the beginning of a description, and at a limited number of words of a request', () => {
    const filler = Array.from({ length: 12 }, (_, i) => `filler${i}`)
    expect(look(['folder'], [[], [], [...filler, 'directory']]).found).toEqual([])
    const many = Array.from({ length: MAX_LIKENED_WORDS }, (_, i) => `word${i}`)
    expect(look([...many, 'folder'], [['directory']]).comparisons).toBe(0)
  })
})
