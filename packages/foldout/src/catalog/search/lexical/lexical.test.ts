import { describe, expect, it } from 'vitest'
import { runSteps } from '../slices.ts'
import { parseQuery } from './query.ts'
import { getTerms } from '../text/words.ts'
import { computeCoverage } from './lexical.ts'
import { createPostings } from './postings.ts'
import { createSpellings } from './spelling.ts'

describe('coverage', () => {
  it('R45 is at most 1, even if a tool has two words of a request and both as one', () => {
    const postings = createPostings()
    const slot = postings.add([getTerms('key vault'), [], getTerms('keyvault')])
    postings.add([getTerms('lamp')])
    const vocabulary = {
      postings,
      spellings: createSpellings(),
      isWord: () => true,
      spelling: 1,
      argument: 1,
      kind: 0.5,
    }
    expect(computeCoverage(runSteps(parseQuery('key vault', vocabulary)), slot, postings)).toBe(1)
    expect(computeCoverage(runSteps(parseQuery('lamp', vocabulary)), slot, postings)).toBe(0)
  })
})
