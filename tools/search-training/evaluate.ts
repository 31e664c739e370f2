import { getTerms } from '../../packages/foldout/src/catalog/search/text/words.ts'
import { createBm25f } from './bm25f.ts'
import type { LabeledSet } from './data.ts'
import { getFieldTerms, type FieldTerms } from './fields.ts'

/** Turns terms into unit vectors. This is what is measured. */
export interface Encoder {
  readonly dimensions: number
  query(terms: readonly string[]): Float32Array | undefined
  tool(fields: FieldTerms): Float32Array | undefined
}

export interface DevSet {
  readonly name: string
  readonly tools: readonly FieldTerms[]
  readonly queries: readonly { terms: readonly string[]; relevant: ReadonlySet<number>; words: Float32Array }[]
}

export interface SetScore {
  readonly set: string
  readonly ndcg10: number
  readonly recall5: number
}

export function prepare(set: LabeledSet, atMost = Infinity): DevSet {
  const tools = set.tools.map(getFieldTerms)
  const engine = createBm25f(tools)
  const indexOf = new Map(set.tools.map((tool, at) => [tool.name, at]))
  const step = Math.max(1, set.queries.length / atMost)
  const queries = set.queries.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step))
  return {
    name: set.name,
    tools,
    queries: queries.map(({ query, relevant }) => {
      const terms = getTerms(query)
      const words = engine.computeScores(terms)
      const top = words.reduce((a, b) => Math.max(a, b), 0)
      if (top > 0) for (let i = 0; i < words.length; i++) words[i]! /= top
      return { terms, relevant: new Set(relevant.map((name) => indexOf.get(name)!)), words }
    }),
  }
}

/** Scores of `words + weight × cosine` for each weight. */
export function evaluate(set: DevSet, encoder: Encoder | undefined, weights: readonly number[]): SetScore[] {
  const dims = encoder?.dimensions ?? 0
  const matrix = new Float32Array(set.tools.length * dims)
  for (const [at, tool] of set.tools.entries()) {
    const vector = encoder?.tool(tool)
    if (vector !== undefined) matrix.set(vector, at * dims)
  }
  const sums = weights.map(() => ({ ndcg10: 0, recall5: 0 }))
  const scores = new Float32Array(set.tools.length)
  const cosines = new Float32Array(set.tools.length)
  for (const query of set.queries) {
    const vector = encoder?.query(query.terms)
    cosines.fill(0)
    if (vector !== undefined) {
      for (let at = 0, start = 0; at < cosines.length; at++, start += dims) {
        let sum = 0
        for (let d = 0; d < dims; d++) sum += vector[d]! * matrix[start + d]!
        cosines[at] = sum
      }
    }
    for (const [w, weight] of weights.entries()) {
      for (let at = 0; at < scores.length; at++) {
        scores[at] = weight === Infinity ? cosines[at]! : query.words[at]! + weight * cosines[at]!
      }
      const top = takeTop(scores, 10)
      let gain = 0
      let ideal = 0
      let found = 0
      for (const [rank, at] of top.entries()) {
        if (!query.relevant.has(at)) continue
        gain += 1 / Math.log2(rank + 2)
        if (rank < 5) found++
      }
      for (let rank = 0; rank < Math.min(10, query.relevant.size); rank++) ideal += 1 / Math.log2(rank + 2)
      sums[w]!.ndcg10 += gain / ideal
      sums[w]!.recall5 += found / query.relevant.size
    }
  }
  return sums.map(({ ndcg10, recall5 }) => ({
    set: set.name,
    ndcg10: ndcg10 / set.queries.length,
    recall5: recall5 / set.queries.length,
  }))
}

function takeTop(scores: Float32Array, count: number): number[] {
  const top: number[] = []
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at]!
    if (score <= 0 || (top.length === count && score <= scores[top[count - 1]!]!)) continue
    let place = top.length
    while (place > 0 && scores[top[place - 1]!]! < score) place--
    top.splice(place, 0, at)
    if (top.length > count) top.pop()
  }
  return top
}
