import { describe, expect, it } from 'vitest'
import { computeScores } from './evaluate.ts'

const rank = (found: readonly string[], grades: Readonly<Record<string, number>>, seemsToFit = true) => ({
  found,
  grades: new Map(Object.entries(grades)),
  seemsToFit,
})

describe('R58 scores of a search', () => {
  it('are 1 if everything is found in the best order', () => {
    const scores = computeScores([rank(['a', 'b'], { a: 2, b: 1 }), rank(['c', 'x'], { c: 1 })])
    expect(scores).toEqual({ ndcg10: 1, mrr: 1, recall1: 1, recall5: 1, recall10: 1, refused: null })
  })

  it('match values computed by hand', () => {
    const { ndcg10, mrr, recall1, recall5 } = computeScores([rank(['x', 'a'], { a: 1, b: 1 })])
    expect(ndcg10).toBeCloseTo(1 / Math.log2(3) / (1 + 1 / Math.log2(3)))
    expect({ mrr, recall1, recall5 }).toEqual({ mrr: 0.5, recall1: 0, recall5: 0.5 })
  })

  it('fall with grades in the wrong order', () => {
    expect(computeScores([rank(['b', 'a'], { a: 3, b: 1 })]).ndcg10).toBeLessThan(0.8)
  })

  it('count queries without an answer separately', () => {
    const scores = computeScores([rank(['a'], {}, true), rank([], {}, false)])
    expect(scores).toMatchObject({ ndcg10: 0, mrr: null, refused: 0.5 })
  })
})
